// Where a mask is true: the coordinates of its elements, in order (nonzero, masked_select).

#include "types.cuh"

// These are in `operations/selected.rs` too: axes, and a block's threads.
constexpr u32 MOST_AXES = 16;
constexpr u32 THREADS = 256;

struct Shape {
  i64 size[MOST_AXES];
};

// `sums` has the number of true elements up to and including each one. Rows from `most` on are not
// written. Strides of the result are in elements.
extern "C" __global__ void __launch_bounds__(THREADS)
    sconce_torch_selected(const u8* mask, const i64* sums, i64* result, const i64 count,
                          const i64 most, const i64 row, const i64 column, const u32 axes,
                          const __grid_constant__ Shape shape) {
  const i64 at = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (at >= count || !mask[at]) return;
  const i64 to = sums[at] - 1;
  if (to >= most) return;
  i64 rest = at;
#pragma unroll 1
  for (u32 a = axes; a-- > 0;) {
    const i64 size = shape.size[a];
    // The outermost axis takes what is left.
    const i64 next = a == 0 ? 0 : rest / size;
    result[to * row + a * column] = rest - next * size;
    rest = next;
  }
}
