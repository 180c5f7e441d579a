// Factors of symmetric or Hermitian matrices, l d l', and equations with them (ldl_factor,
// ldl_solve; `operations/solvers/symmetric`).
// Compute capability: 7.5 alone.

#include "solvers/field.cuh"
#include "solvers/largest.cuh"

// (1 + sqrt(17)) / 8, which bounds the growth of elements (Bunch and Kaufman). It is in
// `operations/solvers/parameters.rs`, too.
constexpr double GROWTH = 0.640388203202208;

template <class T>
SCONCE_INLINE T one() {
  return Field<T>::of(1);
}

// An element of the upper triangle, from that of the lower one.
template <class T>
SCONCE_INLINE T mirrored(T value, bool is_hermitian) {
  return is_hermitian ? conjugate(value) : value;
}

template <class T>
SCONCE_INLINE void swap(T& a, T& b) {
  const T value = a;
  a = b;
  b = value;
}

// The rows and columns that a step eliminates: one or two, of which the last one is exchanged with
// `row`; or none if the column is 0 or no number.
struct Chosen {
  i64 row;
  u32 count;
};

// All threads choose the same. They may write when they have met again.
template <class T>
SCONCE_INLINE Chosen choose(View<T> a, i64 size, i64 k, Found<Real<T>>* shared) {
  typedef Real<T> R;
  const R own = size_of_parts(a.at(k, k)), growth = (R)GROWTH;
  Found<R> most = {0, k};
  for (i64 i = k + 1 + threadIdx.x; i < size; i += THREADS) {
    const R value = size_of_parts(a.at(i, k));
    if (value > most.value) most = {value, i};
  }
  most = largest(most, shared);
  if ((own == 0 && most.value == 0) || own != own) return {k, 0};
  if (own >= growth * most.value) return {k, 1};
  const i64 row = most.at;
  Found<R> across = {0, 0};
  for (i64 j = k + threadIdx.x; j < size; j += THREADS) {
    if (j == row) continue;
    const R value = size_of_parts(j < row ? a.at(row, j) : a.at(j, row));
    if (value > across.value) across.value = value;
  }
  const R most_of_row = largest(across, shared).value;
  if (own >= growth * most.value * (most.value / most_of_row)) return {k, 1};
  return {row, size_of_parts(a.at(row, row)) >= growth * most_of_row ? 1u : 2u};
}

// Exchanges rows and columns of what is left to be factored.
template <class T>
SCONCE_INLINE void exchange(View<T> a, i64 size, i64 k, Chosen chosen, bool is_hermitian) {
  const i64 last = k + chosen.count - 1, row = chosen.row;
  if (row == last) return;
  for (i64 i = row + 1 + threadIdx.x; i < size; i += THREADS) swap(a.at(i, last), a.at(i, row));
  for (i64 j = last + 1 + threadIdx.x; j < row; j += THREADS) {
    const T value = mirrored(a.at(j, last), is_hermitian);
    a.at(j, last) = mirrored(a.at(row, j), is_hermitian);
    a.at(row, j) = value;
  }
  if (threadIdx.x == 0) {
    a.at(row, last) = mirrored(a.at(row, last), is_hermitian);
    swap(a.at(last, last), a.at(row, row));
    if (chosen.count == 2) swap(a.at(k + 1, k), a.at(row, k));
  }
}

// What is below the diagonal block becomes columns of l, and their products are subtracted from the
// rest. A thread has some elements of it.
template <class T>
SCONCE_INLINE void eliminate(View<T> a, i64 size, i64 k, u32 count, bool is_hermitian) {
  const i64 begin = k + count, rest = size - begin;
  // A block of one: its reciprocal. One of two: the factors of both columns.
  T scale = one<T>() / a.at(k, k), unit = zero<T>(), below = zero<T>(), above = zero<T>();
  if (count == 2) {
    const T side = a.at(k + 1, k);
    // Of Hermitian matrices the block is divided by the length of the element beside the diagonal.
    const T by = is_hermitian ? Field<T>::of(length_of(side)) : side;
    unit = side / by;
    below = a.at(k + 1, k + 1) / by;
    above = a.at(k, k) / by;
    scale = one<T>() / (below * above - one<T>()) / by;
  }
  const T back = mirrored(unit, is_hermitian);
  for (i64 e = threadIdx.x; e < rest * rest; e += THREADS) {
    const i64 i = begin + e % rest, j = begin + e / rest;
    if (i < j) continue;
    const T first = a.at(j, k);
    T product;
    if (count == 1) {
      product = a.at(i, k) * (scale * mirrored(first, is_hermitian));
    } else {
      const T second = a.at(j, k + 1);
      product = a.at(i, k) * mirrored(scale * (below * first - unit * second), is_hermitian) +
                a.at(i, k + 1) * mirrored(scale * (above * second - back * first), is_hermitian);
    }
    const T value = a.at(i, j) - product;
    a.at(i, j) = is_hermitian && i == j ? Field<T>::of(real_part(value)) : value;
  }
  __syncthreads();
  for (i64 i = begin + threadIdx.x; i < size; i += THREADS) {
    const T first = a.at(i, k);
    if (count == 1) {
      a.at(i, k) = first * scale;
    } else {
      const T second = a.at(i, k + 1);
      a.at(i, k) = scale * (below * first - unit * second);
      a.at(i, k + 1) = scale * (above * second - back * first);
    }
  }
}

