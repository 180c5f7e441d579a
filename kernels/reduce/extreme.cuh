// The largest element, or its index. For the smallest the bits of every element are turned, so that
// the order is the other way round, and turned back at the end: the sign of floats, all bits of
// integers.
#pragma once

#include "launch.cuh"

__device__ __forceinline__ float turned(float value, u64 mask) {
  return __uint_as_float(__float_as_uint(value) ^ (u32)mask);
}

__device__ __forceinline__ double turned(double value, u64 mask) {
  return __longlong_as_double(__double_as_longlong(value) ^ (i64)mask);
}

__device__ __forceinline__ i32 turned(i32 value, u64 mask) { return value ^ (i32)mask; }

__device__ __forceinline__ i64 turned(i64 value, u64 mask) { return value ^ (i64)mask; }

template <typename A>
struct Least;
template <>
struct Least<float> {
  static __device__ __forceinline__ float value() { return __int_as_float(0xff800000); }
};
template <>
struct Least<double> {
  static __device__ __forceinline__ double value() {
    return __longlong_as_double(0xfff0000000000000);
  }
};
template <>
struct Least<i32> {
  static __device__ __forceinline__ i32 value() { return (i32)0x80000000; }
};
template <>
struct Least<i64> {
  static __device__ __forceinline__ i64 value() { return (i64)0x8000000000000000; }
};

// The type that elements are compared in.
template <typename T>
struct Compared {
  typedef i32 Type;
};
template <>
struct Compared<float> {
  typedef float Type;
};
template <>
struct Compared<Half> {
  typedef float Type;
};
template <>
struct Compared<Brain> {
  typedef float Type;
};
template <>
struct Compared<double> {
  typedef double Type;
};
template <>
struct Compared<i64> {
  typedef i64 Type;
};

// Whether a value that comes later is preferred; a NaN is to any number, nothing to a NaN.
template <typename A>
__device__ __forceinline__ bool beats(A value, A best) {
  return !(value <= best) && best == best;
}

__device__ __forceinline__ Half narrow(float value, Half) { return to_half(value); }

__device__ __forceinline__ Brain narrow(float value, Brain) { return to_brain(value); }

template <typename A, typename T>
__device__ __forceinline__ T narrow(A value, T) {
  return (T)value;
}

template <typename T>
struct Extreme {
  typedef typename Compared<T>::Type Accumulator;
  const u64 mask;

  __device__ __forceinline__ explicit Extreme(const Reduction& r) : mask(r.mask) {}

  __device__ __forceinline__ Accumulator none() const { return Least<Accumulator>::value(); }

  __device__ __forceinline__ void take(Accumulator& best, T value, u64) const {
    join(best, turned((Accumulator)wide(value), mask));
  }

  template <u32 COUNT>
  __device__ __forceinline__ void take_group(Accumulator& best, const Group<T, COUNT>& group,
                                             u64) const {
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) take(best, group.of[i], 0);
  }

  __device__ __forceinline__ void join(Accumulator& best, Accumulator other) const {
    if (beats(other, best)) best = other;
  }

  __device__ __forceinline__ void write(const Reduction& r, i64 at, Accumulator best, u64) const {
    ((T*)r.output)[at] = narrow(turned(best, mask), T());
  }
};

template <typename A>
struct Indexed {
  A value;
  u64 index;
};

// A value and its index for a second launch: as a double or in 64 bits.
struct alignas(16) IndexPair {
  u64 value, index;
};

__device__ __forceinline__ u64 pair_bits(double value) { return __double_as_longlong(value); }

__device__ __forceinline__ u64 pair_bits(i64 value) { return value; }

__device__ __forceinline__ u64 pair_bits(float value) { return pair_bits((double)value); }

__device__ __forceinline__ u64 pair_bits(i32 value) { return pair_bits((i64)value); }

// Takes the other one if it is preferred, or equal and earlier.
template <typename A>
__device__ __forceinline__ void join_indexed(Indexed<A>& best, const Indexed<A>& other) {
  const bool equal =
      other.value == best.value || (other.value != other.value && best.value != best.value);
  if (equal ? other.index < best.index : beats(other.value, best.value)) best = other;
}

// Where all elements are the least that there is, none is noted: the first of them is the result.
template <typename A>
__device__ __forceinline__ void write_index(const Reduction& r, i64 at, const Indexed<A>& best) {
  if (r.flags & PAIRS)
    ((IndexPair*)r.output)[at] = IndexPair{pair_bits(best.value), best.index};
  else
    ((i64*)r.output)[at] = best.index == NO_INDEX ? 0 : (i64)best.index;
}

template <typename T>
struct ExtremeIndex {
  typedef typename Compared<T>::Type Value;
  typedef Indexed<Value> Accumulator;
  const u64 mask;

  __device__ __forceinline__ explicit ExtremeIndex(const Reduction& r) : mask(r.mask) {}

  __device__ __forceinline__ Accumulator none() const {
    return Accumulator{Least<Value>::value(), NO_INDEX};
  }

  __device__ __forceinline__ void take(Accumulator& best, T element, u64 index) const {
    const Value value = turned((Value)wide(element), mask);
    // Nothing stands for elements that do not beat the least value.
    if (beats(value, Least<Value>::value())) join(best, Accumulator{value, index});
  }

  template <u32 COUNT>
  __device__ __forceinline__ void take_group(Accumulator& best, const Group<T, COUNT>& group,
                                             u64 index) const {
    Value value = Least<Value>::value();
    u32 at = 0;
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) {
      const Value here = turned((Value)wide(group.of[i]), mask);
      if (beats(here, value)) value = here, at = i;
    }
    // Groups are taken in the order of their indices.
    if (beats(value, best.value)) best = Accumulator{value, index + at};
  }

  __device__ __forceinline__ void join(Accumulator& best, const Accumulator& other) const {
    join_indexed(best, other);
  }

  __device__ __forceinline__ void write(const Reduction& r, i64 at, Accumulator best, u64) const {
    write_index(r, at, best);
  }
};
