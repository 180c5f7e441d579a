// Ones with probability p, else zeros.

#include "random/entry.cuh"

FLOATS(bernoulli, Bernoulli)
INTEGERS(bernoulli, Bernoulli)
REAL(bernoulli, Bernoulli, bool, Bool, 3)
