// Frequent operations in single precision, on contiguous elements and on few:
// docs/design/pointwise.md.

#include "pointwise/flat.cuh"
#include "pointwise/small.cuh"

#define FLAT(inputs)                                                                         \
  extern "C" __global__ void __launch_bounds__(FLAT_THREADS, FLAT_BLOCKS)                    \
      sconce_pointwise_##inputs##_f32_flat(const __grid_constant__ Launch<inputs> launch) {  \
    run_flat(launch);                                                                        \
  }                                                                                          \
  extern "C" __global__ void __launch_bounds__(SMALL_THREADS)                                \
      sconce_pointwise_##inputs##_f32_small(const __grid_constant__ Launch<inputs> launch) { \
    run_small(launch);                                                                       \
  }

FLAT(1)
FLAT(2)
