// Tries up to and with the first success of probability p.

#include "random/entry.cuh"

FLOATS(geometric, Geometric)
INTEGERS(geometric, Geometric)
