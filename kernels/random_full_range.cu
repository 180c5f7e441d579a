// Integers from 0 to the largest up to which the type holds them all; `_wide` for those of 64 bits.

#include "random/entry.cuh"

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
