// Element-wise operations on complex numbers of doubles: docs/design/pointwise.md.

#include "pointwise/complex_domain.cuh"

KERNELS(c128, ComplexDomain<double>)
