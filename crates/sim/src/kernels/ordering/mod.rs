//! Sorts, selections and joins.
//!
//! | file | idea |
//! |---|---|
//! | `lines` | elements of a line, read and written with steps |
//! | `sort` | sorts of short lines; counts and passes of long ones |
//! | `gather` | selections and joins |
#![forbid(unsafe_code)]

mod gather;
mod lines;
mod sort;

pub(super) use gather::{JOINS_OF_MANY, KERNELS as GATHERS};
pub(super) use sort::KERNELS as SORTS;
