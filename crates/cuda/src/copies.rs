//! Copies and fills, in the stream's context: unlike a record or a query, the driver ties these
//! calls to the context that is current.
//!
//! The driver's calls for rows take pitches up to a limit of the device. Rows with a larger pitch
//! are copied or filled one by one. A single row needs no pitch.

use cudarc::driver::sys::CUmemorytype_enum::{CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED};
use cudarc::driver::sys::{CUDA_MEMCPY2D, CUdevice_attribute as Attribute, CUmemorytype, CUstream};
use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Copies, RawAddress, StreamRef, Streams};

use super::CudaDriver;

impl Copies for CudaDriver {
    /// Copies; with ordinary host memory on one side, waits as the contract says. The driver's own
    /// call only *may* wait there, and on systems whose GPUs read ordinary memory it does not.
    fn copy_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.admit("dst", dst, bytes)?;
        self.admit("src", src, bytes)?;
        let pageable = self.is_pageable(dst)? || self.is_pageable(src)?;
        self.queue_copy(dst, src, bytes, stream)?;
        // A copy that is captured into a graph runs later; waiting would break the capture.
        if pageable && !self.stream_is_capturing(stream)? {
            self.stream_synchronize(stream)?;
        }
        Ok(())
    }

    fn copy_direct_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.admit("dst", dst, bytes)?;
        self.admit("src", src, bytes)?;
        self.queue_copy(dst, src, bytes, stream)
    }

    fn copy_peer_async(
        &self,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (to, from) = (self.primary(dst.0)?, self.primary(src.0)?);
        let copy = self.api.cuMemcpyPeerAsync()?;
        let handle = stream.handle.native() as CUstream;
        let _entered = self.enter(stream.device)?;
        // SAFETY: contexts that we hold, device ranges that the driver checks, a live stream.
        let code = unsafe { copy(dst.1.0, to, src.1.0, from, bytes, handle) };
        self.api.check("cuMemcpyPeerAsync", code)
    }

    fn copy_2d_async(
        &self,
        (dst, dst_pitch): (RawAddress, usize),
        (src, src_pitch): (RawAddress, usize),
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if height == 1 {
            return self.copy_async(dst, src, width, stream);
        }
        self.admit("dst", dst, check("dst", dst.get(), dst_pitch, width, height)?)?;
        self.admit("src", src, check("src", src.get(), src_pitch, width, height)?)?;
        if !self.takes_pitch(stream, dst_pitch.max(src_pitch))? {
            return (0..height).try_for_each(|index| {
                let (dst, src) = (row(dst, dst_pitch, index), row(src, src_pitch, index));
                self.copy_async(dst, src, width, stream)
            });
        }
        let copy = self.api.cuMemcpy2DAsync()?;
        let _entered = self.enter(stream.device)?;
        let (dst_pageable, src_pageable) = (self.is_pageable(dst)?, self.is_pageable(src)?);
        let (dst_type, dst_host, dst_device) = side(dst, dst_pageable);
        let (src_type, src_host, src_device) = side(src, src_pageable);
        let rows = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: src_type,
            srcHost: src_host as *const _,
            srcDevice: src_device,
            srcArray: std::ptr::null_mut(),
            srcPitch: src_pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: dst_type,
            dstHost: dst_host as *mut _,
            dstDevice: dst_device,
            dstArray: std::ptr::null_mut(),
            dstPitch: dst_pitch,
            WidthInBytes: width,
            Height: height,
        };
        // SAFETY: `admit` has passed both sides: host ranges are memory that is valid until the copy has finished, and
        // the driver checks device ranges. The driver made the stream, or a program has named it.
        let code = unsafe { copy(&rows, stream.handle.native() as CUstream) };
        self.api.check("cuMemcpy2DAsync_v2", code)?;
        // As in `copy_async`.
        if (dst_pageable || src_pageable) && !self.stream_is_capturing(stream)? {
            self.stream_synchronize(stream)?;
        }
        Ok(())
    }

    fn fill_async(&self, dst: DevicePtr, value: u8, bytes: usize, stream: StreamRef) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let fill = self.api.cuMemsetD8Async()?;
        let _entered = self.enter(stream.device)?;
        // SAFETY: a device range, which the driver checks, and a live stream.
        let code = unsafe { fill(dst.0, value, bytes, stream.handle.native() as CUstream) };
        self.api.check("cuMemsetD8Async", code)
    }

    fn fill_2d_async(
        &self,
        (dst, pitch): (DevicePtr, usize),
        value: u8,
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        if width == 0 || height == 0 {
            return Ok(());
        }
        if height == 1 {
            return self.fill_async(dst, value, width, stream);
        }
        check("dst", dst.0 as usize, pitch, width, height)?;
        if !self.takes_pitch(stream, pitch)? {
            return (0..height).try_for_each(|index| {
                self.fill_async(dst.offset((pitch * index) as u64), value, width, stream)
            });
        }
        let fill = self.api.cuMemsetD2D8Async()?;
        let handle = stream.handle.native() as CUstream;
        let _entered = self.enter(stream.device)?;
        // SAFETY: device rows, which the driver checks, and a live stream.
        let code = unsafe { fill(dst.0, pitch, value, width, height, handle) };
        self.api.check("cuMemsetD2D8Async", code)
    }
}

