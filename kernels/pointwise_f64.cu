// Element-wise operations in double precision: docs/design/pointwise.md.

#include "pointwise/real_domain.cuh"

KERNELS(f64, RealDomain<double>)
