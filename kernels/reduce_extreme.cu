// The largest or smallest elements: docs/design/reduction.md.
//
// `rows`: elements of a result side by side; `narrow`: results side by side.

#include "reduce/columns.cuh"
#include "reduce/extreme.cuh"
#include "reduce/rows.cuh"

// So many blocks fit a multiprocessor that enough accesses are under way.
#define KERNEL(shape, name, threads, blocks, body)                                  \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                     \
      sconce_reduce_extreme_##shape##_##name(const __grid_constant__ Reduction r) { \
    body;                                                                           \
  }

#define ROWS(name, T) KERNEL(rows, name, MOST_THREADS, 1, (reduce_rows<T, Extreme<T>, 4>(r)))
#define NARROW(name, T) \
  KERNEL(narrow, name, COLUMN_THREADS, 4, (reduce_columns<T, Extreme<T>, 1>(r)))

ROWS(f32, float)
NARROW(f32, float)
ROWS(f16, Half)
NARROW(f16, Half)
ROWS(bf16, Brain)
NARROW(bf16, Brain)
ROWS(f64, double)
NARROW(f64, double)
ROWS(i64, i64)
NARROW(i64, i64)
