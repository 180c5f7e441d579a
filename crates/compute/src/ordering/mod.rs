//! Sorts, selections by index, and tensors joined along an axis. See `docs/design/ordering.md`.
//!
//! A call describes operands by addresses, sizes and strides. The caller has checked them: ranges, types and
//! devices. Each operation runs as work of a stream, or on the calling thread for host memory. The caller ends
//! what is queued with `stream::after_enqueue`.
//!
//! | file | idea |
//! |---|---|
//! | `calls` | the descriptions of calls |
//! | `axes` | the axes that operands have in common |
//! | `sort` | sorts along an axis |
//! | `sort_kernels` | launches of a sort |
//! | `select` | selections along an axis by index |
//! | `select_kernels` | launches of copies with strides and indices |
//! | `join` | operands joined along an axis |
//! | `join_kernels` | launches of a join |
//! | `many_kernels` | launches of a join of many short parts |
//! | `host` | elements of host memory, read and written by the calling thread and those that share large calls with it |

mod axes;
mod calls;
mod host;
mod join;
mod join_kernels;
mod many_kernels;
mod select;
mod select_kernels;
mod sort;
mod sort_kernels;
#[cfg(all(test, not(loom)))]
mod threads_tests;

pub use calls::{JoinCall, JoinPart, PlacedOperand, SelectCall, SelectIndex, SortCall};
pub use join::{join, join_on_host};
pub use select::{select, select_on_host};
pub use sort::{sort, sort_on_host};
