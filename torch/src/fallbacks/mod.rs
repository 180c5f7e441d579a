//! PyTorch's ABI: operations that compiled models call instead of kernels of their own, `aoti_torch_cpu_…` and
//! `aoti_torch_cuda_…`. A file is a family of operations.
