// Where values belong in sorted lines (searchsorted, bucketize).

#include "types.cuh"

// This is in `operations/search.rs` too: a block's threads.
constexpr u32 THREADS = 256;

// `values` has `of_line` values for each line of `length` sorted elements, or all of them belong to
// one line if that is 0. `order` has the places of the elements in order, or is 0. A NaN belongs
// behind all numbers.
template <typename T>
SCONCE_INLINE void search(const T* lines, const T* values, const i64* order, void* result,
                          i64 count, i64 length, i64 of_line, u32 right, u32 narrow) {
  const i64 at = (i64)blockIdx.x * THREADS + threadIdx.x;
  if (at >= count) return;
  const i64 begin = of_line == 0 ? 0 : at / of_line * length;
  const T value = values[at];
  i64 low = 0, high = length;
  while (low < high) {
    const i64 middle = low + (high - low) / 2;
    const T here = lines[begin + (order != 0 ? order[begin + middle] : middle)];
    if (right ? !(here > value) : !(here >= value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (narrow) {
    ((i32*)result)[at] = (i32)low;
  } else {
    ((i64*)result)[at] = low;
  }
}

#define KERNEL(name, T)                                                                 \
  extern "C" __global__ void __launch_bounds__(THREADS) sconce_torch_search_##name(     \
      const T* lines, const T* values, const i64* order, void* result, const i64 count, \
      const i64 length, const i64 of_line, const u32 right, const u32 narrow) {         \
    search<T>(lines, values, order, result, count, length, of_line, right, narrow);     \
  }

KERNEL(f32, float)
KERNEL(f64, double)
KERNEL(i64, i64)
