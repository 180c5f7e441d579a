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
use crate::driver::Element;
use crate::error::{Error, Result};
use crate::philox::Dtype;

/// The types that can be convolved.
pub fn element(dtype: Dtype) -> Result<Element> {
    match dtype {
        Dtype::F16 => Ok(Element::F16),
        Dtype::Bf16 => Ok(Element::Bf16),
        Dtype::F32 => Ok(Element::F32),
        Dtype::F64 => Ok(Element::F64),
        _ => Err(Error::not_supported(
            "desc.dtype must be SCONCE_DTYPE_F16, _BF16, _F32 or _F64 for a convolution",
        )),
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
