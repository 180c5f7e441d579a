// Special functions: Bessel's, Airy's, digamma and its derivatives, zeta, the normal quantile.

#include "special/launch.cuh"

SCONCE_SPECIAL_FUNCTIONS(SCONCE_SPECIAL_KERNEL)
