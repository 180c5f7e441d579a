//! Reductions, softmax and running sums.
//!
//! | file | idea |
//! |---|---|
//! | `reduce` | reductions |

mod reduce;

pub(crate) use reduce::{
    COLUMN_THREADS, REDUCE_AXES, ROW_THREADS, ReduceAxes, ReduceAxis, ReduceForm, ReduceImage,
    ReduceKernel, ReduceLaunch,
};
