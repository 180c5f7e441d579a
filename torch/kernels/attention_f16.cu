// Attention of float16 tensors: docs/design/attention.md. Tensor cores have
// attention_tensor_f16.cu.

// Compute capability: 7.5 alone.

#include "attention/tiles.cuh"

KERNELS(f16, Half)
