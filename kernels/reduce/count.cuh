// How many elements differ from zero, and so whether all or any do. Elements are words; the signs
// of floats, whose zeros may have one, are not in the mask.
#pragma once

#include "launch.cuh"

template <typename T>
struct Count {
  typedef i64 Accumulator;
  const u64 mask;

  __device__ __forceinline__ explicit Count(const Reduction& r) : mask(r.mask) {}

  __device__ __forceinline__ bool is_counted(T value) const { return (value & (T)mask) != 0; }

  __device__ __forceinline__ Accumulator none() const { return 0; }

  __device__ __forceinline__ void take(Accumulator& count, T value, u64) const {
    count += is_counted(value);
  }

  template <u32 COUNT>
  __device__ __forceinline__ void take_group(Accumulator& count, const Group<T, COUNT>& group,
                                             u64) const {
    u32 here = 0;
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) here += is_counted(group.of[i]);
    count += here;
  }

  __device__ __forceinline__ void join(Accumulator& count, Accumulator other) const {
    count += other;
  }

  __device__ __forceinline__ void write(const Reduction& r, i64 at, Accumulator count,
                                        u64 elements) const {
    if (r.op == ALL)
      ((u8*)r.output)[at] = (u64)count == elements;
    else if (r.op == ANY)
      ((u8*)r.output)[at] = count != 0;
    else
      ((i64*)r.output)[at] = count;
  }
};
