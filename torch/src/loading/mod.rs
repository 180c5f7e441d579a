//! Libraries in the process: what models need before they are opened, and opening them.
//!
//! | file | idea |
//! |---|---|
//! | `undefined` | the undefined functions of an ELF file |
//! | `process` | PyTorch's names made present: this library for all, aliases, the CUDA runtime; refusal of a real libtorch |
//! | `older_system` | models of a system with a newer C library |
//! | `library` | an open library of a model |
//! | `kernels` | open kernel libraries |

pub mod kernels;
pub mod library;
pub mod older_system;
pub mod process;
pub mod undefined;
