// Softmax and its logarithm: docs/design/reduction.md.
//
// `held` and `held_more`: lines side by side that fit the registers, `long`: longer ones; each in
// accesses of 16 bytes, or of one element where addresses do not fit (`_1`). `general`: any types
// and strides.

#include "lines/softmax.cuh"

#define KERNEL(name, threads, blocks, body)                     \
  extern "C" __global__ void __launch_bounds__(threads, blocks) \
      sconce_softmax_##name(const __grid_constant__ Lines l) {  \
    body;                                                       \
  }

// So many blocks fit a multiprocessor that some load while others calculate.
#define HELD(name, T, EACH, blocks) \
  KERNEL(name, HELD_THREADS, blocks, (softmax_held<T, 16 / sizeof(T), EACH, HELD_THREADS>(l)))

#define KERNELS(name, T)                                                        \
  KERNEL(held_##name##_1, SOFTMAX_THREADS, 1,                                   \
         (softmax_held<T, 1, SOFTMAX_SINGLES, SOFTMAX_THREADS>(l)))             \
  KERNEL(long_##name, SOFTMAX_THREADS, 1, (softmax_long<T, 16 / sizeof(T)>(l))) \
  KERNEL(long_##name##_1, SOFTMAX_THREADS, 1, (softmax_long<T, 1>(l)))

// How many elements a thread holds is in `crates/compute/src/reduction/line_choice.rs` too.
HELD(held_f32, float, 16, 3)
HELD(held_more_f32, float, 32, 2)
HELD(held_f16, Half, 32, 2)
HELD(held_bf16, Brain, 32, 2)
HELD(held_more_f16, Half, 64, 1)
HELD(held_more_bf16, Brain, 64, 1)
KERNELS(f32, float)
KERNELS(f16, Half)
KERNELS(bf16, Brain)
KERNEL(general_f32, GENERAL_THREADS, 1, (softmax_general<float>(l)))
KERNEL(general_f64, GENERAL_THREADS, 1, (softmax_general<double>(l)))
