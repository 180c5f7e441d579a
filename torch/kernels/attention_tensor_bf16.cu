// Attention of bfloat16 tensors on tensor cores: docs/design/attention.md.

// Compute capability: 8.0 and later.

#include "attention/tensor_cores.cuh"

KERNELS_OF(bf16, Brain, Attention, tensor)
COMBINE(bf16, Brain, Attention, combine)
