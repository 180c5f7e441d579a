// Elements of a floating-point type that the launch names, as doubles.
#pragma once

#include "element.cuh"

SCONCE_INLINE double element_at(const void* data, i64 at, u32 type) {
  switch (type) {
    case F64:
      return ((const double*)data)[at];
    case F16:
      return wide(((const Half*)data)[at]);
    case BF16:
      return wide(((const Brain*)data)[at]);
    default:
      return ((const float*)data)[at];
  }
}

SCONCE_INLINE void set_element(void* data, i64 at, u32 type, double value) {
  switch (type) {
    case F64:
      ((double*)data)[at] = value;
      break;
    case F16:
      ((Half*)data)[at] = to_half((float)value);
      break;
    case BF16:
      ((Brain*)data)[at] = to_brain((float)value);
      break;
    default:
      ((float*)data)[at] = (float)value;
  }
}
