// Products of small matrices, c = alpha * a @ b + beta * c, where a library's choice of a kernel
// would cost more than the product: docs/design/blas.md.
//
// A block computes a tile of one product of the batch, a thread one element of it. The sum of an
// element begins with 0 and adds the products along k in their order, each with one rounding (a
// fused multiplication and addition), in doubles for doubles and in singles for all other types.

#include "reduce/machine.cuh"

// These are in `kernels/small_product.rs` too: rows and columns of a tile, and how much of k is in
// shared memory at once.
constexpr u32 TILE = 16;
constexpr u32 DEPTH = 32;
constexpr u32 THREADS = TILE * TILE;

struct Matrix {
  u64 address;
  // In elements.
  i64 batch, row, column;
};

struct Product {
  Matrix a, b, c;
  u32 m, n, k, batch;
  double alpha, beta;
};

__device__ __forceinline__ float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

__device__ __forceinline__ void narrow(float value, float* to) { *to = value; }
__device__ __forceinline__ void narrow(double value, double* to) { *to = value; }
__device__ __forceinline__ void narrow(float value, Half* to) { *to = to_half(value); }
__device__ __forceinline__ void narrow(float value, Brain* to) { *to = to_brain(value); }

// A thread's parts of a slice of ROWS x COLUMNS, 0 beyond the matrix. Neighbouring threads read
// along the rows or down the columns, whichever is closer together.
template <u32 ROWS, u32 COLUMNS, typename T, typename A>
struct Slice {
  static constexpr u32 EACH = ROWS * COLUMNS / THREADS;
  A of[EACH];
  bool along;

  __device__ __forceinline__ explicit Slice(const Matrix& matrix)
      : along(matrix.column <= matrix.row) {}

  __device__ __forceinline__ u32 row(u32 i) const {
    const u32 at = threadIdx.x + i * THREADS;
    return along ? at / COLUMNS : at % ROWS;
  }

  __device__ __forceinline__ u32 column(u32 i) const {
    const u32 at = threadIdx.x + i * THREADS;
    return along ? at % COLUMNS : at / ROWS;
  }

  __device__ __forceinline__ void load(const T* from, const Matrix& matrix, u32 rows, u32 columns) {
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      const u32 r = row(i), c = column(i);
      of[i] = 0;
      if (r < rows && c < columns) of[i] = wide(from[r * matrix.row + c * matrix.column]);
    }
  }

  __device__ __forceinline__ void store(A (*to)[COLUMNS + 1]) const {
#pragma unroll
    for (u32 i = 0; i < EACH; i++) to[row(i)][column(i)] = of[i];
  }
};

template <typename T, typename A>
__device__ __forceinline__ void multiply(const Product& product) {
  __shared__ A left[TILE][DEPTH + 1];
  __shared__ A right[DEPTH][TILE + 1];
  const u32 x = threadIdx.x % TILE, y = threadIdx.x / TILE;
  const u32 column = blockIdx.x * TILE, row = blockIdx.y * TILE;
  const i64 batch = blockIdx.z;
  const Matrix& a = product.a;
  const Matrix& b = product.b;
  const T* from_a = (const T*)a.address + batch * a.batch + row * a.row;
  const T* from_b = (const T*)b.address + batch * b.batch + column * b.column;
  Slice<TILE, DEPTH, T, A> of_a(a);
  Slice<DEPTH, TILE, T, A> of_b(b);
  A sum = 0;
  for (u32 start = 0; start < product.k; start += DEPTH) {
    const u32 depth = min(DEPTH, product.k - start);
    of_a.load(from_a + start * a.column, a, product.m - row, depth);
    of_b.load(from_b + start * b.row, b, depth, product.n - column);
    if (start > 0) __syncthreads();
    of_a.store(left);
    of_b.store(right);
    __syncthreads();
    if (depth == DEPTH) {
#pragma unroll
      for (u32 i = 0; i < DEPTH; i++) sum = fused(left[y][i], right[i][x], sum);
    } else {
      for (u32 i = 0; i < depth; i++) sum = fused(left[y][i], right[i][x], sum);
    }
  }
  if (row + y >= product.m || column + x >= product.n) return;
  const Matrix& c = product.c;
  T* to = (T*)c.address + batch * c.batch + (row + y) * c.row + (column + x) * c.column;
  const A alpha = (A)product.alpha, beta = (A)product.beta;
  narrow(beta == 0 ? alpha * sum : fused(alpha, sum, beta * wide(*to)), to);
}

#define KERNEL(suffix, T, A)                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS)                        \
      sconce_small_product_##suffix(const __grid_constant__ Product product) { \
    multiply<T, A>(product);                                                   \
  }

KERNEL(f16, Half, float)
KERNEL(bf16, Brain, float)
KERNEL(f32, float, float)
KERNEL(f64, double, double)
