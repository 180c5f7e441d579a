// Attention of float32 tensors: docs/design/torch.md.

#include "attention/tiles.cuh"

KERNELS(f32, float)
