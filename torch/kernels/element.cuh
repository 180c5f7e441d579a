// Elements of tensors in arithmetic: 16-bit types become float. Checks that end the context.
#pragma once

#include "reduce/machine.cuh"

// What is calculated in: float for the 16-bit types, else the type itself.
template <typename T>
using Wide = decltype(wide(T()));

template <typename T>
struct Narrow {
  SCONCE_INLINE T of(T value) { return value; }
};

template <>
struct Narrow<Half> {
  SCONCE_INLINE Half of(float value) { return to_half(value); }
};

template <>
struct Narrow<Brain> {
  SCONCE_INLINE Brain of(float value) { return to_brain(value); }
};

// Rounds to nearest, ties to even.
template <typename T>
SCONCE_INLINE T narrow(Wide<T> value) {
  return Narrow<T>::of(value);
}

// The driver's: prints the text and ends the context with CUDA_ERROR_ASSERT, as in torch.
extern "C" __device__ void __assertfail(const char* assertion, const char* file, u32 line,
                                        const char* function, size_t char_bytes);
