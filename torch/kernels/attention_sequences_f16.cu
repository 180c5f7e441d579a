// Attention of sequences of several lengths, of float16 tensors, on tensor cores:
// docs/design/attention.md.

// Compute capability: 8.0 and later.

#include "attention/sequences.cuh"
#include "attention/tensor_cores.cuh"

KERNELS_OF(f16, Half, SequencedAttention, sequences)
COMBINE(f16, Half, SequencedAttention, sequences_combine)
