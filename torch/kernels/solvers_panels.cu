// Panels of factors: some columns of a matrix by one block of threads (geqrf, lu_factor, and what
// is made of them; `operations/solvers`).

#include "solvers/field.cuh"
#include "solvers/largest.cuh"

// The sum of what all threads bring.
template <class R>
SCONCE_INLINE R sum_of_all(R own, R* shared) {
  shared[threadIdx.x] = own;
  __syncthreads();
#pragma unroll 1
  for (u32 half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + half];
    }
    __syncthreads();
  }
  const R sum = shared[0];
  __syncthreads();
  return sum;
}

// Factors the columns of a panel, whose rows begin at row `first` of the matrix, into l and u with
// pivots. `pivots` get the rows that were exchanged, from 1, and `info` the first pivot that is 0.
template <class T>
SCONCE_INLINE void lu(View<T> a, i64 rows, u32 columns, i32* pivots, i64 pivots_step, i32* info,
                      u32 first) {
  extern __shared__ __align__(128) u8 shared[];
  a = a.of(blockIdx.x), pivots += blockIdx.x * pivots_step, info += blockIdx.x;
  const u32 count = (i64)columns < rows ? columns : (u32)rows;
#pragma unroll 1
  for (u32 k = 0; k < count; ++k) {
    Found<Real<T>> best = {-1, k};
    for (i64 i = k + threadIdx.x; i < rows; i += THREADS) {
      const Real<T> size = size_of_parts(a.at(i, k));
      if (size > best.value) best = {size, i};
    }
    best = largest(best, (Found<Real<T>>*)shared);
    if (threadIdx.x == 0) pivots[k] = (i32)(first + best.at + 1);
    if (threadIdx.x < columns && best.at != k) {
      const T upper = a.at(k, threadIdx.x);
      a.at(k, threadIdx.x) = a.at(best.at, threadIdx.x);
      a.at(best.at, threadIdx.x) = upper;
    }
    __syncthreads();
    const T pivot = a.at(k, k);
    if (real_part(pivot) == 0 && imaginary_part(pivot) == 0) {
      if (threadIdx.x == 0 && *info == 0) *info = (i32)(first + k + 1);
    } else {
      for (i64 i = k + 1 + threadIdx.x; i < rows; i += THREADS) a.at(i, k) = a.at(i, k) / pivot;
    }
    // A thread goes on with the rows that it has divided.
    for (i64 i = k + 1 + threadIdx.x; i < rows; i += THREADS) {
      const T factor = a.at(i, k);
#pragma unroll 1
      for (u32 j = k + 1; j < columns; ++j) a.at(i, j) = a.at(i, j) - factor * a.at(k, j);
    }
    // Of the next column a thread looks at the rows that it has changed.
  }
}

// Exchanges rows as a panel's pivots say, in the order of the pivots or backwards. A thread has a
// column.
template <class T>
SCONCE_INLINE void swap_rows(View<T> a, i64 columns, const i32* pivots, i64 pivots_step, i64 count,
                             i64 first, u32 backwards) {
  const i64 j = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (j >= columns) return;
  a = a.of(blockIdx.z), pivots += blockIdx.z * pivots_step;
  for (i64 k = 0; k < count; ++k) {
    const i64 at = backwards ? count - 1 - k : k, other = pivots[at] - 1 - first;
    if (other == at) continue;
    const T value = a.at(at, j);
    a.at(at, j) = a.at(other, j);
    a.at(other, j) = value;
  }
}

