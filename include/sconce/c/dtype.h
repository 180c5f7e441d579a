/*
 * Sconce: PyTorch's CUDA runtime layer without PyTorch. The C API.
 *
 * Generated from src by cbindgen; do not edit. SCONCE_BLESS=1 cargo test --test header_sync
 * writes it anew.
 */

/**
 * @file
 * Types of elements.
 *
 * What holds for every function is said in sconce/c/library.h.
 */

#ifndef SCONCE_C_DTYPE_H_
#define SCONCE_C_DTYPE_H_

#include <sconce/c/library.h>

/**
 * Where a function takes an element type: torch's default for the call, or the tensor's own.
 */
#define SCONCE_DTYPE_DEFAULT -1

/**
 * Element type.
 */
#ifdef __cplusplus
enum sconce_dtype : int32_t {
#else
typedef int32_t sconce_dtype;
enum {
#endif
  /**
   * Single precision.
   */
  SCONCE_DTYPE_F32 = 0,
  /**
   * Double precision.
   */
  SCONCE_DTYPE_F64 = 1,
  /**
   * Half precision.
   */
  SCONCE_DTYPE_F16 = 2,
  /**
   * Bfloat16.
   */
  SCONCE_DTYPE_BF16 = 3,
  /**
   * Signed byte.
   */
  SCONCE_DTYPE_I8 = 4,
  /**
   * Signed 16-bit integer.
   */
  SCONCE_DTYPE_I16 = 5,
  /**
   * Signed 32-bit integer.
   */
  SCONCE_DTYPE_I32 = 6,
  /**
   * Signed 64-bit integer.
   */
  SCONCE_DTYPE_I64 = 7,
  /**
   * Unsigned byte.
   */
  SCONCE_DTYPE_U8 = 8,
  /**
   * One byte, 0 or 1.
   */
  SCONCE_DTYPE_BOOL = 9,
  /**
   * Two singles, real and imaginary.
   */
  SCONCE_DTYPE_C64 = 10,
  /**
   * Two doubles, real and imaginary.
   */
  SCONCE_DTYPE_C128 = 11,
  /**
   * Unsigned 16-bit integer.
   */
  SCONCE_DTYPE_U16 = 12,
  /**
   * Unsigned 32-bit integer.
   */
  SCONCE_DTYPE_U32 = 13,
  /**
   * Unsigned 64-bit integer.
   */
  SCONCE_DTYPE_U64 = 14,
  /**
   * Two halves, real and imaginary.
   */
  SCONCE_DTYPE_C32 = 15,
  /**
   * 8-bit float, 4 exponent and 3 fraction bits, without infinities.
   */
  SCONCE_DTYPE_F8_E4M3FN = 16,
  /**
   * 8-bit float, 4 exponent and 3 fraction bits, without infinities and negative zero.
   */
  SCONCE_DTYPE_F8_E4M3FNUZ = 17,
  /**
   * 8-bit float, 5 exponent and 2 fraction bits.
   */
  SCONCE_DTYPE_F8_E5M2 = 18,
  /**
   * 8-bit float, 5 exponent and 2 fraction bits, without infinities and negative zero.
   */
  SCONCE_DTYPE_F8_E5M2FNUZ = 19,
  /**
   * 8-bit power of two without a sign: the scale of a block of narrow floats.
   */
  SCONCE_DTYPE_F8_E8M0FNU = 20,
  /**
   * A byte that holds two 4-bit floats of 2 exponent bits and 1 fraction bit.
   */
  SCONCE_DTYPE_F4_E2M1FN_X2 = 21,
};

#endif  /* SCONCE_C_DTYPE_H_ */
