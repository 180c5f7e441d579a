//! Copies and sets of rows that lie a pitch apart.

use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{RawAddress, StreamRef};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device::peers;
use sconce_runtime::operand::address_range::{self, MemoryKind};
use sconce_runtime::stream::{Stream, after_enqueue};

use super::layout::CopyLayout;
use super::route::CopyRoute;
use super::transfer::{self, Transfer};
use super::{Axis, Rows, bytes, fill, host_copy, kernels, packed_peer};

/// Rows of two sides.
pub(super) struct RowPair {
    pub(super) dst: Rows,
    pub(super) src: Rows,
    pub(super) width: usize,
    pub(super) height: usize,
    /// Both sides are memory of devices.
    pub(super) on_devices: bool,
}

/// Rows of this many bytes between devices are left to the driver: beside the bytes of such a row,
/// going to the next one costs it little.
const WIDE_BYTES: usize = 1 << 20;

impl Rows {
    fn row(self, index: usize) -> RawAddress {
        self.address.offset(index * self.pitch)
    }
}

impl Transfer for RowPair {
    fn dst(&self) -> RawAddress {
        self.dst.address
    }

    fn src(&self) -> RawAddress {
        self.src.address
    }

    fn carry_out(&self) -> Result<()> {
        for index in 0..self.height {
            let (dst, src) = (self.dst.row(index), self.src.row(index));
            host_copy::copy(dst.host(self.width)?, src.host(self.width)?);
        }
        Ok(())
    }

    fn queue(&self, runtime: &Runtime, stream: StreamRef) -> Result<()> {
        if self.on_devices && self.width < WIDE_BYTES {
            let (width, height) = (self.width as u64, self.height as u64);
            return kernels::launch_rows(runtime, stream, [self.dst, self.src], width, height);
        }
        let (dst, src) = ((self.dst.address, self.dst.pitch), (self.src.address, self.src.pitch));
        runtime.driver().copy_2d_async(dst, src, self.width, self.height, stream)
    }

    fn queue_from_ordinary(&self, runtime: &Runtime, stream: Stream) -> Result<()> {
        self.queue(runtime, stream.driver_ref())
    }

    fn copy_to_ordinary(&self, runtime: &Runtime, stream: Stream) -> Result<()> {
        self.queue(runtime, stream.driver_ref())
    }

    fn queue_between(
        &self,
        runtime: &Runtime,
        to: DeviceIndex,
        from: DeviceIndex,
        stream: StreamRef,
    ) -> Result<()> {
        let on_device = |address: RawAddress| DevicePtr(address.get() as u64);
        (0..self.height).try_for_each(|index| {
            let dst = (to, on_device(self.dst.row(index)));
            let src = (from, on_device(self.src.row(index)));
            runtime.driver().copy_peer_async(dst, src, self.width, stream)
        })
    }
}

/// The bytes from the first row's first to the last row's last.
fn span(rows: Rows, width: usize, height: usize, what: &str) -> Result<usize> {
    let Rows { address, pitch } = rows;
    if pitch < width {
        return Err(Error::invalid_argument(format!(
            "{what}_pitch_bytes is {pitch}, less than a row of {width} bytes; a pitch is from the \
             beginning of a row to that of the next"
        )));
    }
    let bytes = (height - 1).checked_mul(pitch).and_then(|bytes| bytes.checked_add(width));
    bytes.ok_or_else(|| address_range::too_far(address.get(), usize::MAX, what))
}

/// Copies `height` rows of `width` bytes.
pub fn copy_2d(
    dst: Rows,
    src: Rows,
    width: usize,
    height: usize,
    non_blocking: bool,
) -> Result<()> {
    let runtime = runtime()?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    let (dst_span, src_span) = (span(dst, width, height, "dst")?, span(src, width, height, "src")?);
    if height == 1 || (dst.pitch == width && src.pitch == width) {
        return bytes::copy(dst.address, src.address, dst_span, non_blocking);
    }
    let to = address_range::kind_of(runtime, dst.address.get(), dst_span, "dst")?;
    let from = address_range::kind_of(runtime, src.address.get(), src_span, "src")?;
    let route = CopyRoute::of(to, from);
    if let CopyRoute::Between { from: source, to: target, managed: false, .. } = route
        && !peers::enable_if_possible(runtime, source, target)?
    {
        // One packed copy costs less than a copy of each row.
        let strides = |pitch| i64::try_from(pitch).unwrap_or(i64::MAX);
        let (dst_stride, src_stride) = (strides(dst.pitch), strides(src.pitch));
        let axes = [
            Axis { size: height as u64, dst_stride, src_stride },
            Axis { size: width as u64, dst_stride: 1, src_stride: 1 },
        ];
        let Some(layout) = CopyLayout::of(1, &axes)? else { return Ok(()) };
        return packed_peer::copy(runtime, [dst.address, src.address], &layout, [target, source]);
    }
    // A kernel of the source's device reaches a peer by now, and managed memory always.
    let on_devices = match route {
        CopyRoute::Within(_) => true,
        CopyRoute::Between { managed, into_managed, .. } => into_managed || !managed,
        _ => false,
    };
    run(runtime, &RowPair { dst, src, width, height, on_devices }, to, from, non_blocking)
}

/// Copies rows of sides that are known.
pub(super) fn run(
    runtime: &Runtime,
    rows: &RowPair,
    dst: MemoryKind,
    src: MemoryKind,
    non_blocking: bool,
) -> Result<()> {
    transfer::run(runtime, rows, dst, src, non_blocking)
}

/// Sets `height` rows of `width` bytes.
pub fn set_2d(rows: Rows, value: u8, width: usize, height: usize) -> Result<()> {
    let runtime = runtime()?;
    if width == 0 || height == 0 {
        return Ok(());
    }
    let Rows { address, pitch } = rows;
    if pitch < width {
        return Err(Error::invalid_argument(format!(
            "pitch_bytes is {pitch}, less than a row of {width} bytes"
        )));
    }
    let span = span(rows, width, height, "ptr")?;
    if height == 1 || pitch == width {
        return fill::set(address, value, span);
    }
    let Some(stream) = fill::stream_for(runtime, address, span)? else {
        for index in 0..height {
            host_copy::fill(rows.row(index).host(width)?, value);
        }
        return Ok(());
    };
    let first = (DevicePtr(address.get() as u64), pitch);
    runtime.driver().fill_2d_async(first, value, width, height, stream.driver_ref())?;
    after_enqueue(runtime, stream)
}
