// Products in singles, of singles and of 16-bit types.
//
// The threads of a block form groups, which share the steps along k: step s is that of group s %
// GROUPS, so a slice of both matrices is in shared memory as a whole and few steps follow one
// another. The sum of an element is that of its groups' sums, in their order; a group's sum begins
// with 0 and adds the products in the order of k, each with one rounding (a fused multiplication
// and addition).
#pragma once

#include "launch.cuh"

// Steps along k that are in shared memory at once.
constexpr u32 SLICE = 128;
// Rows and columns of a thread's part of a tile.
constexpr u32 SIDE = 4;
constexpr u32 ACROSS = TILE / SIDE;
// It is in `kernels/small_product.rs` too.
constexpr u32 GROUPS = THREADS / (ACROSS * ACROSS);
// Elements that one access to a matrix moves, and what separates the banks of two steps.
constexpr u32 ACCESS = 4;
constexpr u32 PAD = 4;
constexpr u32 WIDTH = TILE + PAD;

__device__ __forceinline__ void narrow(float value, float* to) { *to = value; }
__device__ __forceinline__ void narrow(float value, Half* to) { *to = to_half(value); }
__device__ __forceinline__ void narrow(float value, Brain* to) { *to = to_brain(value); }

// The part of a matrix that a tile needs: `lines` rows of the first factor or columns of the
// second, `steps` elements each.
template <typename T>
struct Panel {
  // Accesses of a thread to a slice.
  static constexpr u32 EACH = TILE * SLICE / THREADS / ACCESS;
  const T* from;
  i64 step, line;
  u32 steps, lines;
  // Whether elements of one line lie side by side, else those of one step; and whether accesses of
  // several elements fit.
  bool along, grouped;
  float held[EACH][ACCESS];

  __device__ __forceinline__ Panel(const T* from, i64 step, i64 line, i64 batch, u32 steps,
                                   u32 lines, u32 lines_of_all)
      : from(from), step(step), line(line), steps(steps), lines(lines) {
    along = step <= line;
    const i64 near = along ? step : line, far = along ? line : step;
    const u32 extent = along ? steps : lines_of_all;
    grouped = near == 1 && extent % ACCESS == 0 && far % ACCESS == 0 && batch % ACCESS == 0 &&
              (u64)from % (ACCESS * sizeof(T)) == 0;
  }

  // Where an access of this thread begins within the slice. Neighbouring threads take 2 accesses of
  // a line and then the next line, so that their writes to shared memory take turns at the banks.
  __device__ __forceinline__ void place(u32 i, u32& step_at, u32& line_at) const {
    const u32 at = threadIdx.x + i * THREADS;
    if (along) {
      step_at = (at % 2 + at / (2 * TILE) * 2) * ACCESS;
      line_at = at / 2 % TILE;
    } else {
      line_at = at % (TILE / ACCESS) * ACCESS;
      step_at = at / (TILE / ACCESS);
    }
  }

  __device__ __forceinline__ void load(u32 first) {
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      u32 s, l;
      place(i, s, l);
      s += first;
      if (grouped) {
        Group<T, ACCESS> group = {};
        if (s < steps && l < lines) {
          group = *(const Group<T, ACCESS>*)(from + (i64)s * step + (i64)l * line);
        }
#pragma unroll
        for (u32 e = 0; e < ACCESS; e++) held[i][e] = wide(group.of[e]);
      } else {
#pragma unroll
        for (u32 e = 0; e < ACCESS; e++) {
          const u32 se = s + (along ? e : 0), le = l + (along ? 0 : e);
          held[i][e] =
              se < steps && le < lines ? wide(from[(i64)se * step + (i64)le * line]) : 0.0f;
        }
      }
    }
  }

  __device__ __forceinline__ void store(float* to) const {
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
      u32 s, l;
      place(i, s, l);
      if (along) {
#pragma unroll
        for (u32 e = 0; e < ACCESS; e++) to[(s + e) * WIDTH + l] = held[i][e];
      } else {
        *(Group<float, ACCESS>*)(to + s * WIDTH + l) = *(const Group<float, ACCESS>*)held[i];
      }
    }
  }
};

template <typename T>
__device__ __forceinline__ void multiply_tiles(const Product& product) {
  __shared__ alignas(16) float shared[2 * SLICE * WIDTH];
  float* const left = shared;
  float* const right = shared + SLICE * WIDTH;
  const u32 column = blockIdx.x * TILE, row = blockIdx.y * TILE;
  const i64 batch = blockIdx.z;
  const Matrix& a = product.a;
  const Matrix& b = product.b;
  Panel<T> rows((const T*)a.address + batch * a.batch + row * a.row, a.column, a.row, a.batch,
                product.k, product.m - row, product.m);
  Panel<T> columns((const T*)b.address + batch * b.batch + column * b.column, b.row, b.column,
                   b.batch, product.k, product.n - column, product.n);
  const u32 group = threadIdx.x / (ACROSS * ACROSS);
  const u32 x = threadIdx.x % ACROSS * SIDE, y = threadIdx.x / ACROSS % ACROSS * SIDE;
  float sums[SIDE][SIDE] = {};
  rows.load(0);
  columns.load(0);
  for (u32 first = 0; first < product.k; first += SLICE) {
    if (first > 0) __syncthreads();
    rows.store(left);
    columns.store(right);
    __syncthreads();
    if (first + SLICE < product.k) {
      rows.load(first + SLICE);
      columns.load(first + SLICE);
    }
    // Steps beyond k hold zeros.
    const u32 end = min(SLICE, product.k - first);
#pragma unroll 4
    for (u32 s = group; s < end; s += GROUPS) {
      const Group<float, SIDE> l = *(const Group<float, SIDE>*)(left + s * WIDTH + y);
      const Group<float, SIDE> r = *(const Group<float, SIDE>*)(right + s * WIDTH + x);
#pragma unroll
      for (u32 i = 0; i < SIDE; i++) {
#pragma unroll
        for (u32 j = 0; j < SIDE; j++) sums[i][j] = __fmaf_rn(l.of[i], r.of[j], sums[i][j]);
      }
    }
  }
  // The groups' sums meet in shared memory: those of a group side by side.
  static_assert(GROUPS * TILE * TILE <= 2 * SLICE * WIDTH, "the sums of all groups fit");
  __syncthreads();
#pragma unroll
  for (u32 i = 0; i < SIDE; i++) {
    *(Group<float, SIDE>*)(shared + group * TILE * TILE + (y + i) * TILE + x) =
        *(const Group<float, SIDE>*)sums[i];
  }
  __syncthreads();
  const Matrix& c = product.c;
  T* to = (T*)c.address + batch * c.batch + row * c.row + column * c.column;
  const float alpha = (float)product.alpha, beta = (float)product.beta;
#pragma unroll
  for (u32 at = threadIdx.x; at < TILE * TILE; at += THREADS) {
    const u32 i = at / TILE, j = at % TILE;
    float sum = shared[at];
#pragma unroll
    for (u32 g = 1; g < GROUPS; g++) sum += shared[g * TILE * TILE + at];
    if (row + i < product.m && column + j < product.n) {
      T* place = to + i * c.row + j * c.column;
      narrow(beta == 0 ? alpha * sum : __fmaf_rn(alpha, sum, beta * wide(*place)), place);
    }
  }
}
