// Attention of bfloat16 tensors: docs/design/torch.md.

#include "attention/tiles.cuh"

KERNELS(bf16, Brain)
