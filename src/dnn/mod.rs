//! Convolutions. See `docs/design/dnn.md`.
//!
//! | file | idea |
//! |---|---|
//! | `shape` | from a caller's description to a problem: bounds, defaults, sizes of the output |
//! | `choice` | which engine: the first that can be made ready, or the fastest |
//! | `plans` | what is ready, for each handle; what was found out, for each device |
//! | `handle` | one handle a thread and device, bound to the current stream |
//! | `packed` | filters with gaps: a packed temporary stands in for them |
//! | `zero` | results that are sums of no products |
//! | `run` | the call |

mod choice;
mod handle;
mod packed;
mod plans;
mod run;
mod shape;
mod zero;

pub use handle::handle;
pub use run::convolution;
pub use shape::ConvolutionRequest;

use crate::context::{is_initialized, refuse_forked_child, runtime};
use crate::driver::ConvolutionOperation;
use crate::element::Dtype;
use crate::error::{Error, Result};

/// Checks that elements of a type can be convolved.
pub fn check_dtype(dtype: Dtype) -> Result<Dtype> {
    dtype.require(&[Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64], "a convolution")
}

/// The operation with a number of the C API.
pub fn operation(value: i32) -> Result<ConvolutionOperation> {
    match value {
        0 => Ok(ConvolutionOperation::Forward),
        1 => Ok(ConvolutionOperation::Data),
        2 => Ok(ConvolutionOperation::Filter),
        _ => Err(Error::invalid_argument(format!(
            "desc.operation is {value}; it must be one of SCONCE_CONVOLUTION_… (0 to 2)"
        ))),
    }
}

/// The library's version.
pub fn version() -> Result<i64> {
    runtime()?.driver().dnn_version()
}

/// Forgets plans and choices.
pub fn clear_plans() -> Result<()> {
    refuse_forked_child()?;
    if !is_initialized() {
        return Ok(()); // Nothing was ever chosen.
    }
    plans::forget_all();
    handle::drop_outdated_plans()
}
