/// \file
/// Types of elements, under torch's names.
#ifndef SCONCE_SCALAR_TYPE_HPP
#define SCONCE_SCALAR_TYPE_HPP

#include <sconce/sconce.h>

#include <cstdint>

namespace sconce::cuda {

/// The type of an element, under torch's names. Answers to `c10::ScalarType`.
enum class ScalarType : std::int32_t {
  Float = SCONCE_DTYPE_F32,           ///< single precision
  Double = SCONCE_DTYPE_F64,          ///< double precision
  Half = SCONCE_DTYPE_F16,            ///< half precision
  BFloat16 = SCONCE_DTYPE_BF16,       ///< the upper half of a single
  Char = SCONCE_DTYPE_I8,             ///< signed byte
  Short = SCONCE_DTYPE_I16,           ///< signed 16-bit integer
  Int = SCONCE_DTYPE_I32,             ///< signed 32-bit integer
  Long = SCONCE_DTYPE_I64,            ///< signed 64-bit integer
  Byte = SCONCE_DTYPE_U8,             ///< unsigned byte
  Bool = SCONCE_DTYPE_BOOL,           ///< one byte, 0 or 1
  ComplexFloat = SCONCE_DTYPE_C64,    ///< two singles
  ComplexDouble = SCONCE_DTYPE_C128,  ///< two doubles
};

}  // namespace sconce::cuda

#endif  // SCONCE_SCALAR_TYPE_HPP
