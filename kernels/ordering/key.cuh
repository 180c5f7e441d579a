// The order of values, as `src/element/order.rs` defines it: the bits of an element as an unsigned
// key that grows with the value.
#pragma once

#include "ordering/sides.cuh"

template <typename T>
struct IntegerOrder {
  typedef T Bits;
  static constexpr bool IS_INVERTIBLE = true;
  T mask;

  __device__ __forceinline__ IntegerOrder(u64 mask, u64) : mask((T)mask) {}
  __device__ __forceinline__ T key(T bits) const { return bits ^ mask; }
  __device__ __forceinline__ T bits(T key) const { return key ^ mask; }
};

// All NaNs have one key, and so have both zeros.
template <typename T>
struct FloatOrder {
  typedef T Bits;
  static constexpr bool IS_INVERTIBLE = false;
  T mask, infinity;

  __device__ __forceinline__ FloatOrder(u64 mask, u64 infinity)
      : mask((T)mask), infinity((T)infinity) {}
  __device__ __forceinline__ T key(T bits) const {
    constexpr T ALL = (T)~(T)0, SIGN = (T)((T)1 << (8 * sizeof(T) - 1));
    const T size = bits & (T)~SIGN;
    T key = bits & SIGN ? (T)(bits ^ ALL) : (T)(bits | SIGN);
    if (size == 0) key = SIGN;
    if (size > infinity) key = ALL;
    return key ^ mask;
  }
};
