// What a launch along lines is given: docs/design/reduction.md.
#pragma once

#include "../reduce/general.cuh"

// These are in `crates/kernels/src/reduction/lines.rs` too.
constexpr u32 LINE_AXES = 5;

enum : u32 { SOFTMAX, LOG_SOFTMAX, CUMSUM, CUMPROD };

// Axes from the innermost; a line's place in the result is `by_other`.
struct Lines {
  u64 input, output;
  u8 op, input_type, compute, output_type, unused, axes_count, unused2[2];
  u64 lines;
  u64 length;
  i64 input_stride, output_stride;
  u64 chunk;    // elements that a block of grid y takes
  u64 offsets;  // what is before each chunk but the first
  i64 offset_of_line, offset_of_chunk;
  u8 lanes_log2, rows_log2, unused3[6];
  Axis axes[LINE_AXES];
};

// Elements of any type. Not inlined: the conversions are long.
template <typename A>
__device__ __noinline__ A load_any(const Lines& l, i64 at) {
  return Loader<A>::load((const void*)l.input, l.input_type, l.compute, at);
}

template <typename A>
__device__ __noinline__ void write_any(const Lines& l, i64 at, A value) {
  store((void*)l.output, l.output_type, l.compute, at, value);
}
