//! Copies and sets: on which stream, and when the call returns. See `docs/design/copy.md`.
//!
//! | file | idea |
//! |---|---|
//! | `route` | from the kinds of memory of both sides to a route: where it runs, when the call returns |
//! | `transfer` | performing a route, for any shape of what is copied |
//! | `peer` | the order of two devices' streams |
//! | `bytes` | copies of consecutive bytes |
//! | `staged` | copies of ordinary memory, the large ones by several threads |
//! | `rows` | copies and fills of rows |
//! | `layout` | the layout of a strided copy, simplified |
//! | `strided` | from a layout to the way it is copied |
//! | `packed_peer` | strided copies between devices without access to each other |
//! | `kernels` | launches of the kernels that copy rows and strided elements |
//! | `packed` | a packed temporary in place of strided elements of a device |
//! | `pinned_temporary` | pinned memory that a strided copy passes through |
//! | `element` | one element of a device, for a caller that waits for it |
//! | `fill` | setting bytes |
//! | `on_host` | copies of any shape between places in host memory, which threads share |
//! | `host_copy` | copies and fills of host memory by the calling thread |

mod bytes;
mod element;
mod fill;
mod host_copy;
mod kernels;
mod layout;
mod on_host;
mod packed;
mod packed_peer;
mod peer;
mod pinned_temporary;
mod route;
mod rows;
mod staged;
mod strided;
mod transfer;

pub use bytes::copy;
pub use element::{MOST_ELEMENT_BYTES, read_element};
pub use fill::set;
pub use fill::set_on_host;
pub(crate) use packed::PackedOperand;
pub use rows::{copy_2d, set_2d};
pub use strided::copy_on_host;
pub use strided::copy_strided;
pub use transfer::await_writers;

use sconce_driver::RawAddress;

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
