//! New tensors with values. Without a place they are made on the current device, as work of its current
//! stream.
//!
//! | file | idea |
//! |---|---|
//! | `filled` | one value |
//! | `sequence` | evenly spaced numbers, the identity matrix |
//! | `random` | random numbers |

mod filled;
mod random;
mod sequence;

pub use filled::{fill, full_like};
pub use random::{fill_random, randperm};
pub use sequence::{arange, arange_dtype, eye, linspace};