// Reflects the columns of a panel one after another, so that they end at the diagonal: below it are
// then the vectors of the reflections, whose first element is 1, and `tau` has their factors.
template <class T>
SCONCE_INLINE void reflect(View<T> a, i64 rows, u32 columns, T* tau, i64 tau_step) {
  extern __shared__ __align__(128) u8 shared[];
  typedef Real<T> R;
  constexpr u32 LANES = THREADS / PANEL;
  a = a.of(blockIdx.x), tau += blockIdx.x * tau_step;
  const u32 lane = threadIdx.x % LANES, column = threadIdx.x / LANES;
  const u32 count = (i64)columns < rows ? columns : (u32)rows;
#pragma unroll 1
  for (u32 k = 0; k < count; ++k) {
    const T alpha = a.at(k, k);
    // The length of what is below the diagonal: squares of parts of the largest one do not
    // overflow.
    Found<R> most = {0, 0};
    for (i64 i = k + 1 + threadIdx.x; i < rows; i += THREADS) {
      const R size = size_of_parts(a.at(i, k));
      if (!(size <= most.value)) most.value = size;
    }
    const R scale = largest(most, (Found<R>*)shared).value;
    R squares = 0;
    if (scale > 0) {
      for (i64 i = k + 1 + threadIdx.x; i < rows; i += THREADS) {
        const T value = a.at(i, k) / Field<T>::of(scale);
        squares += square_of(value);
      }
    }
    const R length = scale * root(sum_of_all(squares, (R*)shared));
    if (length == 0 && imaginary_part(alpha) == 0) {
      if (threadIdx.x == 0) tau[k] = zero<T>();
      continue;
    }
    const R own = absolute(real_part(alpha)) + absolute(imaginary_part(alpha)) + length;
    const T alpha_part = alpha / Field<T>::of(own);
    const R size = own * root(square_of(alpha_part) + length / own * (length / own));
    const R beta = real_part(alpha) >= 0 ? -size : size;
    const T factor = (Field<T>::of(beta) - alpha) / Field<T>::of(beta);
    const T divisor = alpha - Field<T>::of(beta);
    for (i64 i = k + 1 + threadIdx.x; i < rows; i += THREADS) a.at(i, k) = a.at(i, k) / divisor;
    if (threadIdx.x == 0) {
      a.at(k, k) = Field<T>::of(beta);
      tau[k] = factor;
    }
    __syncthreads();
    // The other columns: a_j -= conj(tau) (v' a_j) v. Several threads share a column.
    const bool takes_part = column > k && column < columns;
    T sum = zero<T>();
    if (takes_part) {
      for (i64 i = k + 1 + lane; i < rows; i += LANES) {
        sum = sum + conjugate(a.at(i, k)) * a.at(i, column);
      }
      if (lane == 0) sum = sum + a.at(k, column);
    }
    T* const sums = (T*)shared;
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (takes_part) {
      sum = zero<T>();
#pragma unroll 1
      for (u32 other = 0; other < LANES; ++other) sum = sum + sums[column * LANES + other];
      sum = conjugate(factor) * sum;
      for (i64 i = k + 1 + lane; i < rows; i += LANES) {
        a.at(i, column) = a.at(i, column) - a.at(i, k) * sum;
      }
      if (lane == 0) a.at(k, column) = a.at(k, column) - sum;
    }
    __syncthreads();
  }
}

// The factor t of a panel's reflections, whose product is 1 - v t v'. `gram` is v' v. A thread has
// a row of t.
template <class T>
SCONCE_INLINE void join(View<T> t, View<T> gram, const T* tau, i64 tau_step, u32 size) {
  extern __shared__ __align__(128) u8 shared[];
  T* const tile = (T*)shared;
  t = t.of(blockIdx.x), gram = gram.of(blockIdx.x), tau += blockIdx.x * tau_step;
  const u32 i = threadIdx.x;
#pragma unroll 1
  for (u32 j = 0; j < size; ++j) {
    if (i < size) {
      T sum = zero<T>();
      for (u32 l = i; l < j; ++l) sum = sum + tile[i * (PANEL + 1) + l] * gram.at(l, j);
      const T value = i < j ? negative(tau[j]) * sum : i == j ? tau[j] : zero<T>();
      tile[i * (PANEL + 1) + j] = value;
      t.at(i, j) = value;
    }
  }
}

// The matrix that exchanges rows as pivots say; it is 0 before. `work` has `rows` entries for each
// matrix. A thread has a matrix.
template <class T>
SCONCE_INLINE void permutation(View<T> to, i64 rows, const i32* pivots, i64 pivots_step, i64 count,
                               i32* work, i64 matrices) {
  const i64 at = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (at >= matrices) return;
  to = to.of(at), pivots += at * pivots_step, work += at * rows;
  for (i64 i = 0; i < rows; ++i) work[i] = (i32)i;
  for (i64 k = 0; k < count; ++k) {
    const i64 other = pivots[k] - 1;
    // Pivots that are no rows exchange nothing.
    if (other < 0 || other >= rows) continue;
    const i32 value = work[k];
    work[k] = work[other];
    work[other] = value;
  }
  for (i64 i = 0; i < rows; ++i) to.at(work[i], i) = Field<T>::of(1);
}

#define KERNELS(name, T)                                                                           \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_lu_##name(            \
      const View<T> a, const i64 rows, const u32 columns, i32* pivots, const i64 pivots_step,      \
      i32* info, const u32 first) {                                                                \
    lu<T>(a, rows, columns, pivots, pivots_step, info, first);                                     \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_swap_rows_##name(     \
      const View<T> a, const i64 columns, const i32* pivots, const i64 pivots_step,                \
      const i64 count, const i64 first, const u32 backwards) {                                     \
    swap_rows<T>(a, columns, pivots, pivots_step, count, first, backwards);                        \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_reflect_##name(       \
      const View<T> a, const i64 rows, const u32 columns, T* tau, const i64 tau_step) {            \
    reflect<T>(a, rows, columns, tau, tau_step);                                                   \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_join_##name(          \
      const View<T> t, const View<T> gram, const T* tau, const i64 tau_step, const u32 size) {     \
    join<T>(t, gram, tau, tau_step, size);                                                         \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_permutation_##name(   \
      const View<T> to, const i64 rows, const i32* pivots, const i64 pivots_step, const i64 count, \
      i32* work, const i64 matrices) {                                                             \
    permutation<T>(to, rows, pivots, pivots_step, count, work, matrices);                          \
  }

SCONCE_FOR_FIELDS(KERNELS)
