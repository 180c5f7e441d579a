//! Copies and sets: on which stream, and when the call returns. See `docs/design/copy.md`.
//!
//! | file | idea |
//! |---|---|
//! | `side` | what is at an address |
//! | `plan` | from two sides to a route: where it runs, when the call returns |
//! | `transfer` | carrying a route out, whatever the shape of what is copied |
//! | `between` | the order of two devices' streams |
//! | `bytes` | copies of bytes in a row |
//! | `staged` | large copies of ordinary memory |
//! | `set` | setting bytes |
//! | `host_bytes` | what the calling thread does with host memory |

mod between;
mod bytes;
mod host_bytes;
mod plan;
mod set;
mod side;
mod staged;
mod transfer;

pub use bytes::copy;
pub use set::set;

use crate::driver::RawAddress;
use crate::error::{Error, Result};

fn later<T>() -> Result<T> {
    Err(Error::not_supported("copies are being built"))
}

/// One side of a copy of rows: where the first row begins, and how far apart rows begin.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Where the first row begins.
    pub address: RawAddress,
    /// Bytes from the beginning of a row to that of the next.
    pub pitch: usize,
}

/// Copies `height` rows of `width` bytes.
pub fn copy_2d(
    _dst: Rows,
    _src: Rows,
    _width: usize,
    _height: usize,
    _non_blocking: bool,
) -> Result<()> {
    later()
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

/// Copies elements of `element` bytes along up to [`MOST_AXES`] axes, outermost first.
pub fn copy_strided(
    _dst: RawAddress,
    _src: RawAddress,
    _element: usize,
    _axes: &[Axis],
    _non_blocking: bool,
) -> Result<()> {
    later()
}

/// Sets `height` rows of `width` bytes.
pub fn set_2d(_rows: Rows, _value: u8, _width: usize, _height: usize) -> Result<()> {
    later()
}
