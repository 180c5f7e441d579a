//! Sorts, selections by index, and tensors joined along an axis. See `docs/design/ordering.md`.
//!
//! A call describes operands by addresses, sizes and strides. The caller has checked them: ranges, types and
//! devices. Each operation runs as work of a stream, or on the calling thread for host memory.
//!
//! | file | idea |
//! |---|---|
//! | `operand` | an operand: an address and strides |
//! | `sort` | sorts along an axis |
//! | `select` | selections along an axis by index |
//! | `join` | operands joined along an axis |
//! | `host` | elements of host memory, read and written by the calling thread |

mod host;
mod join;
mod operand;
mod select;
mod sort;

pub use join::{JoinCall, JoinPart, join_on_host};
pub use operand::PlacedOperand;
pub use select::{SelectCall, SelectIndex, select_on_host};
pub use sort::{SortCall, sort_on_host};
