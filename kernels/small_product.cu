// Products of matrices of small and middle size, c = alpha * a @ b + beta * c, where a library's
// choice of a kernel would cost more than the product: docs/design/blas.md.
//
// A block computes a tile of one product of the batch.

#include "product/element.cuh"
#include "product/tile.cuh"

#define KERNEL(suffix, body)                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS)                        \
      sconce_small_product_##suffix(const __grid_constant__ Product product) { \
    body(product);                                                             \
  }

KERNEL(f16, multiply_tiles<Half>)
KERNEL(bf16, multiply_tiles<Brain>)
KERNEL(f32, multiply_tiles<float>)
KERNEL(f64, multiply_elements)
