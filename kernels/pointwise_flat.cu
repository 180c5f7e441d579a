// Frequent operations on contiguous elements: docs/design/pointwise.md.

#include "pointwise/flat.cuh"

#define FLAT(inputs)                                                                        \
  extern "C" __global__ void __launch_bounds__(FLAT_THREADS, FLAT_BLOCKS)                   \
      sconce_pointwise_##inputs##_f32_flat(const __grid_constant__ Launch<inputs> launch) { \
    run_flat(launch);                                                                       \
  }

FLAT(1)
FLAT(2)
