// The data types of elements, by number, and what depends on the number alone.
#pragma once

#include "types.cuh"

// As in `crates/base/src/element/dtype.rs`.
enum Dtype : u32 {
  F32 = 0,
  F64 = 1,
  F16 = 2,
  BF16 = 3,
  I8 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  U8 = 8,
  BOOL = 9,
  C64 = 10,
  C128 = 11,
  U16 = 12,
  U32 = 13,
  U64 = 14,
  C32 = 15,
  F8_E4M3FN = 16,
  F8_E4M3FNUZ = 17,
  F8_E5M2 = 18,
  F8_E5M2FNUZ = 19,
  F8_E8M0FNU = 20
};

// The integers of a type, in two's complement, cut to its bits.
SCONCE_INLINE i64 wrap(i64 value, u32 type) {
  switch (type) {
    case I8:
      return (i8)value;
    case I16:
      return (i16)value;
    case I32:
      return (i32)value;
    case U8:
      return (u8)value;
    case U16:
      return (u16)value;
    case U32:
      return (u32)value;
    case BOOL:
      return value != 0;
    default:
      return value;
  }
}
