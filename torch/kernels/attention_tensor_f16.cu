// Attention of float16 tensors on tensor cores: docs/design/torch.md.

// Compute capability: 8.0 and later.

#include "attention/tensor_cores.cuh"

KERNELS(f16, Half)
