// Attention of bfloat16 tensors with products of warp groups: docs/design/attention.md.

// Compute capability: 9.0 alone.

#include "attention/warp_groups.cuh"

KERNELS_OF(bf16, Brain, Attention, groups)
