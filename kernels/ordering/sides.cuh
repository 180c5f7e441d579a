// Where the lines of a sort lie: docs/design/ordering.md.
//
// A line is what is sorted at once. Axes go from the innermost to the outermost; strides are in
// bytes.
#pragma once

#include "types.cuh"

// The most axes of lines; `kernels/ordering/sides.rs` has it too.
constexpr u32 MOST_AXES = 3;
constexpr u32 INPUT = 0, VALUES = 1, INDICES = 2;

struct LineAxis {
  u64 divisor;  // the axis's size, and above it the factor that divides by it
  i64 strides[3];
};

// The three operands. Passed by value, in slots of 8 bytes.
struct Sides {
  u64 address[3];
  i64 steps[3];  // from one element of a line to the next
  LineAxis axes[MOST_AXES];
};

// The first element of a line in one operand.
__device__ __forceinline__ char* line_start(const Sides& sides, u32 side, u32 rank, u32 line) {
  char* at = (char*)sides.address[side];
#pragma unroll
  for (u32 a = 0; a < MOST_AXES; a++) {
    if (a >= rank) break;
    // The outermost axis takes what is left.
    const u32 rest = a + 1 == rank ? 0 : quotient(line, sides.axes[a].divisor);
    at += (i64)(line - rest * (u32)sides.axes[a].divisor) * sides.axes[a].strides[side];
    line = rest;
  }
  return at;
}
