//! Reductions, softmax and running sums, on a stream or by the calling thread. See
//! `docs/design/reduction.md`.
//!
//! Callers have checked that all elements lie in memory that may be used, and that the result is large
//! enough; this module allocates scratch memory alone.
//!
//! | file | idea |
//! |---|---|
//! | `shape` | the axes of a reduction as kernels take them |
//! | `choice` | which kernel a reduction takes |
//! | `threads` | how many threads and blocks, in how many parts |
//! | `queue` | a reduction as launches |
//! | `line_choice` | which kernel a calculation along lines takes, and how many threads |
//! | `line_queue` | softmax and running sums as launches |
//! | `kernels` | the kernels of each device, and launches on a stream |
//! | `host` | by the calling thread, in host memory |

mod choice;
mod host;
mod kernels;
mod line_choice;
mod line_queue;
mod queue;
mod shape;
mod threads;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::{Stream, after_enqueue};

pub use host::{lines_on_host, reduce_on_host};
pub use sconce_math::folding::{
    ElementOperand, KeptAxis, LineCall, LineOp, ReduceCall, ReduceOp, ReducedAxis,
};

#[cold]
fn unsupported(operation: &str, [input, compute]: [Dtype; 2]) -> Error {
    let (input, compute) = (input.name(), compute.name());
    Error::not_supported(format!(
        "{operation} of {input}, calculated in {compute}, is not supported; convert the input to another type"
    ))
}

fn check_reduce(call: &ReduceCall<'_>) -> Result<()> {
    let types = [call.input.dtype, call.compute];
    if call.is_supported() { Ok(()) } else { Err(unsupported(call.op.torch_name(), types)) }
}

fn check_lines(call: &LineCall<'_>) -> Result<()> {
    let types = [call.input.dtype, call.compute];
    if call.is_supported() { Ok(()) } else { Err(unsupported(call.op.torch_name(), types)) }
}

/// Queues a reduction on the stream.
pub fn queue_reduce(runtime: &Runtime, stream: Stream, call: &ReduceCall<'_>) -> Result<()> {
    check_reduce(call)?;
    queue::queue(&kernels::LaunchStream { runtime, stream }, call)?;
    after_enqueue(runtime, stream)
}

/// Queues a calculation along lines on the stream.
pub fn queue_lines(runtime: &Runtime, stream: Stream, call: &LineCall<'_>) -> Result<()> {
    check_lines(call)?;
    line_queue::queue(&kernels::LaunchStream { runtime, stream }, call)?;
    after_enqueue(runtime, stream)
}
