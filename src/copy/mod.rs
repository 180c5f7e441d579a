//! Copies and sets: on which stream, and when the call returns. See `docs/design/copy.md`.

#[allow(dead_code, reason = "the calls that use it are being built")]
mod staged;

use crate::driver::RawAddress;
use crate::error::{Error, Result};

fn later<T>() -> Result<T> {
    Err(Error::not_supported("copies are being built"))
}

/// Copies bytes; what each side is, is found from the addresses.
pub fn copy(_dst: RawAddress, _src: RawAddress, _bytes: usize, _non_blocking: bool) -> Result<()> {
    later()
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

/// Sets bytes: work of the current device's current stream, or of this thread for host memory.
pub fn set(_ptr: RawAddress, _value: u8, _bytes: usize) -> Result<()> {
    later()
}

/// Sets `height` rows of `width` bytes.
pub fn set_2d(_rows: Rows, _value: u8, _width: usize, _height: usize) -> Result<()> {
    later()
}
