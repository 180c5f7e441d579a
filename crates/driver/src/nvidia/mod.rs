//! The numbers of NVIDIA's driver and libraries, with their spelling and meaning.
//!
//! The CUDA backend translates the numbers that it receives; the simulator imitates a CUDA device
//! and returns the same numbers. No other code knows them: crates above see a [`Status`], and a
//! [`Cause`](sconce_base::error::Cause) where they act on a particular failure.
//!
//! | file | numbers of |
//! |---|---|
//! | `driver` | the driver (`CUresult`) |
//! | `blas`, `dnn`, `fft`, `compiler`, `collectives` | cuBLAS, cuDNN, cuFFT, NVRTC, NCCL |

mod blas;
mod collectives;
mod compiler;
mod dnn;
mod driver;
mod fft;

pub use blas::blas_failure;
pub use collectives::comm_failure;
pub use compiler::compiler_failure;
pub use dnn::dnn_failure;
pub use driver::not_permitted;
pub use driver::{driver_failure, is_of_queued_work, name_of, status_of};
pub use fft::{fft_failure, fft_refusal};

use sconce_base::error::{Error, Status};

/// The failure of a call with a library's own number, spelled by its table.
fn library_failure(table: &[(i32, &str, Status)], call: &str, code: i32) -> Error {
    let (name, status) = table
        .iter()
        .find(|(number, ..)| *number == code)
        .map_or(("an unrecognised error", Status::Driver), |(_, name, status)| (*name, *status));
    Error::driver(status, call, code, name)
}