impl CudaDriver {
    /// Refuses an address that no caller has vouched for, unless it is memory of a device or managed
    /// memory: CUDA would copy from and to any address. Looks up only addresses without a promise.
    #[inline]
    fn admit(&self, what: &str, address: RawAddress, bytes: usize) -> Result<()> {
        match address.is_vouched_for(bytes) || address.is_known_device_memory() {
            true => Ok(()),
            false => self.admit_device_memory(what, address),
        }
    }

    #[cold]
    fn admit_device_memory(&self, what: &str, address: RawAddress) -> Result<()> {
        match self.is_device_memory(address)? {
            true => Ok(()),
            false => Err(Error::invalid_argument(format!(
                "{what} {:#x} was passed as an address of a device, but is not memory of a device; \
                 pass host memory as such",
                address.get()
            ))),
        }
    }

    /// Queues a copy between sides that [`admit`](Self::admit) has passed.
    fn queue_copy(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let copy = self.api.cuMemcpyAsync()?;
        let _entered = self.enter_in_place(stream.device)?;
        let (to, from) = (dst.get() as u64, src.get() as u64);
        // SAFETY: `admit` has passed both sides: host ranges are memory that is valid until the copy has finished, and
        // the driver checks device ranges. The driver made the stream, or a program has named it.
        let code = unsafe { copy(to, from, bytes, stream.handle.native() as CUstream) };
        self.api.check("cuMemcpyAsync", code)
    }

    /// Whether the driver's calls take this: according to its documentation it refuses larger
    /// pitches, and no row is larger than its pitch.
    fn takes_pitch(&self, stream: StreamRef, pitch: usize) -> Result<bool> {
        let raw = self.device(stream.device)?.raw;
        let most = self.attribute(raw, Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH)?;
        Ok(usize::try_from(most).is_ok_and(|most| pitch <= most))
    }
}

/// An address some rows on.
fn row(first: RawAddress, pitch: usize, index: usize) -> RawAddress {
    first.offset(pitch * index)
}

/// The bytes from the first row's first to the last row's last. Refuses pitches that make rows
/// overlap, and ranges beyond all addresses.
fn check(name: &str, address: usize, pitch: usize, width: usize, height: usize) -> Result<usize> {
    if pitch < width {
        return Err(Error::invalid_argument(format!(
            "{name}: a pitch of {pitch} bytes is less than a row of {width}"
        )));
    }
    let span = (height - 1)
        .checked_mul(pitch)
        .and_then(|bytes| bytes.checked_add(width))
        .filter(|bytes| address.checked_add(*bytes).is_some());
    match span {
        Some(bytes) => Ok(bytes),
        None => Err(Error::invalid_argument(format!(
            "{name}: {height} rows of pitch {pitch} from {address:#x} on end beyond all addresses"
        ))),
    }
}

/// Type, host address and device address of one side. Ordinary host memory is called so; of all
/// other memory the driver knows what it is.
fn side(address: RawAddress, pageable: bool) -> (CUmemorytype, usize, u64) {
    match pageable {
        true => (CU_MEMORYTYPE_HOST, address.get(), 0),
        false => (CU_MEMORYTYPE_UNIFIED, 0, address.get() as u64),
    }
}
