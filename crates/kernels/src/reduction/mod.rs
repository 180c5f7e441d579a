//! Reductions, softmax and running sums.
//!
//! | file | idea |
//! |---|---|
//! | `reduce` | reductions |
//! | `lines` | softmax and running sums |

mod lines;
mod reduce;

pub use lines::{
    LINE_AXES, LINE_THREADS, LineForm, LineKernel, LineLaunch, SOFTMAX_THREADS, chain_tile,
};
pub use reduce::{
    COLUMN_THREADS, REDUCE_AXES, ROW_THREADS, ReduceAxes, ReduceAxis, ReduceForm, ReduceImage,
    ReduceKernel, ReduceLaunch, SHORT_THREADS,
};
