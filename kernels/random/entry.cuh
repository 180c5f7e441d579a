// Random fills with torch's bits: what the entry points in random_*.cu have in common. fill.cuh
// says which counter gives which element, real.cuh and discrete.cuh what becomes of it,
// docs/design/random_kernels.md why.
//
// Arguments, 8 bytes each: address, elements (below 2^31, at most 2^31 bytes), seed, offset
// (torch's, a multiple of 4), T (torch's threads: a multiple of 256), two parameters, address of a
// captured state or 0. Blocks of 256 threads in any grid of x and y.
#pragma once

#include "discrete.cuh"
#include "fill.cuh"
#include "real.cuh"

#define FILL(distribution, Distribution, dtype, Element, First, Second, MIN_BLOCKS)                \
  extern "C" __global__ void __launch_bounds__(256, MIN_BLOCKS)                                    \
      sconce_random_##distribution##_##dtype(u64 address, u64 count, u64 seed, u64 offset,         \
                                             u64 threads, First first, Second second, u64 state) { \
    const Span span = make_span(address, count, seed, offset, threads, state);                     \
    fill<Element>(span, Distribution<Element>(first, second));                                     \
  }

#define REAL(distribution, Distribution, dtype, Element, MIN_BLOCKS) \
  FILL(distribution, Distribution, dtype, Element, double, double, MIN_BLOCKS)
// MIN_BLOCKS, which bounds the registers, is what was fastest on an H200.
#define FLOATS(distribution, Distribution, MIN_BLOCKS)     \
  REAL(distribution, Distribution, f32, F32, MIN_BLOCKS)   \
  REAL(distribution, Distribution, f16, F16, MIN_BLOCKS)   \
  REAL(distribution, Distribution, bf16, BF16, MIN_BLOCKS) \
  REAL(distribution, Distribution, f64, F64, 2)
#define INTEGERS(distribution, Distribution, MIN_BLOCKS) \
  REAL(distribution, Distribution, i8, I8, MIN_BLOCKS)   \
  REAL(distribution, Distribution, i16, I16, MIN_BLOCKS) \
  REAL(distribution, Distribution, i32, I32, MIN_BLOCKS) \
  REAL(distribution, Distribution, i64, I64, MIN_BLOCKS) \
  REAL(distribution, Distribution, u8, U8, MIN_BLOCKS)

#define WORDS(distribution, Distribution, dtype, Element) \
  FILL(distribution, Distribution, dtype, Element, u64, i64, 3)
