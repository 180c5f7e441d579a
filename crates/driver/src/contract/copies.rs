//! Copies and fills on streams.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `copy_async`, `copy_peer_async`, `fill_async` | ranges live until the work is done | ordered on the stream; pageable host memory makes the call wait until the source may be reused (and, for a pageable destination, until it is written) | only for pageable memory |
//! | `copy_async`, `copy_direct_async`, `copy_2d_async` | a side that no caller vouches for ([`RawAddress`]) is memory of a device or managed memory | otherwise the call fails, and nothing is copied | – |
//! | `copy_direct_async` | neither side is pageable host memory | as `copy_async` | never |
//! | `copy_2d_async`, `fill_2d_async` | as above for every row; a pitch is at least the width, unless there is one row | as above, and bytes between the rows stay as they are; no row or no width: nothing happens | as `copy_async` |
//!
//! By default `copy_direct_async` is `copy_async`, `copy_2d_async` and `fill_2d_async` queue one copy or fill a row,
//! and `copy_peer_async` is `NotSupported`, as on a driver of one device. If a row is refused, those before it are
//! queued.

use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};

use super::{RawAddress, StreamRef, lacks};

/// The copies and fills of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Copies: Send + Sync {
    /// Copies `bytes`. Each side may be device, pinned or pageable memory; the driver finds out from
    /// the addresses.
    fn copy_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()>;
    /// Copies `bytes` between device and pinned memory. The driver looks up no address that a caller
    /// vouches for, and the call never waits.
    fn copy_direct_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.copy_async(dst, src, bytes, stream)
    }
    /// Copies between the memories of two devices, with or without peer access.
    fn copy_peer_async(
        &self,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        lacks("copy_peer_async", "copies between devices")
    }
    /// Copies `height` rows of `width` bytes. Each side is the address of its first row and its
    /// pitch, the bytes from one row to the next. The driver finds out from the addresses what memory
    /// each side is.
    fn copy_2d_async(
        &self,
        dst: (RawAddress, usize),
        src: (RawAddress, usize),
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let (to, from) = (row_starts(dst.1, width, height)?, row_starts(src.1, width, height)?);
        to.zip(from).try_for_each(|(to, from)| {
            self.copy_async(dst.0.offset(to), src.0.offset(from), width, stream)
        })
    }
    /// Fills `bytes` of device memory with one byte.
    fn fill_async(&self, dst: DevicePtr, value: u8, bytes: usize, stream: StreamRef) -> Result<()>;
    /// Fills `height` rows of `width` bytes with one byte. `dst` is the first row and the pitch.
    fn fill_2d_async(
        &self,
        dst: (DevicePtr, usize),
        value: u8,
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        row_starts(dst.1, width, height)?.try_for_each(|start| {
            let row = DevicePtr(dst.0.0.wrapping_add(start as u64));
            self.fill_async(row, value, width, stream)
        })
    }
}

/// Where each row begins, in bytes from the first one; no row if there is nothing in them.
fn row_starts(pitch: usize, width: usize, height: usize) -> Result<impl Iterator<Item = usize>> {
    let height = if width == 0 { 0 } else { height };
    let reaches = height.saturating_sub(1).checked_mul(pitch).and_then(|at| at.checked_add(width));
    if height > 1 && pitch < width || reaches.is_none() {
        return Err(Error::invalid_argument(format!(
            "{height} rows of {width} bytes cannot be {pitch} bytes apart"
        )));
    }
    Ok((0..height).map(move |row| row * pitch))
}
