// Attention of float16 tensors with products of warp groups: docs/design/attention.md.

// Compute capability: 9.0 alone.

#include "attention/warp_groups.cuh"

KERNELS_OF(f16, Half, Attention, groups)
