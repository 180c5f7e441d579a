// Orthogonal polynomials.

#include "special/launch.cuh"

SCONCE_SPECIAL_POLYNOMIALS(SCONCE_SPECIAL_KERNEL)
