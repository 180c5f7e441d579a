//! Reductions, softmax and running sums, on a stream or by the calling thread. See
//! `docs/design/reduction.md`.
//!
//! Callers have checked that all elements lie in memory that may be used, and that the result is large
//! enough; this room allocates scratch memory alone.
//!
//! | file | idea |
//! |---|---|
//! | `host` | by the calling thread, in host memory |

mod host;

use crate::context::Runtime;
use crate::element::Dtype;
use crate::error::{Error, Result};
use crate::stream::Stream;

pub use crate::folding::{
    ElementOperand, KeptAxis, LineCall, LineOp, ReduceCall, ReduceOp, ReducedAxis,
};
pub use host::{lines_on_host, reduce_on_host};

#[cold]
fn unsupported(operation: &dyn std::fmt::Debug, [input, compute]: [Dtype; 2]) -> Error {
    let (input, compute) = (input.name(), compute.name());
    Error::not_supported(format!(
        "{operation:?} of {input}, calculated in {compute}, is not supported; convert the input to another type"
    ))
}

fn check_reduce(call: &ReduceCall<'_>) -> Result<()> {
    let types = [call.input.dtype, call.compute];
    if call.is_supported() { Ok(()) } else { Err(unsupported(&call.op, types)) }
}

fn check_lines(call: &LineCall<'_>) -> Result<()> {
    let types = [call.input.dtype, call.compute];
    if call.is_supported() { Ok(()) } else { Err(unsupported(&call.op, types)) }
}

/// Queues a reduction on the stream.
pub fn queue_reduce(_runtime: &Runtime, _stream: Stream, call: &ReduceCall<'_>) -> Result<()> {
    check_reduce(call)?;
    Err(unsupported(&call.op, [call.input.dtype, call.compute]))
}

/// Queues a calculation along lines on the stream.
pub fn queue_lines(_runtime: &Runtime, _stream: Stream, call: &LineCall<'_>) -> Result<()> {
    check_lines(call)?;
    Err(unsupported(&call.op, [call.input.dtype, call.compute]))
}
