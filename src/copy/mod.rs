//! Copies and sets: on which stream, and when the call returns. See `docs/design/copy.md`.
//!
//! | file | idea |
//! |---|---|
//! | `plan` | from the kinds of memory of two sides to a route: where it runs, when the call returns |
//! | `transfer` | carrying a route out, whatever the shape of what is copied |
//! | `between` | the order of two devices' streams |
//! | `bytes` | copies of bytes in a row |
//! | `staged` | copies of ordinary memory, the large ones by several threads |
//! | `rows` | copies and sets of rows |
//! | `layout` | the layout of a strided copy, simplified |
//! | `strided` | from a shape to the way it is copied |
//! | `kernels` | launches of the kernels that copy with strides |
//! | `packed` | a packed temporary in place of strided elements |
//! | `temporary` | pinned memory that a copy passes through |
//! | `set` | setting bytes |
//! | `host_bytes` | what the calling thread does with host memory |

mod between;
mod bytes;
mod host_bytes;
mod kernels;
mod layout;
mod packed;
mod plan;
mod rows;
mod set;
mod staged;
mod strided;
mod temporary;
mod transfer;

pub use bytes::copy;
pub(crate) use packed::PackedOperand;
pub use rows::{copy_2d, set_2d};
pub use set::set;
pub use strided::copy_strided;

use crate::driver::RawAddress;

/// One side of a copy of rows: where the first row begins, and how far apart rows begin.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Where the first row begins.
    pub address: RawAddress,
    /// Bytes from the beginning of a row to that of the next.
    pub pitch: usize,
}

/// The most axes of a strided copy.
pub const MOST_AXES: usize = 8;

/// An axis of a strided copy; strides in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Axis {
    /// Elements along the axis.
    pub size: u64,
    /// How far apart they are in the destination.
    pub dst_stride: i64,
    /// How far apart they are in the source.
    pub src_stride: i64,
}
