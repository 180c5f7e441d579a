//! Reductions, softmax and running sums, with the arithmetic of host tensors.
//!
//! | file | idea |
//! |---|---|
//! | `elements` | device memory that elements are read from and written to |
//! | `reduce` | reductions |
#![forbid(unsafe_code)]

mod elements;
mod reduce;

pub(super) use reduce::KERNELS as REDUCTIONS;
