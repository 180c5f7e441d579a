// Products in doubles. A thread computes one element of a tile. The sum begins with 0 and adds the
// products in the order of k, each with one rounding.
#pragma once

#include "launch.cuh"

// Steps along k that are in shared memory at once.
constexpr u32 DEPTH = 32;

// A thread's parts of a slice of ROWS x COLUMNS, 0 beyond the matrix. Neighbouring threads read
// along the rows or down the columns, whichever is closer together.
template <u32 ROWS, u32 COLUMNS>
struct Slice {
  static constexpr u32 EACH = ROWS * COLUMNS / THREADS;
  double of[EACH];
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

  __device__ __forceinline__ void load(const double* from, const Matrix& matrix, u32 rows,
                                       u32 columns) {
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      const u32 r = row(i), c = column(i);
      of[i] = 0;
      if (r < rows && c < columns) of[i] = from[r * matrix.row + c * matrix.column];
    }
  }

  __device__ __forceinline__ void store(double (*to)[COLUMNS + 1]) const {
#pragma unroll
    for (u32 i = 0; i < EACH; i++) to[row(i)][column(i)] = of[i];
  }
};

__device__ __forceinline__ void multiply_elements(const Product& product) {
  __shared__ double left[TILE][DEPTH + 1];
  __shared__ double right[DEPTH][TILE + 1];
  const u32 x = threadIdx.x % TILE, y = threadIdx.x / TILE;
  const u32 column = blockIdx.x * TILE, row = blockIdx.y * TILE;
  const i64 batch = blockIdx.z;
  const Matrix& a = product.a;
  const Matrix& b = product.b;
  const double* from_a = (const double*)a.address + batch * a.batch + row * a.row;
  const double* from_b = (const double*)b.address + batch * b.batch + column * b.column;
  Slice<TILE, DEPTH> of_a(a);
  Slice<DEPTH, TILE> of_b(b);
  double sum = 0;
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
      for (u32 i = 0; i < DEPTH; i++) sum = __fma_rn(left[y][i], right[i][x], sum);
    } else {
      for (u32 i = 0; i < depth; i++) sum = __fma_rn(left[y][i], right[i][x], sum);
    }
  }
  if (row + y >= product.m || column + x >= product.n) return;
  const Matrix& c = product.c;
  double* to = (double*)c.address + batch * c.batch + (row + y) * c.row + (column + x) * c.column;
  const double alpha = product.alpha, beta = product.beta;
  *to = beta == 0 ? alpha * sum : __fma_rn(alpha, sum, beta * *to);
}
