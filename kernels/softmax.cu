// Softmax and its logarithm: docs/design/reduction.md.
//
// `held`: lines side by side that fit the registers, `long`: longer ones; each in accesses of 16
// bytes, or of one element where addresses do not fit (`_1`). `general`: any types and strides.

#include "lines/softmax.cuh"

#define KERNEL(name, threads, body)                            \
  extern "C" __global__ void __launch_bounds__(threads)        \
      sconce_softmax_##name(const __grid_constant__ Lines l) { \
    body;                                                      \
  }

#define KERNELS(name, T)                                                     \
  KERNEL(held_##name, SOFTMAX_THREADS, (softmax_held<T, 16 / sizeof(T)>(l))) \
  KERNEL(held_##name##_1, SOFTMAX_THREADS, (softmax_held<T, 1>(l)))          \
  KERNEL(long_##name, SOFTMAX_THREADS, (softmax_long<T, 16 / sizeof(T)>(l))) \
  KERNEL(long_##name##_1, SOFTMAX_THREADS, (softmax_long<T, 1>(l)))

KERNELS(f32, float)
KERNELS(f16, Half)
KERNELS(bf16, Brain)
KERNEL(general_f32, GENERAL_THREADS, (softmax_general<float>(l)))
KERNEL(general_f64, GENERAL_THREADS, (softmax_general<double>(l)))
