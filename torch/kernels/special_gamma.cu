// The incomplete gamma functions.

#include "special/launch.cuh"

SCONCE_SPECIAL_GAMMAS(SCONCE_SPECIAL_KERNEL)
