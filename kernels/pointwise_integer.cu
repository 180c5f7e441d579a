// Element-wise operations on integers and booleans: docs/design/pointwise.md.

#include "pointwise/integer_domain.cuh"

KERNELS(integer, IntegerDomain)
