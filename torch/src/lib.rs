//! PyTorch's stable C ABI over Sconce: compiled models (AOTInductor) and kernel libraries run without PyTorch.
//!
//! See `docs/design/torch.md`. Modules, from the lowest to the highest; each uses those above it in the table only:
//!
//! | module | what it is |
//! |---|---|
//! | `handle_kind` | what kind of object a handle names: the file of libsconce.so |
//! | `api` | the declarations of the C API of libsconce.so |
//! | `error` | failures, and the text of the thread's newest one |
//! | `sconce/` | the C API of libsconce.so, with results and owners of what it makes |
//! | `foreign/` | calls of functions that may throw C++ exceptions |
//! | `abi/` | PyTorch's ABI: constants, tensors, devices, streams, lists, strings, texts of errors |
//! | `kernels/` | kernels of this library: images, loading, launches |
//! | `operations/` | operations that libsconce.so does not have, on the CPU and on devices |
//! | `fallbacks/` | PyTorch's ABI: operations that compiled models call (`aoti_torch_cpu_…`, `aoti_torch_cuda_…`) |
//! | `registry/` | PyTorch's ABI: what kernel libraries register |
//! | `dispatcher/` | PyTorch's ABI: operations that kernel libraries call by name |
//! | `vectors/` | functions of vectors that CPU models call |
//! | `package/` | what a `.pt2` package contains, and private folders |
//! | `runtime/` | functions of the CUDA runtime over the driver |
//! | `loading/` | libraries in the process: aliases, needed functions, `dlopen` |
//! | `model/` | compiled models |
//! | `capi/` | `sconce_torch.h`: the library's own C API |
//! | `testing` | what unit tests of operations share |

#![allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "a handle is a number that libsconce.so checks"
)]

pub mod abi;
pub mod api;
pub mod capi;
pub mod dispatcher;
pub mod error;
pub mod fallbacks;
pub mod foreign;
#[path = "../../crates/base/src/collections/handle_kind.rs"]
pub mod handle_kind;
pub mod kernels;
pub mod loading;
pub mod model;
pub mod operations;
pub mod package;
pub mod registry;
#[allow(non_snake_case, reason = "names of the CUDA runtime")]
mod runtime;
pub mod sconce;
#[cfg(test)]
mod testing;
#[allow(non_snake_case, reason = "names of an ABI")]
pub mod vectors;
