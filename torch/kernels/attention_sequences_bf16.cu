// Attention of sequences of several lengths, of bfloat16 tensors, on tensor cores:
// docs/design/attention.md.

// Compute capability: 8.0 and later.

#include "attention/sequences.cuh"
#include "attention/tensor_cores.cuh"

KERNELS_OF(bf16, Brain, SequencedAttention, sequences)
COMBINE(bf16, Brain, SequencedAttention, sequences_combine)
