// Element-wise operations in single precision: docs/design/pointwise.md.

#include "pointwise/real_domain.cuh"

KERNELS(f32, RealDomain<float>)
