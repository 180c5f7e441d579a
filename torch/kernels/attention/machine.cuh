// Instructions of a GPU that attention uses. Those of tensor cores and of copies to shared memory
// need compute capability 8.0. Addresses of shared memory have 32 bits here.
#pragma once

#include "../element.cuh"

__device__ __forceinline__ float exponential_of_two(float value) {
  float result;
  asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

// A value of another thread of the warp, and whether something holds in any thread of it.
__device__ __forceinline__ float from_lane(float value, u32 mask) {
  return __shfl_xor_sync(0xffffffff, value, mask);
}

__device__ __forceinline__ bool in_any_lane(bool holds) { return __any_sync(0xffffffff, holds); }

__device__ __forceinline__ u32 address_in_shared(const void* memory) {
  return (u32)__cvta_generic_to_shared(memory);
}

// Begins to copy 16 bytes to shared memory, or zeros if they are not there.
__device__ __forceinline__ void copy_chunk(u32 to, const void* from, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(is_there ? 16 : 0)
               : "memory");
}

// Waits for the copies that this thread began.
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ __forceinline__ void store_word(u32 to, u32 value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

__device__ __forceinline__ Group<u32, 4> load_chunk(u32 from) {
  Group<u32, 4> chunk;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(chunk.of[0]), "=r"(chunk.of[1]), "=r"(chunk.of[2]), "=r"(chunk.of[3])
               : "r"(from)
               : "memory");
  return chunk;
}

// Four matrices of 8 x 8 elements of 16 bits. Threads 8 i to 8 i + 7 pass the addresses of the rows
// of matrix i; thread l gets of each matrix the elements 2 (l % 4) and the next of row l / 4.
__device__ __forceinline__ void load_matrices(u32 from, u32 (&of)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(of[0]), "=r"(of[1]), "=r"(of[2]), "=r"(of[3])
               : "r"(from)
               : "memory");
}

// The same with rows and columns exchanged.
__device__ __forceinline__ void load_transposed(u32 from, u32 (&of)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(of[0]), "=r"(of[1]), "=r"(of[2]), "=r"(of[3])
               : "r"(from)
               : "memory");
}

// Elements of 16 bits in pairs, and products of their matrices with sums in singles.
template <typename T>
struct Fragments;

template <>
struct Fragments<Half> {
  SCONCE_INLINE u32 pair(float low, float high) {
    u32 result;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
  }

  // Adds the product of 16 x 16 and 16 x 8 elements.
  SCONCE_INLINE void multiply(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

template <>
struct Fragments<Brain> {
  SCONCE_INLINE u32 pair(float low, float high) {
    u32 result;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
    return result;
  }

  SCONCE_INLINE void multiply(float (&sums)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
