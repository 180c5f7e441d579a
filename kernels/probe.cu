// Small kernels for tests, benchmarks and the tour: one that takes a given time, and two whose
// results are easy to check. The simulator has the same kernels under the same names.

#include "types.cuh"

static __device__ u64 global_time_ns() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Runs for `duration_ns` in one thread. The timer may tick as rarely as every microsecond, so the
// time is met to that precision.
extern "C" __global__ void sconce_sleep_ns(u64 duration_ns) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const u64 start = global_time_ns();
  for (;;) {
    const u64 elapsed = global_time_ns() - start;
    if (elapsed >= duration_ns) return;
    const u64 left = duration_ns - elapsed;
    __nanosleep(left < 1000 ? (unsigned int)left : 1000);
  }
}

// Writes `value` to each of the `n` words at `p`.
extern "C" __global__ void sconce_fill_u32(unsigned int* p, u64 n, unsigned int value) {
  const u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) p[i] = value;
}

// Adds `value`, modulo 2^32, to each of the `n` words at `p`.
extern "C" __global__ void sconce_add_u32(unsigned int* p, u64 n, unsigned int value) {
  const u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) p[i] += value;
}
