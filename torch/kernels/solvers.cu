// Steps of the solution of linear equations: products, triangles, factors of Cholesky, parts of
// matrices (triangular_solve, cholesky_solve and others; `operations/solvers`).

#include "solvers/field.cuh"

// What a product does with the matrix that is there.
constexpr u32 SUBTRACT = 1, CONJUGATE_FIRST = 2, CONJUGATE_SECOND = 4, LOWER = 8;
// A triangle whose diagonal counts as 1, or which is conjugated.
constexpr u32 UNIT = 1, CONJUGATE = 2;
// The parts of a matrix that are copied; others become 0.
constexpr u32 BELOW = 1, ABOVE = 2, DIAGONAL = 4, ONES = 8;

constexpr u32 TILE = 64, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE;

// c = a b, or c -= a b. A block has a tile of c.
template <class T>
SCONCE_INLINE void update(View<T> c, View<T> a, View<T> b, i64 rows, i64 columns, i64 inner,
                          u32 mode) {
  extern __shared__ __align__(128) u8 shared[];
  T* const of_a = (T*)shared;
  T* const of_b = of_a + DEPTH * (TILE + 1);
  const i64 row = (i64)blockIdx.x * TILE, column = (i64)blockIdx.y * TILE;
  if ((mode & LOWER) && row + TILE <= column) return;
  a = a.of(blockIdx.z), b = b.of(blockIdx.z), c = c.of(blockIdx.z);
  const u32 x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  T sums[EACH][EACH];
#pragma unroll
  for (u32 i = 0; i < EACH; ++i)
#pragma unroll
    for (u32 j = 0; j < EACH; ++j) sums[i][j] = zero<T>();

  for (i64 begin = 0; begin < inner; begin += DEPTH) {
#pragma unroll 1
    for (u32 e = threadIdx.x; e < TILE * DEPTH; e += THREADS) {
      const u32 i = a.is_by_column() ? e % TILE : e / DEPTH;
      const u32 k = a.is_by_column() ? e / TILE : e % DEPTH;
      const bool is_there = row + i < rows && begin + k < inner;
      const T value = is_there ? a.at(row + i, begin + k) : zero<T>();
      of_a[k * (TILE + 1) + i] = mode & CONJUGATE_FIRST ? conjugate(value) : value;
    }
#pragma unroll 1
    for (u32 e = threadIdx.x; e < TILE * DEPTH; e += THREADS) {
      const u32 j = b.is_by_column() ? e / DEPTH : e % TILE;
      const u32 k = b.is_by_column() ? e % DEPTH : e / TILE;
      const bool is_there = column + j < columns && begin + k < inner;
      const T value = is_there ? b.at(begin + k, column + j) : zero<T>();
      of_b[k * (TILE + 1) + j] = mode & CONJUGATE_SECOND ? conjugate(value) : value;
    }
    __syncthreads();
#pragma unroll 1
    for (u32 k = 0; k < DEPTH; ++k) {
      T left[EACH], right[EACH];
#pragma unroll
      for (u32 i = 0; i < EACH; ++i) left[i] = of_a[k * (TILE + 1) + x + SIDE * i];
#pragma unroll
      for (u32 j = 0; j < EACH; ++j) right[j] = of_b[k * (TILE + 1) + y + SIDE * j];
#pragma unroll
      for (u32 i = 0; i < EACH; ++i)
#pragma unroll
        for (u32 j = 0; j < EACH; ++j) sums[i][j] = sums[i][j] + left[i] * right[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (u32 i = 0; i < EACH; ++i)
#pragma unroll
    for (u32 j = 0; j < EACH; ++j) {
      const i64 at = row + x + SIDE * i, beside = column + y + SIDE * j;
      if (at >= rows || beside >= columns) continue;
      T& place = c.at(at, beside);
      place = mode & SUBTRACT ? place - sums[i][j] : sums[i][j];
    }
}

// Solves l y = x for a lower triangle of at most PANEL rows, and writes y where x was. A block has
// PANEL columns of x.
template <class T>
SCONCE_INLINE void substitute(View<T> l, View<T> x, u32 size, i64 columns, u32 flags) {
  extern __shared__ __align__(128) u8 shared[];
  T* const triangle = (T*)shared;
  T* const tile = triangle + PANEL * (PANEL + 1);
  l = l.of(blockIdx.z), x = x.of(blockIdx.z);
  const i64 first = (i64)blockIdx.x * PANEL;
  const u32 narrow = threadIdx.x % PANEL, wide = threadIdx.x / PANEL;
  for (u32 other = wide; other < PANEL; other += THREADS / PANEL) {
    const u32 i = l.is_by_column() ? narrow : other, j = l.is_by_column() ? other : narrow;
    if (i < size && j <= i) {
      const T value = l.at(i, j);
      triangle[i * (PANEL + 1) + j] = flags & CONJUGATE ? conjugate(value) : value;
    }
    const u32 row = x.is_by_column() ? narrow : other, column = x.is_by_column() ? other : narrow;
    if (row < size && first + column < columns) {
      tile[row * (PANEL + 1) + column] = x.at(row, first + column);
    }
  }
  __syncthreads();
#pragma unroll 1
  for (u32 i = 0; i < size; ++i) {
    if (!(flags & UNIT)) {
      if (wide == 0) {
        T& value = tile[i * (PANEL + 1) + narrow];
        value = value / triangle[i * (PANEL + 1) + i];
      }
      __syncthreads();
    }
    const T value = tile[i * (PANEL + 1) + narrow];
#pragma unroll 1
    for (u32 below = i + 1 + wide; below < size; below += THREADS / PANEL) {
      T& other = tile[below * (PANEL + 1) + narrow];
      other = other - triangle[below * (PANEL + 1) + i] * value;
    }
    __syncthreads();
  }
  for (u32 other = wide; other < PANEL; other += THREADS / PANEL) {
    const u32 row = x.is_by_column() ? narrow : other, column = x.is_by_column() ? other : narrow;
    if (row < size && first + column < columns) {
      x.at(row, first + column) = tile[row * (PANEL + 1) + column];
    }
  }
}

// Factors a matrix of at most PANEL rows, of which the lower triangle is read, into l and its
// adjoint. `info` gets the number, from 1, of the first leading part that is not positive definite;
// a matrix that has one is left alone.
template <class T>
SCONCE_INLINE void cholesky(View<T> a, u32 size, i32* info, u32 first) {
  extern __shared__ __align__(128) u8 shared[];
  T* const tile = (T*)shared;
  a = a.of(blockIdx.x), info += blockIdx.x;
  const u32 i = threadIdx.x % PANEL, wide = threadIdx.x / PANEL;
  if (*info != 0) return;
  for (u32 j = wide; j <= i && i < size; j += THREADS / PANEL) {
    tile[i * (PANEL + 1) + j] = a.at(i, j);
  }
  __syncthreads();
#pragma unroll 1
  for (u32 k = 0; k < size; ++k) {
    const Real<T> pivot = real_part(tile[k * (PANEL + 1) + k]);
    if (!(pivot > 0)) {
      if (threadIdx.x == 0) *info = (i32)(first + k + 1);
      break;
    }
    const Real<T> side = root(pivot);
    __syncthreads();
    if (wide == 0 && i >= k && i < size) {
      T& value = tile[i * (PANEL + 1) + k];
      value = i == k ? Field<T>::of(side) : value / Field<T>::of(side);
    }
    __syncthreads();
    for (u32 j = k + 1 + wide; j <= i && i < size; j += THREADS / PANEL) {
      T& value = tile[i * (PANEL + 1) + j];
      value = value - tile[i * (PANEL + 1) + k] * conjugate(tile[j * (PANEL + 1) + k]);
    }
    __syncthreads();
  }
  for (u32 j = wide; j <= i && i < size; j += THREADS / PANEL) {
    a.at(i, j) = tile[i * (PANEL + 1) + j];
  }
}

// Copies parts of matrices; `from` may be `to`. A thread has an element.
template <class T>
SCONCE_INLINE void part(View<T> to, View<T> from, i64 rows, i64 columns, u32 parts) {
  const i64 at = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (at >= rows * columns) return;
  const i64 i = to.is_by_column() ? at % rows : at / columns;
  const i64 j = to.is_by_column() ? at / rows : at % columns;
  const u32 own = i > j ? BELOW : i < j ? ABOVE : DIAGONAL;
  T value = i == j && (parts & ONES) ? Field<T>::of(1) : zero<T>();
  if (parts & own) value = from.of(blockIdx.z).at(i, j);
  to.of(blockIdx.z).at(i, j) = value;
}

#define KERNELS(name, T)                                                                          \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_update_##name(       \
      const View<T> c, const View<T> a, const View<T> b, const i64 rows, const i64 columns,       \
      const i64 inner, const u32 mode) {                                                          \
    update<T>(c, a, b, rows, columns, inner, mode);                                               \
  }                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_substitute_##name(   \
      const View<T> l, const View<T> x, const u32 size, const i64 columns, const u32 flags) {     \
    substitute<T>(l, x, size, columns, flags);                                                    \
  }                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_cholesky_##name(     \
      const View<T> a, const u32 size, i32* info, const u32 first) {                              \
    cholesky<T>(a, size, info, first);                                                            \
  }                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_part_##name(         \
      const View<T> to, const View<T> from, const i64 rows, const i64 columns, const u32 parts) { \
    part<T>(to, from, rows, columns, parts);                                                      \
  }

SCONCE_FOR_FIELDS(KERNELS)
