// Random fills with torch's bits: the entry points. random/fill.cuh says which counter gives which
// element, random/real.cuh and random/discrete.cuh what becomes of it,
// docs/design/random_kernels.md why.
//
// Arguments, 8 bytes each: address, elements, seed, offset (torch's, a multiple of 4), T (torch's
// threads: a multiple of 256 below 2^31), two parameters, address of a captured state or 0. Blocks
// of 256 threads in any grid of x and y.

#include "random/discrete.cuh"
#include "random/fill.cuh"
#include "random/real.cuh"

#define FILL(distribution, Distribution, dtype, Element, First, Second, MIN_BLOCKS)                \
  extern "C" __global__ void __launch_bounds__(256, MIN_BLOCKS)                                    \
      sconce_random_##distribution##_##dtype(u64 address, u64 count, u64 seed, u64 offset,         \
                                             u64 threads, First first, Second second, u64 state) { \
    const Span span = make_span(address, count, seed, offset, threads, state);                     \
    fill<Element>(span, Distribution<Element>(first, second));                                     \
  }

#define REAL(distribution, Distribution, dtype, Element, MIN_BLOCKS) \
  FILL(distribution, Distribution, dtype, Element, double, double, MIN_BLOCKS)
#define FLOATS(distribution, Distribution)        \
  REAL(distribution, Distribution, f32, F32, 4)   \
  REAL(distribution, Distribution, f16, F16, 4)   \
  REAL(distribution, Distribution, bf16, BF16, 4) \
  REAL(distribution, Distribution, f64, F64, 2)
#define INTEGERS(distribution, Distribution)    \
  REAL(distribution, Distribution, i8, I8, 3)   \
  REAL(distribution, Distribution, i16, I16, 4) \
  REAL(distribution, Distribution, i32, I32, 4) \
  REAL(distribution, Distribution, i64, I64, 4) \
  REAL(distribution, Distribution, u8, U8, 3)

FLOATS(uniform, Uniform)
FLOATS(normal, Normal)
FLOATS(log_normal, LogNormal)
FLOATS(exponential, Exponential)
FLOATS(cauchy, Cauchy)
FLOATS(geometric, Geometric)
INTEGERS(geometric, Geometric)
FLOATS(bernoulli, Bernoulli)
INTEGERS(bernoulli, Bernoulli)
REAL(bernoulli, Bernoulli, bool, Bool, 3)

#define WORDS(distribution, Distribution, dtype, Element) \
  FILL(distribution, Distribution, dtype, Element, u64, i64, 3)

WORDS(integers, Integers, f32, F32)
WORDS(integers, Integers, f16, F16)
WORDS(integers, Integers, bf16, BF16)
WORDS(integers, Integers, f64, F64)
WORDS(integers, Integers, i8, I8)
WORDS(integers, Integers, i16, I16)
WORDS(integers, Integers, i32, I32)
WORDS(integers, Integers, i64, I64)
WORDS(integers, Integers, u8, U8)
WORDS(integers, Integers, bool, Bool)

WORDS(integers, IntegersWide, f32_wide, F32)
WORDS(integers, IntegersWide, bf16_wide, BF16)
WORDS(integers, IntegersWide, f64_wide, F64)
WORDS(integers, IntegersWide, i32_wide, I32)
WORDS(integers, IntegersWide, i64_wide, I64)

WORDS(full_range, FullRange, f32, F32)
WORDS(full_range, FullRange, f16, F16)
WORDS(full_range, FullRange, bf16, BF16)
WORDS(full_range, FullRange, f64_wide, F64)
WORDS(full_range, FullRange, i8, I8)
WORDS(full_range, FullRange, i16, I16)
WORDS(full_range, FullRange, i32, I32)
WORDS(full_range, FullRange, i64_wide, I64)
WORDS(full_range, FullRange, u8, U8)
WORDS(full_range, FullRange, bool, Bool)

// Moves the offset of a captured state on, once a replay has taken what it reserved.
extern "C" __global__ void sconce_random_advance(u64 state, u64 increment) {
  if (blockIdx.x == 0 && threadIdx.x == 0) ((u64*)state)[1] += increment;
}
