// A GPU's block of threads on a CPU, for kernels that exchange values: every thread is a context of
// its own, and runs until it waits for others. Which one runs next is drawn, so that a kernel that
// lacks a barrier reads what is not there. Included before a kernel's source.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define __device__
#define __global__
#define __grid_constant__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __noinline__
#define __constant__
#define __align__(bytes)

struct Extent {
  unsigned x, y, z;
};
extern Extent threadIdx, blockIdx;

// Waits for all threads of the block.
void __syncthreads();

// Waits for all threads of the warp. Each passes what it brings; the last one to arrive calls `all`
// with what thread 0 to 31 brought.
void together(void* brought, void (*all)(void* const* brought));

// The block's dynamic shared memory, from an address of 32 bits on. Ends the program if the block
// has less.
unsigned char* in_shared(unsigned address, unsigned bytes);

// A copy to shared memory that this thread has begun; it is made while the thread waits for it.
void begin_copy(unsigned to, const void* from, unsigned bytes, bool is_there);
void wait_for_copies();

// Stores to shared memory. No other thread may begin a copy to that place until all threads of the
// block have met: the copy could be made before or after.
void store_in_shared(unsigned to, const void* from, unsigned bytes);

// Ends the program with a text.
[[noreturn]] void fail(const char* what);

// Runs the blocks of a launch, one after the other, each with shared memory that holds NaN.
void run_blocks(unsigned blocks, unsigned threads, unsigned shared_bytes, unsigned seed,
                void (*kernel)(const void*), const void* argument);

// The same for the four warps of a warp group.
void group_together(void* brought, void (*all)(void* const* brought));

// Barriers in shared memory, as `group_machine.cuh` describes them.
void make_barrier(unsigned barrier, unsigned count);
void arrive(unsigned barrier);
// Arrives once the copies that this thread has begun are made: some time later.
void arrive_behind_copies(unsigned barrier);
void wait_until_phase_ends(unsigned barrier, unsigned parity);

// Barriers with numbers, for some threads of the block.
void meet(unsigned number, unsigned count);
void pass(unsigned number, unsigned count);

inline void __syncwarp() { together(nullptr, nullptr); }

template <typename To, typename From>
static inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline double __longlong_as_double(long long bits) { return same_bits<double>(bits); }
inline float __int_as_float(unsigned bits) { return same_bits<float>(bits); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
// In place of kernels/random/machine.cuh, as far as Philox needs it.
#define SCONCE_RANDOM_MACHINE
inline unsigned high_product(unsigned a, unsigned b) { return __umulhi(a, b); }
inline int __clz(unsigned value) { return value == 0 ? 32 : __builtin_clz(value); }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }

inline float __shfl_xor_sync(unsigned, float value, unsigned mask) {
  struct Brought {
    float value;
    unsigned mask;
    float result;
  } mine = {value, mask, 0};
  together(&mine, [](void* const* brought) {
    for (unsigned lane = 0; lane < 32; lane++) {
      Brought& of = *(Brought*)brought[lane];
      of.result = ((Brought*)brought[lane ^ of.mask])->value;
    }
  });
  return mine.result;
}
