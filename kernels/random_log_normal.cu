// Exponentials of normal numbers with a mean and a standard deviation.

#include "random/entry.cuh"

FLOATS(log_normal, LogNormal, 4)
