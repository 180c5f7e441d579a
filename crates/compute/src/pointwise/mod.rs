//! Element-wise operations: from what is to be computed to launches on a stream, or to a loop of the
//! calling thread. See `docs/design/pointwise.md`.
//!
//! | file | idea |
//! |---|---|
//! | `call` | what a caller asks for |
//! | `lower` | from a call to an operation of the kernels |
//! | `few` | frequent calls on few contiguous elements, which take a shorter way |
//! | `axes` | the axes of a call, sorted and joined |
//! | `launch` | kernels, and the parts that they are launched in |
//! | `host` | computation in host memory by the calling thread |

mod axes;
mod call;
mod few;
mod host;
mod launch;
mod lower;

pub use call::{PointwiseCall, PointwiseInput, PointwiseOperand};
pub use host::on_host;
pub use launch::queue;
pub use sconce_math::arithmetic::{ElementOperation, ResultType, Scalar};
