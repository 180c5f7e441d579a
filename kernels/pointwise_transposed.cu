// Conversions between elements in different orders of axes: docs/design/pointwise.md.

#include "pointwise/transposed.cuh"

TRANSPOSED(f32, RealDomain<float>)
TRANSPOSED(f64, RealDomain<double>)
TRANSPOSED(integer, IntegerDomain)
TRANSPOSED(c64, ComplexDomain<float>)
