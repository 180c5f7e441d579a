// Where a mask is true (nonzero, masked_select). A block takes a tile of the mask: one kernel
// counts the true elements of each tile, the others know from the sums of these counts where the
// elements of their tile go.

#include "block_sums.cuh"

// These are in `operations/selected/selection.rs` too: axes, a block's threads, and the elements of
// a thread.
constexpr u32 MOST_AXES = 16;
constexpr u32 THREADS = 256;
constexpr u32 EACH = 16;
constexpr u32 TILE = THREADS * EACH;

struct Shape {
  i64 size[MOST_AXES];
};

using Sixteen = Group<u64, 2>;

// Which of a thread's elements are true: a bit each.
static __device__ __forceinline__ u32 truths(const u8* mask, const i64 count) {
  const i64 first = (i64)blockIdx.x * TILE + threadIdx.x * EACH;
  u32 bits = 0;
  if (first + EACH <= count && ((u64)(mask + first) & 15) == 0) {
    const Sixteen bytes = *(const Sixteen*)(mask + first);
#pragma unroll
    for (u32 i = 0; i < EACH; ++i) {
      const u64 byte = (bytes.of[i / 8] >> (8 * (i % 8))) & 0xff;
      bits |= (u32)(byte != 0) << i;
    }
    return bits;
  }
#pragma unroll 1
  for (u32 i = 0; i < EACH; ++i) {
    if (first + i < count && mask[first + i]) bits |= 1u << i;
  }
  return bits;
}

// Lists the places of the tile's true elements, and returns their number.
static __device__ __forceinline__ u32 places(const u8* mask, const i64 count, u16* list) {
  u32 bits = truths(mask, count);
  const Sums<u32> found = block_sums<THREADS>((u32)__popc(bits));
  for (u32 to = found.before; bits != 0; ++to) {
    list[to] = (u16)(threadIdx.x * EACH + __ffs(bits) - 1);
    bits &= bits - 1;
  }
  __syncthreads();
  return found.all;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sconce_torch_selected_count(const u8* mask, i64* result, const i64 count) {
  const u32 found = block_sums<THREADS>((u32)__popc(truths(mask, count))).all;
  if (threadIdx.x == 0) result[blockIdx.x] = found;
}

// Writes the coordinates of true elements. `sums` has the number of true elements up to the end of
// each tile. Rows from `most` on are not written. Strides of the result are in elements.
extern "C" __global__ void __launch_bounds__(THREADS)
    sconce_torch_selected(const u8* mask, const i64* sums, i64* result, const i64 count,
                          const i64 most, const i64 row, const i64 column, const u32 axes,
                          const __grid_constant__ Shape shape) {
  __shared__ u16 list[TILE];
  const u32 found = places(mask, count, list);
  const i64 before = blockIdx.x == 0 ? 0 : sums[blockIdx.x - 1];
  for (u32 i = threadIdx.x; i < found && before + i < most; i += THREADS) {
    i64 rest = (i64)blockIdx.x * TILE + list[i];
    i64* const to = result + (before + i) * row;
#pragma unroll 1
    for (u32 a = axes; a-- > 0;) {
      const i64 size = shape.size[a];
      // The outermost axis takes what is left.
      const i64 next = a == 0 ? 0 : rest / size;
      to[a * column] = rest - next * size;
      rest = next;
    }
  }
}

// Writes the true elements themselves, one after another.
template <class T>
static __device__ __forceinline__ void take(const u8* mask, const i64* sums, const T* from, T* to,
                                            const i64 count) {
  __shared__ u16 list[TILE];
  const u32 found = places(mask, count, list);
  const i64 before = blockIdx.x == 0 ? 0 : sums[blockIdx.x - 1];
  from += (i64)blockIdx.x * TILE;
  for (u32 i = threadIdx.x; i < found; i += THREADS) to[before + i] = from[list[i]];
}

#define TAKE(bytes, T)                                                                      \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_selected_take_##bytes( \
      const u8* mask, const i64* sums, const T* from, T* to, const i64 count) {             \
    take(mask, sums, from, to, count);                                                      \
  }

TAKE(1, u8)
TAKE(2, u16)
TAKE(4, u32)
TAKE(8, u64)
TAKE(16, Sixteen)
