// Cauchy numbers with a median and a scale (sigma).

#include "random/entry.cuh"

FLOATS(cauchy, Cauchy, 3)
