// Rotations that make the columns of a matrix orthogonal, for singular values and eigenvalues
// (one-sided Jacobi; `operations/solvers/rotations.rs`).

#include "solvers/field.cuh"

// Threads that share a pair of columns, and pairs that a block rotates at once.
constexpr u32 LANES = 8, PAIRS = THREADS / LANES;
constexpr u32 MOST_SWEEPS = 40;

template <class T>
struct Precision {
  static constexpr Real<T> EPSILON = sizeof(Real<T>) == 4 ? 1.2e-7 : 2.3e-16;
  // What is smaller has fewer digits than a rotation needs. The largest element of a matrix is 1.
  static constexpr Real<T> LEAST = sizeof(Real<T>) == 4 ? 1e-31 : 1e-292;
};

// What a thread has found of a pair: the squares of both lengths, and their product.
template <class T>
struct Products {
  Real<T> first, second;
  T both;
};

// The columns of a pair, of `players`, which is even, in a round: all pairs of a round differ in
// both, and all rounds together have each pair once.
SCONCE_INLINE void pair_of(i64 players, i64 round, i64 pair, i64* low, i64* high) {
  const i64 others = players - 1;
  const i64 a = pair == 0 ? others : (round + pair) % others;
  const i64 b = pair == 0 ? round : (round - pair + others) % others;
  *low = a < b ? a : b;
  *high = a < b ? b : a;
}

// Replaces two elements of a row.
template <class T>
SCONCE_INLINE void turn(T& first, T& second, Real<T> cosine, Real<T> sine, T phase) {
  const T c = Field<T>::of(cosine), s = Field<T>::of(sine), turned = phase * second;
  const T old = first;
  first = c * old - s * turned;
  second = s * old + c * turned;
}

// Rotates pairs of columns of w until all are orthogonal, and the columns of v with them. A block
// has a matrix.
template <class T>
SCONCE_INLINE void rotate(View<T> w, View<T> v, i64 rows, i64 columns) {
  extern __shared__ __align__(128) u8 shared[];
  typedef Real<T> R;
  Products<T>* const products = (Products<T>*)shared;
  u32* const rotations = (u32*)(products + THREADS);
  w = w.of(blockIdx.x), v = v.of(blockIdx.x);
  const u32 lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
  const i64 players = columns + columns % 2, pairs = players / 2;
  const R limit = Precision<T>::EPSILON * root((R)rows);
#pragma unroll 1
  for (u32 sweep = 0; sweep < MOST_SWEEPS; ++sweep) {
    if (threadIdx.x == 0) *rotations = 0;
    u32 own = 0;
#pragma unroll 1
    for (i64 round = 0; round < players - 1; ++round) {
#pragma unroll 1
      for (i64 begin = 0; begin < pairs; begin += PAIRS) {
        i64 low = 0, high = columns;
        if (begin + group < pairs) pair_of(players, round, begin + group, &low, &high);
        const bool is_there = high < columns;
        Products<T> sums = {0, 0, zero<T>()};
        if (is_there) {
          for (i64 i = lane; i < rows; i += LANES) {
            const T first = w.at(i, low), second = w.at(i, high);
            sums.first += square_of(first);
            sums.second += square_of(second);
            sums.both = sums.both + conjugate(first) * second;
          }
        }
        products[threadIdx.x] = sums;
        __syncthreads();
        if (is_there) {
          sums = {0, 0, zero<T>()};
#pragma unroll 1
          for (u32 other = 0; other < LANES; ++other) {
            const Products<T> found = products[group * LANES + other];
            sums.first += found.first;
            sums.second += found.second;
            sums.both = sums.both + found.both;
          }
          const R size = length_of(sums.both);
          if (size > Precision<T>::LEAST && size > limit * root(sums.first) * root(sums.second)) {
            own = 1;
            const R zeta = (sums.second - sums.first) / (2 * size);
            const R tangent = (zeta < 0 ? -1 : 1) / (absolute(zeta) + root(1 + zeta * zeta));
            const R cosine = 1 / root(1 + tangent * tangent), sine = cosine * tangent;
            const T phase = conjugate(sums.both) / Field<T>::of(size);
            for (i64 i = lane; i < rows; i += LANES) {
              turn(w.at(i, low), w.at(i, high), cosine, sine, phase);
            }
            for (i64 i = lane; i < columns; i += LANES) {
              turn(v.at(i, low), v.at(i, high), cosine, sine, phase);
            }
          }
        }
        // Pairs of the next round have other columns, and the sums are written again.
        __syncthreads();
      }
    }
    if (own != 0) *rotations = 1;
    __syncthreads();
    const u32 any = *rotations;
    __syncthreads();
    if (any == 0) break;
  }
}

#define KERNELS(name, T)                                                                    \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_solvers_rotate_##name( \
      const View<T> w, const View<T> v, const i64 rows, const i64 columns) {                \
    rotate<T>(w, v, rows, columns);                                                         \
  }

SCONCE_FOR_FIELDS(KERNELS)
