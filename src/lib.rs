//! The C API: one file or folder a noun. Every function checks its arguments, converts them, makes one call into the
//! module of that noun in `crates/`, and writes its results last. `ARCHITECTURE.md` has the picture of the crates.
//!
//! | file | idea |
//! |---|---|
//! | `backends` | opens CUDA or the simulator |
//! | `guard` | runs the body of a function: errors and panics become statuses |
//! | `arguments` | places for results, and texts |
//! | `headed_copy` | structs of results that are copied from a module as they are |
//! | `structs`, `bits` | structs that can grow; types of which any bytes are a value |
//! | `handle` | opaque pointers |
//! | `dtype` | element types |
//! | `library/` | start-up, statuses, the log, the version |
//! | `last_error` | the message of the newest failure of a thread |
//! | `context` | the global switches of `at::globalContext()` |
//! | `device/`, `stream/`, `event` | devices, streams, events |
//! | `memory/`, `host_memory/` | device memory, pinned host memory |
//! | `copy/`, `ipc` | copies and fills; memory between processes |
//! | `module/` | the program's kernels |
//! | `random/` | generators and random numbers |
//! | `blas/`, `dnn`, `fft/` | matrix products, convolutions, Fourier transforms |
//! | `comm/` | communicators |
//! | `tensor/` | tensors |
//! | `backward/` | backward passes |
//! | `comm_tensors/` | tensors on several devices |
//! | `graph/` | CUDA graphs |
//! | `dlpack/` | tensors exchanged with other libraries |
//! | `store/` | stores that the processes of a job share |
//! | `parallel` | work on several threads of the CPU |
//! | `nvtx` | ranges and marks for profilers |
//! | `sanitizer/` | the sanitizer, and its reports |
//! | `sim/` | controls of the simulator |

#![warn(missing_docs)]
#![allow(unsafe_code, reason = "the C boundary")]
#![allow(rustdoc::broken_intra_doc_links, reason = "the C header and Doxygen write [out]")]
#![allow(clippy::missing_safety_doc, reason = "the header states once what holds for pointers")]
#![allow(non_camel_case_types, reason = "types carry their C names, so that a search crosses over")]

/// Makes constants of an enum's values: callers in Rust pass numbers, as callers in C may.
macro_rules! numbers_of {
    ($kind:ident as $number:ty: $($name:ident),+ $(,)?) => {
        $(
            #[doc = concat!("[`", stringify!($kind), "::", stringify!($name), "`] as a number.")]
            pub const $name: $number = $kind::$name as $number;
        )+
    };
}

#[macro_use]
mod arguments;
#[macro_use]
mod bits;
#[macro_use]
mod structs;
#[macro_use]
mod headed_copy;

mod backends;
mod backward;
mod blas;
mod comm;
mod comm_tensors;
mod context;
mod copy;
mod device;
mod dlpack;
mod dnn;
mod dtype;
mod event;
mod fft;
mod graph;
mod guard;
mod handle;
mod host_memory;
mod ipc;
mod last_error;
mod library;
mod memory;
mod module;
mod nvtx;
mod parallel;
mod random;
mod sanitizer;
mod sim;
mod store;
mod stream;
mod tensor;

pub use backward::*;
pub use bits::CBool;
pub use blas::*;
pub use comm::*;
pub use comm_tensors::*;
pub use context::*;
pub use copy::*;
pub use device::*;
pub use dlpack::*;
pub use dnn::*;
pub use dtype::*;
pub use event::*;
pub use fft::*;
pub use graph::*;
pub use host_memory::*;
pub use ipc::*;
pub use last_error::*;
pub use library::*;
pub use memory::*;
pub use module::*;
pub use nvtx::*;
pub use parallel::*;
pub use random::*;
pub use sanitizer::*;
pub use sim::controls as sim_controls;
pub use sim::*;
pub use store::*;
pub use stream::*;
pub use tensor::*;

use arguments::{Out, misaligned, null, path_of, text};
use dtype::dtype_of;
use guard::{guard, guard_lockless, guard_runtime, guard_value};
use library::string;
