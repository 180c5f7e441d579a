// Normal numbers with a mean and a standard deviation.

#include "random/entry.cuh"

FLOATS(normal, Normal, 4)
