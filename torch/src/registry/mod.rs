//! PyTorch's ABI: libraries, schemas and kernels that kernel libraries register, and calls of them.
