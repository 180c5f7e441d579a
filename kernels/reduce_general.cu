// Reductions of any types and strides, and the second launch of indices: docs/design/reduction.md.

#include "reduce/general.cuh"

#define KERNEL(name, threads, body)                                       \
  extern "C" __global__ void __launch_bounds__(threads)                   \
      sconce_reduce_general_##name(const __grid_constant__ Reduction r) { \
    body;                                                                 \
  }

KERNEL(f32, GENERAL_THREADS, (reduce_general<float, true, false>(r)))
KERNEL(f64, GENERAL_THREADS, (reduce_general<double, true, false>(r)))
KERNEL(i64, GENERAL_THREADS, (reduce_general<i64, true, true>(r)))
KERNEL(c64, GENERAL_THREADS, (reduce_general<Complex32, false, false>(r)))
KERNEL(c128, GENERAL_THREADS, (reduce_general<Complex64, false, false>(r)))
KERNEL(pairs_f64, GENERAL_THREADS, (reduce_pairs<double>(r)))
KERNEL(pairs_i64, GENERAL_THREADS, (reduce_pairs<i64>(r)))
