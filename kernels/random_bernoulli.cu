// Ones with probability p, else zeros.

#include "random/entry.cuh"

FLOATS(bernoulli, Bernoulli, 3)
INTEGERS(bernoulli, Bernoulli, 3)
REAL(bernoulli, Bernoulli, bool, Bool, 3)
