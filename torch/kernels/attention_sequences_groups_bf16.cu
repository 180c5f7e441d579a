// Attention of sequences of several lengths, of bfloat16 tensors, with products of warp groups:
// docs/design/attention.md.

// Compute capability: 9.0 alone.

#include "attention/sequences.cuh"
#include "attention/warp_groups.cuh"

KERNELS_OF(bf16, Brain, SequencedAttention, sequences_groups)
