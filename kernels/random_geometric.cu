// Tries up to and with the first success of probability p.

#include "random/entry.cuh"

FLOATS(geometric, Geometric, 4)
INTEGERS(geometric, Geometric, 4)
