// How many bytes are not zero, and so whether all or any are: docs/design/reduction.md.
//
// `rows`: elements of a result side by side; `narrow`: results side by side.

#include "reduce/columns.cuh"
#include "reduce/count.cuh"
#include "reduce/rows.cuh"

// So many blocks fit a multiprocessor that enough accesses are under way.
#define KERNEL(shape, name, threads, blocks, body)                                \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                   \
      sconce_reduce_count_##shape##_##name(const __grid_constant__ Reduction r) { \
    body;                                                                         \
  }

#define ROWS(name, T) KERNEL(rows, name, MOST_THREADS, 1, (reduce_rows<T, Count<T>, 4>(r)))
#define NARROW(name, T) KERNEL(narrow, name, COLUMN_THREADS, 4, (reduce_columns<T, Count<T>, 1>(r)))

ROWS(u8, u8)
NARROW(u8, u8)
