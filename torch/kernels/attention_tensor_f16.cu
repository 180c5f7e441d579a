// Attention of float16 tensors on tensor cores: docs/design/attention.md.

// Compute capability: 8.0 and later.

#include "attention/tensor_cores.cuh"

KERNELS_OF(f16, Half, Attention, tensor)
COMBINE(f16, Half, Attention, combine)
