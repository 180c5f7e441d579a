// Uniform numbers in [low, high).

#include "random/entry.cuh"

FLOATS(uniform, Uniform, 3)
