// Attention of float16 tensors: docs/design/torch.md.

#include "attention/tiles.cuh"

KERNELS(f16, Half)
