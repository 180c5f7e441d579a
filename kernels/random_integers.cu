// Integers from base on in a range; `_wide` for ranges of 2^28 and more.

#include "random/entry.cuh"

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
