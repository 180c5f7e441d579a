// Attention of bfloat16 tensors: docs/design/attention.md. Tensor cores have
// attention_tensor_bf16.cu.

// Compute capability: 7.5 alone.

#include "attention/tiles.cuh"

KERNELS(bf16, Brain)
