// Attention of float16 tensors with products of warp groups: docs/design/torch.md.

// Compute capability: 9.0 alone.

#include "attention/warp_groups.cuh"

KERNELS(f16, Half)
