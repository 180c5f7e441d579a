//! Libraries in the process: what models need before they are opened, and opening them.
//!
//! | file | idea |
//! |---|---|
//! | `symbols` | the functions that an ELF file has and needs |
//! | `dynamic_loader` | the system's loader: libraries opened, symbols found |
//! | `process` | PyTorch's names made present: this library for all, aliases; refusal of a real libtorch |
//! | `cuda_runtime` | the CUDA runtime: the system's, or the functions of `runtime` |
//! | `older_system` | models of a system with a newer C library |
//! | `library` | an open library of a model |
//! | `kernels` | open kernel libraries |

pub mod cuda_runtime;
pub mod dynamic_loader;
pub mod kernels;
pub mod library;
pub mod older_system;
pub mod process;
pub mod symbols;
