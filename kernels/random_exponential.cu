// Exponential numbers with a rate (lambda).

#include "random/entry.cuh"

FLOATS(exponential, Exponential, 3)
