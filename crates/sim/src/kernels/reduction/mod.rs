//! Reductions, softmax and running sums, with the arithmetic of host tensors.
//!
//! | file | idea |
//! |---|---|
//! | `elements` | device memory that elements are read from and written to |
//! | `reduce` | reductions |
//! | `lines` | softmax and running sums |
#![forbid(unsafe_code)]

mod elements;
mod lines;
mod reduce;

pub(super) use lines::{CHAINS, KERNELS as LINES};
pub(super) use reduce::KERNELS as REDUCTIONS;
