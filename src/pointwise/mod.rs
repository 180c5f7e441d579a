//! Element-wise operations: from what is to be computed to launches on a stream, or to a loop of the
//! calling thread. See `docs/design/pointwise.md`.
//!
//! | file | idea |
//! |---|---|
//! | `call` | what a caller asks for |
//! | `lower` | from a call to an operation of the kernels |
//! | `axes` | the axes of a call, sorted and joined |
//! | `host` | computation in host memory by the calling thread |

mod axes;
mod call;
mod host;
mod lower;

pub(crate) use crate::arithmetic::Scalar;
pub(crate) use call::{PointwiseCall, PointwiseInput, PointwiseOp, PointwiseOperand};
pub(crate) use host::on_host;

use crate::context::Runtime;
use crate::driver::StreamRef;
use crate::error::{Error, Result};

/// Queues an operation on a stream of the device whose kernels can use all operands' memory.
pub(crate) fn queue(_: &Runtime, _: StreamRef, call: &PointwiseCall<'_>) -> Result<()> {
    lower::lower(call)?;
    Err(Error::not_supported("element-wise operations have no kernels yet"))
}
