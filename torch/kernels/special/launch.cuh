// Kernels of special functions: elements of any floating-point type, calculated in doubles and
// rounded once.
#pragma once

#include "any_element.cuh"
#include "special/functions.cuh"

// These are in `operations/special` too: a block's threads, and the elements of a thread.
constexpr u32 THREADS = 256;
constexpr u32 EACH = 4;

// An operand's step is 0 if it has one element. Without a second operand `number` is its value.
#define SCONCE_SPECIAL_KERNEL(name, value)                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_special_##name(      \
      const void* first, const i64 first_step, const void* second, const i64 second_step, \
      const double number, void* result, const i64 count, const u32 type) {               \
    const i64 begin = (i64)blockIdx.x * THREADS * EACH + threadIdx.x;                     \
    _Pragma("unroll 1") for (u32 e = 0; e < EACH; ++e) {                                  \
      const i64 at = begin + (i64)e * THREADS;                                            \
      if (at >= count) return;                                                            \
      const double x = element_at(first, at * first_step, type);                          \
      const double y = second ? element_at(second, at * second_step, type) : number;      \
      set_element(result, at, type, special_##name(x, y, type == F64));                   \
    }                                                                                     \
  }