// Factors the lower triangle of a matrix. `info` gets the number, from 1, of the first block that
// is 0. A block of threads has a matrix.
template <class T>
SCONCE_INLINE void factor(View<T> a, i64 size, i32* pivots, i64 pivots_step, i32* info,
                          bool is_hermitian) {
  extern __shared__ __align__(128) u8 shared[];
  a = a.of(blockIdx.x), pivots += blockIdx.x * pivots_step, info += blockIdx.x;
  for (i64 k = threadIdx.x; is_hermitian && k < size; k += THREADS) {
    a.at(k, k) = Field<T>::of(real_part(a.at(k, k)));
  }
  i64 k = 0;
#pragma unroll 1
  while (k < size) {
    __syncthreads();
    const Chosen chosen = choose(a, size, k, (Found<Real<T>>*)shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      const i32 number = (i32)(chosen.row + 1);
      if (chosen.count == 0 && *info == 0) *info = number;
      pivots[k] = chosen.count == 2 ? -number : number;
      if (chosen.count == 2) pivots[k + 1] = -number;
    }
    if (chosen.count == 0) {
      k += 1;
      continue;
    }
    exchange(a, size, k, chosen, is_hermitian);
    __syncthreads();
    eliminate(a, size, k, chosen.count, is_hermitian);
    k += chosen.count;
  }
}

// The row that a pivot names. What names no row names its own.
SCONCE_INLINE i64 named(i32 pivot, i64 own, i64 size) {
  const i64 row = (pivot < 0 ? -(i64)pivot : (i64)pivot) - 1;
  return row >= 0 && row < size ? row : own;
}

// Solves equations with the factors, in place of x. A thread has a column.
template <class T>
SCONCE_INLINE void solve(View<T> a, i64 size, const i32* pivots, i64 pivots_step, View<T> x,
                         i64 columns, bool is_hermitian) {
  const i64 j = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (j >= columns) return;
  a = a.of(blockIdx.z), x = x.of(blockIdx.z), pivots += blockIdx.z * pivots_step;
#pragma unroll 1
  for (i64 k = 0; k < size;) {
    const u32 count = pivots[k] < 0 && k + 1 < size ? 2 : 1;
    const i64 last = k + count - 1;
    swap(x.at(last, j), x.at(named(pivots[k], last, size), j));
    for (i64 i = k + count; i < size; ++i) {
      T value = x.at(i, j);
      for (i64 own = k; own <= last; ++own) value = value - a.at(i, own) * x.at(own, j);
      x.at(i, j) = value;
    }
    if (count == 1) {
      x.at(k, j) = x.at(k, j) / a.at(k, k);
    } else {
      const T low = a.at(k + 1, k), up = mirrored(low, is_hermitian);
      const T above = a.at(k, k) / up, below = a.at(k + 1, k + 1) / low;
      const T first = x.at(k, j) / up, second = x.at(k + 1, j) / low;
      const T divisor = above * below - one<T>();
      x.at(k, j) = (below * first - second) / divisor;
      x.at(k + 1, j) = (above * second - first) / divisor;
    }
    k += count;
  }
#pragma unroll 1
  for (i64 last = size - 1; last >= 0;) {
    const u32 count = pivots[last] < 0 && last > 0 ? 2 : 1;
    for (i64 own = last + 1 - count; own <= last; ++own) {
      T value = x.at(own, j);
      for (i64 i = last + 1; i < size; ++i) {
        value = value - mirrored(a.at(i, own), is_hermitian) * x.at(i, j);
      }
      x.at(own, j) = value;
    }
    swap(x.at(last, j), x.at(named(pivots[last], last, size), j));
    last -= count;
  }
}

#define KERNELS(name, T)                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS)                                          \
      sconce_torch_solvers_symmetric_factor_##name(const View<T> a, const i64 size, i32* pivots, \
                                                   const i64 pivots_step, i32* info,             \
                                                   const u32 is_hermitian) {                     \
    factor<T>(a, size, pivots, pivots_step, info, is_hermitian != 0);                            \
  }                                                                                              \
  extern "C" __global__ void __launch_bounds__(THREADS)                                          \
      sconce_torch_solvers_symmetric_solve_##name(                                               \
          const View<T> a, const i64 size, const i32* pivots, const i64 pivots_step,             \
          const View<T> x, const i64 columns, const u32 is_hermitian) {                          \
    solve<T>(a, size, pivots, pivots_step, x, columns, is_hermitian != 0);                       \
  }

SCONCE_FOR_FIELDS(KERNELS)
