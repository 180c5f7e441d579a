// Copies of rows that lie a pitch apart: docs/design/copy.md, "Shapes".
//
// A row is seen as aligned cells of the destination, as wide as one load and store. Only the first
// and the last cell of a row may be there in part, and are copied by bytes. The host chooses cells
// for which source and destination are equally far from alignment in every row, how many threads
// share a row, and whether a thread's cells follow each other along a row or down the rows.

#include "types.cuh"

// These are in `kernels/rows.rs` too: a block's threads, and a thread's cells.
constexpr u32 THREADS = 128;
constexpr u32 EACH = 4;

template <typename T>
__device__ __forceinline__ void copy(char* dst, const char* src, u64 dst_pitch, u64 src_pitch,
                                     u64 width, u64 height, u32 lanes_shift, u32 along) {
  constexpr u32 CELL = sizeof(T);
  const u32 lanes = 1u << lanes_shift, lines = THREADS >> lanes_shift;
  const u32 right = along ? lanes : 0, down = along ? 0 : lines;
  const u32 tile_cells = along ? lanes * EACH : lanes, tile_rows = along ? lines : lines * EACH;
  const u32 lane = threadIdx.x & (lanes - 1), line = threadIdx.x >> lanes_shift;
  // A row that does not begin with a whole cell has one more.
  const u64 end = width + (CELL - 1);
#pragma unroll 1
  for (u64 row = (u64)blockIdx.y * tile_rows + line; row < height;
       row += (u64)gridDim.y * tile_rows) {
#pragma unroll 1
    for (u64 cell = (u64)blockIdx.x * tile_cells + lane; cell * CELL < end;
         cell += (u64)gridDim.x * tile_cells) {
      i64 at[EACH];
      char* to[EACH];
      const char* from[EACH];
      bool whole[EACH];
      T values[EACH];
      // All loads before all stores, so that they are under way together.
#pragma unroll
      for (u32 k = 0; k < EACH; k++) {
        const u64 this_row = row + k * down;
        to[k] = dst + this_row * dst_pitch, from[k] = src + this_row * src_pitch;
        at[k] = (i64)((cell + k * right) * CELL) - (i64)((u64)to[k] & (CELL - 1));
        // What lies below the last row ends up behind the row's end.
        if (this_row >= height) at[k] = (i64)width;
        whole[k] = at[k] >= 0 && at[k] + (i64)CELL <= (i64)width;
        if (whole[k]) values[k] = *(const T*)(from[k] + at[k]);
      }
#pragma unroll
      for (u32 k = 0; k < EACH; k++) {
        if (whole[k]) *(T*)(to[k] + at[k]) = values[k];
      }
#pragma unroll
      for (u32 k = 0; k < EACH && CELL > 1; k++) {
        if (whole[k]) continue;
        const i64 first = at[k] < 0 ? 0 : at[k];
        const i64 last = at[k] + (i64)CELL < (i64)width ? at[k] + (i64)CELL : (i64)width;
#pragma unroll 1
        for (i64 byte = first; byte < last; byte++) to[k][byte] = from[k][byte];
      }
    }
  }
}

#define KERNEL(bytes, T)                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS)                                  \
      sconce_copy_rows_##bytes(char* dst, const char* src, u64 dst_pitch, u64 src_pitch, \
                               u64 width, u64 height, u32 lanes_shift, u32 along) {      \
    copy<T>(dst, src, dst_pitch, src_pitch, width, height, lanes_shift, along);          \
  }

KERNEL(1, unsigned char)
KERNEL(2, unsigned short)
KERNEL(4, u32)
KERNEL(8, u64)
KERNEL(16, uint4)
