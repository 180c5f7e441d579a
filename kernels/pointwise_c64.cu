// Element-wise operations on complex numbers of singles: docs/design/pointwise.md.

#include "pointwise/complex_domain.cuh"

KERNELS(c64, ComplexDomain<float>)
