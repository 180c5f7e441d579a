// Sums and means. An operation has an accumulator, takes groups of elements, joins accumulators and
// writes a result.
#pragma once

#include "launch.cuh"

// Sums of integers.
template <typename T>
struct Sum {
  typedef i64 Accumulator;

  __device__ __forceinline__ explicit Sum(const Reduction&) {}

  __device__ __forceinline__ Accumulator none() const { return 0; }

  __device__ __forceinline__ void take(Accumulator& sum, T value, u64) const { sum += (i64)value; }

  template <u32 COUNT>
  __device__ __forceinline__ void take_group(Accumulator& sum, const Group<T, COUNT>& group,
                                             u64) const {
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) sum += (i64)group.of[i];
  }

  __device__ __forceinline__ void join(Accumulator& sum, Accumulator other) const { sum += other; }

  __device__ __forceinline__ void write(const Reduction& r, i64 at, Accumulator sum, u64) const {
    ((i64*)r.output)[at] = sum;
  }
};

template <typename T, typename A>
struct FloatSum {
  typedef A Accumulator;

  __device__ __forceinline__ explicit FloatSum(const Reduction&) {}

  __device__ __forceinline__ Accumulator none() const { return 0; }

  __device__ __forceinline__ void take(Accumulator& sum, T value, u64) const { sum += wide(value); }

  template <u32 COUNT>
  __device__ __forceinline__ void take_group(Accumulator& sum, const Group<T, COUNT>& group,
                                             u64) const {
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) sum += wide(group.of[i]);
  }

  __device__ __forceinline__ void join(Accumulator& sum, Accumulator other) const { sum += other; }

  __device__ __forceinline__ void write(const Reduction& r, i64 at, Accumulator sum, u64) const {
    if (r.op == MEAN) sum *= (A)r.factor;
    if (sizeof(A) == 8)
      ((double*)r.output)[at] = sum;
    else
      write_float((void*)r.output, r.output_type, at, (float)sum);
  }
};

template <>
struct Sum<float> : FloatSum<float, float> {
  using FloatSum::FloatSum;
};
template <>
struct Sum<Half> : FloatSum<Half, float> {
  using FloatSum::FloatSum;
};
template <>
struct Sum<Brain> : FloatSum<Brain, float> {
  using FloatSum::FloatSum;
};
template <>
struct Sum<double> : FloatSum<double, double> {
  using FloatSum::FloatSum;
};

template <typename C, typename F>
struct ComplexSum {
  typedef C Accumulator;

  __device__ __forceinline__ explicit ComplexSum(const Reduction&) {}

  __device__ __forceinline__ Accumulator none() const { return Accumulator{0, 0}; }

  __device__ __forceinline__ void take(Accumulator& sum, C value, u64) const {
    sum.re += value.re, sum.im += value.im;
  }

  template <u32 COUNT>
  __device__ __forceinline__ void take_group(Accumulator& sum, const Group<C, COUNT>& group,
                                             u64) const {
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) take(sum, group.of[i], 0);
  }

  __device__ __forceinline__ void join(Accumulator& sum, Accumulator other) const {
    take(sum, other, 0);
  }

  __device__ __forceinline__ void write(const Reduction& r, i64 at, Accumulator sum, u64) const {
    if (r.op == MEAN) sum.re *= (F)r.factor, sum.im *= (F)r.factor;
    ((C*)r.output)[at] = sum;
  }
};

template <>
struct Sum<Complex32> : ComplexSum<Complex32, float> {
  using ComplexSum::ComplexSum;
};
template <>
struct Sum<Complex64> : ComplexSum<Complex64, double> {
  using ComplexSum::ComplexSum;
};
