// Running sums and products: docs/design/reduction.md.
//
// `rows`: sums of lines side by side, in accesses of 16 bytes, or of one element where addresses do
// not fit (`_1`); `chain`: sums of few long lines side by side, in one pass; `columns`: sums of
// lines of any strides; `general`: of any types, also products.

#include "lines/chain.cuh"

#define KERNEL(name, body)                                   \
  extern "C" __global__ void __launch_bounds__(SCAN_THREADS) \
      sconce_scan_##name(const __grid_constant__ Lines l) {  \
    body;                                                    \
  }

#define KERNELS(name, T)                                                             \
  KERNEL(rows_##name, (scan_rows < T, 16 / sizeof(T), sizeof(T) == 2 ? 2 : 4 > (l))) \
  KERNEL(rows_##name##_1, (scan_rows<T, 1, 4>(l)))                                   \
  KERNEL(columns_##name, (scan_columns<TypedElements<T>>(l)))

// So many blocks fit a multiprocessor that enough accesses are under way.
#define CHAIN(name, T, SPANS, BLOCKS)                                 \
  extern "C" __global__ void __launch_bounds__(CHAIN_THREADS, BLOCKS) \
      sconce_scan_chain_##name(const __grid_constant__ Lines l) {     \
    scan_chain<T, 16 / sizeof(T), SPANS>(l);                          \
  }

CHAIN(f32, float, 8, 3)
CHAIN(f16, Half, 4, 2)
CHAIN(bf16, Brain, 4, 2)
CHAIN(i64, i64, 12, 2)
KERNELS(f32, float)
KERNELS(f16, Half)
KERNELS(bf16, Brain)
KERNELS(i64, i64)
KERNEL(general_f32, (scan_columns<AnyElements<float>>(l)))
KERNEL(general_f64, (scan_columns<AnyElements<double>>(l)))
KERNEL(general_i64, (scan_columns<AnyElements<i64>>(l)))
KERNEL(general_c64, (scan_columns<AnyElements<Complex32>>(l)))
KERNEL(general_c128, (scan_columns<AnyElements<Complex64>>(l)))
