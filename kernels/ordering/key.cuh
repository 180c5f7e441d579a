// The order of values, as `crates/base/src/element/order.rs` defines it: the bits of an element as
// an unsigned key that grows with the value.
#pragma once

#include "ordering/sides.cuh"

template <typename T>
struct IntegerOrder {
  typedef T Bits;
  T mask;

  __device__ __forceinline__ IntegerOrder(u64 mask, u64) : mask((T)mask) {}
  __device__ __forceinline__ T key(T bits) const { return bits ^ mask; }
};

// All NaNs have one key, and so have both zeros.
template <typename T>
struct FloatOrder {
  typedef T Bits;
  T mask, infinity;

  __device__ __forceinline__ FloatOrder(u64 mask, u64 infinity)
      : mask((T)mask), infinity((T)infinity) {}
  __device__ __forceinline__ T key(T bits) const {
    constexpr T ALL = (T) ~(T)0, SIGN = (T)((T)1 << (8 * sizeof(T) - 1));
    const T size = bits & (T)~SIGN;
    T key = bits & SIGN ? (T)(bits ^ ALL) : (T)(bits | SIGN);
    if (size == 0) key = SIGN;
    if (size > infinity) key = ALL;
    return key ^ mask;
  }
};

// Either of them, for keys that are calculated once or are narrow: an infinity of 0 stands for
// integers.
template <typename T>
struct AnyOrder {
  typedef T Bits;
  IntegerOrder<T> integer;
  FloatOrder<T> real;

  __device__ __forceinline__ AnyOrder(u64 mask, u64 infinity)
      : integer(mask, infinity), real(mask, infinity) {}
  __device__ __forceinline__ bool is_real() const { return real.infinity != 0; }
  __device__ __forceinline__ T key(T bits) const {
    return is_real() ? real.key(bits) : integer.key(bits);
  }
  // The bits of an element, given its key and where it was: the keys of floats do not tell.
  __device__ __forceinline__ T bits(T key, const char* element) const {
    return is_real() ? *(const T*)element : (T)(key ^ integer.mask);
  }
};
