// Attention of float32 tensors: docs/design/attention.md.

#include "attention/tiles.cuh"

KERNELS(f32, float)
