// Sums and means: docs/design/reduction.md.
//
// `rows`: elements of a result side by side; `short`: few short rows; `columns`: results side by
// side, in accesses of several elements; `narrow`: of one element.

#include "reduce/columns.cuh"
#include "reduce/rows.cuh"
#include "reduce/short.cuh"
#include "reduce/sum.cuh"

// So many blocks fit a multiprocessor that enough accesses are under way.
#define KERNEL(shape, name, threads, blocks, body)                              \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                 \
      sconce_reduce_sum_##shape##_##name(const __grid_constant__ Reduction r) { \
    body;                                                                       \
  }

#define ROWS(name, T) KERNEL(rows, name, MOST_THREADS, 1, (reduce_rows<T, Sum<T>, 8>(r)))
#define SHORT(name, T) KERNEL(short, name, SHORT_THREADS, 1, (reduce_short<T, Sum<T>>(r)))
#define COLUMNS(name, T, WIDTH) \
  KERNEL(columns, name, COLUMN_THREADS, 3, (reduce_columns<T, Sum<T>, WIDTH>(r)))
#define NARROW(name, T) KERNEL(narrow, name, COLUMN_THREADS, 4, (reduce_columns<T, Sum<T>, 1>(r)))

ROWS(f32, float)
SHORT(f32, float)
COLUMNS(f32, float, 4)
NARROW(f32, float)
ROWS(f16, Half)
SHORT(f16, Half)
COLUMNS(f16, Half, 8)
NARROW(f16, Half)
ROWS(bf16, Brain)
SHORT(bf16, Brain)
COLUMNS(bf16, Brain, 8)
NARROW(bf16, Brain)
ROWS(f64, double)
NARROW(f64, double)
ROWS(i64, i64)
NARROW(i64, i64)
