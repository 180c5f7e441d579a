// Instructions of compute capability 9.0 that attention of warp groups uses: products of a group of
// four warps, barriers in shared memory, and registers that one group leaves to others.
#pragma once

#include "attention/machine.cuh"

// A barrier of 8 bytes in shared memory. A phase of it ends when `count` threads have arrived.
__device__ __forceinline__ void make_barrier(u32 barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives once all copies that this thread has begun are made.
__device__ __forceinline__ void arrive_behind_copies(u32 barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// Waits until the phase with this parity, 0 of the first one, has ended.
__device__ __forceinline__ void wait_for_phase(u32 barrier, u32 parity) {
  u32 has_ended;
  do {
    asm volatile(
        "{ .reg .pred ended; mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2; "
        "selp.u32 %0, 1, 0, ended; }"
        : "=r"(has_ended)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (has_ended == 0);
}

// Products read shared memory by another way than threads write it: this is between a wait for
// what was written and the products that read it.
__device__ __forceinline__ void let_products_read() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Barriers with numbers from 1 to 15, for some of the block's threads. A phase ends when `threads`
// have come; those that only pass do not wait for it.
__device__ __forceinline__ void meet(u32 number, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

__device__ __forceinline__ void pass(u32 number, u32 threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// How many registers a thread of this group has from here on: fewer than the kernel was launched
// with, or more, once others have fewer.
template <u32 COUNT>
__device__ __forceinline__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <u32 COUNT>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// Describes rows of 64 elements in shared memory, at an address that is a multiple of 1,024 plus
// 32 bytes for each step of 16 columns. The chunks of 16 bytes of row r are at their number xor
// r % 8. 8 rows follow 8 rows.
__device__ __forceinline__ u64 rows_at(u32 address) {
  return (u64)(address >> 4) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}

// The same memory with rows and columns exchanged: 16 rows from an address on, which is a multiple
// of 1,024. 64 more columns are `panel` bytes behind.
__device__ __forceinline__ u64 columns_at(u32 address, u32 panel) {
  return (u64)(address >> 4) | (u64)(panel >> 4) << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}

// Products begin behind all writes of the group's registers in front of this.
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits for all groups of products except the last ones. `sums` are those of a product that has
// ended then: nothing reads or writes them before.
template <u32 EXCEPT, u32 COUNT>
__device__ __forceinline__ void wait_for_products(float (&sums)[COUNT]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(EXCEPT) : "memory");
#pragma unroll
  for (u32 i = 0; i < COUNT; i++) asm volatile("" : "+f"(sums[i])::"memory");
}

#define SUMS_8(s, i)                                                                          \
  "+f"(s[i]), "+f"(s[i + 1]), "+f"(s[i + 2]), "+f"(s[i + 3]), "+f"(s[i + 4]), "+f"(s[i + 5]), \
      "+f"(s[i + 6]), "+f"(s[i + 7])
#define SUMS_32(s, i) SUMS_8(s, i), SUMS_8(s, i + 8), SUMS_8(s, i + 16), SUMS_8(s, i + 24)
#define NAMES_32                                                                     \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, " \
  "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_64                                                             \
  NAMES_32                                                                   \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
  "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// Products of 64 x 16 elements with 16 columns of others, with sums in singles. Thread l of warp w
// has of the result the rows 16 w + l / 4 and 8 more, and in each 8 columns 2 (l % 4) and the next.
// They run until they are waited for: until then nobody writes what they read.
template <typename T>
struct GroupProducts;

#define GROUP_PRODUCTS(T, type)                                                               \
  template <>                                                                                 \
  struct GroupProducts<T> {                                                                   \
    /* Rows of a and of b; sums are added to if `adds` is 1, else replaced. */                \
    SCONCE_INLINE void multiply(float (&sums)[64], u64 a, u64 b, u32 adds) {                  \
      asm volatile(                                                                           \
          "{ .reg .pred adds; setp.ne.b32 adds, %66, 0; "                                     \
          "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" NAMES_64          \
          "}, %64, %65, adds, 1, 1, 0, 0; }"                                                  \
          : SUMS_32(sums, 0), SUMS_32(sums, 32)                                               \
          : "l"(a), "l"(b), "r"(adds)                                                         \
          : "memory");                                                                        \
    }                                                                                         \
                                                                                              \
    /* Adds products of a, in registers as `Fragments` has it, and columns of b. */           \
    SCONCE_INLINE void multiply(float (&sums)[64], const u32 (&a)[4], u64 b) {                \
      asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {" NAMES_64 \
                   "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"                                \
                   : SUMS_32(sums, 0), SUMS_32(sums, 32)                                      \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                       \
                   : "memory");                                                               \
    }                                                                                         \
                                                                                              \
    SCONCE_INLINE void multiply(float (&sums)[32], const u32 (&a)[4], u64 b) {                \
      asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {" NAMES_32  \
                   "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"                                \
                   : SUMS_32(sums, 0)                                                         \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                       \
                   : "memory");                                                               \
    }                                                                                         \
  };

GROUP_PRODUCTS(Half, "f16")
GROUP_PRODUCTS(Brain, "bf16")
