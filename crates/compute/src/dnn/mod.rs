//! Convolutions. See `docs/design/dnn.md`.
//!
//! | file | idea |
//! |---|---|
//! | `shape` | from a caller's description to a problem: bounds, defaults, sizes of the output |
//! | `choice` | which engine: the first that can be made ready, or the fastest |
//! | `plans` | what is ready, for each handle; what was found out, for each device |
//! | `handle` | one handle a thread and device, bound to the current stream |
//! | `packed` | filters with gaps: a packed temporary stands in for them |
//! | `zero` | convolutions with an empty reduction: results of zeros |
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

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_runtime::context::{is_initialized, refuse_forked_child, runtime};

/// Checks that elements of a type can be convolved.
pub fn check_dtype(dtype: Dtype) -> Result<Dtype> {
    dtype.require(&[Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64], "a convolution")
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
