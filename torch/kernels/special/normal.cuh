// The quantile of the normal distribution.
#pragma once

#include "special/tables.cuh"

// Where the standard normal distribution's share below is y; infinite at 0 and 1.
SCONCE_INLINE double normal_quantile(double y) {
  constexpr double END = 0.13533528323661269189;  // exp(-2)
  if (!(y >= 0 && y <= 1)) return not_a_number();
  if (y == 0) return -INFINITE;
  if (y == 1) return INFINITE;
  if (y > END && y < 1 - END) {
    const double distance = y - 0.5;
    return distance * chebyshev_series(QUANTILE_CENTRE, distance * distance, 0, 0.134);
  }
  const bool is_above = y > 0.5;
  const double r = sqrt(-2 * log(is_above ? 1 - y : y)), inverse = 1 / r;
  const double missing = r < 8 ? chebyshev_series(QUANTILE_TAIL, inverse, 1. / 8, 1. / 2)
                               : chebyshev_series(QUANTILE_FAR_TAIL, inverse, 1. / 40, 1. / 8);
  const double size = r - log(r) * inverse - missing * inverse;
  return is_above ? size : -size;
}
