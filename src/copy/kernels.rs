//! The kernels that copy rows, and those that copy with strides: loaded at first use, the latter
//! launched in parts that they can hold.

use super::Rows;
use super::layout::{CopyLayout, DST, SRC};
use crate::collections::per_device::PerDevice;
use crate::context::Runtime;
use crate::driver::{RawAddress, StreamRef};
use crate::error::Result;
use crate::kernel_loader::LoadedKernels;
use crate::kernels::images::{COPY_ROWS, COPY_STRIDED};
use crate::kernels::{
    STRIDED_AXES, STRIDED_ELEMENTS, StridedAxis, rows_cell_shift, rows_kernel_name, rows_launch,
    strided_kernel_name, strided_launch,
};
use crate::strided::{PairAxes, PairAxis};
use crate::sync::shared_static;
use crate::types::DevicePtr;
use smallvec::SmallVec;

/// The widest element is 16 bytes.
const MOST_SHIFT: u32 = 4;

/// The kernels of an image, by the width of what they move at once: 1, 2, 4, 8 and 16 bytes.
type ByWidth = LoadedKernels<{ MOST_SHIFT as usize + 1 }>;

shared_static! {
    static STRIDED: PerDevice<ByWidth> = crate::collections::per_device::per_device!(ByWidth::new());
}

shared_static! {
    static ROWS: PerDevice<ByWidth> = crate::collections::per_device::per_device!(ByWidth::new());
}

/// Queues the copy of `height` rows of `width` bytes. Both sides are memory that kernels of the stream's
/// device can use.
pub(super) fn launch_rows(
    runtime: &Runtime,
    stream: StreamRef,
    [dst, src]: [Rows; 2],
    width: u64,
    height: u64,
) -> Result<()> {
    let [dst, src] =
        [dst, src].map(|side| (DevicePtr(side.address.get() as u64), side.pitch as u64));
    let shift = rows_cell_shift(dst, src, width);
    let kernels = &ROWS[stream.device];
    let name = || rows_kernel_name(1 << shift);
    let kernel = kernels.get(runtime, stream.device, &COPY_ROWS, shift as usize, name)?;
    let (shape, arguments) = rows_launch(shift, dst, src, width, height);
    runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
}

/// Queues the copy. Both sides are memory that kernels of the stream's device can use; the addresses
/// are those that the layout starts from.
pub(super) fn launch(
    runtime: &Runtime,
    stream: StreamRef,
    dst: RawAddress,
    src: RawAddress,
    layout: &CopyLayout,
) -> Result<()> {
    let start = [(dst, DST), (src, SRC)]
        .map(|(address, side)| (address.get() as u64).wrapping_add_signed(layout.start[side]));
    // As wide an element as addresses, strides and runs are multiples of.
    let strides = layout.axes.iter().flat_map(|axis| axis.strides).map(|stride| stride as u64);
    let bits = strides.fold(start[DST] | start[SRC] | layout.width, |bits, stride| bits | stride);
    let shift = bits.trailing_zeros().min(MOST_SHIFT);
    let kernels = &STRIDED[stream.device];
    let name = || strided_kernel_name(1 << shift);
    let kernel = kernels.get(runtime, stream.device, &COPY_STRIDED, shift as usize, name)?;
    let mut axes = layout.axes.clone();
    if layout.width >> shift > 1 {
        axes.insert(0, PairAxis { size: layout.width >> shift, strides: [1 << shift; 2] });
    }
    parts(&axes, start, &mut |[dst, src], axes| {
        let (shape, arguments) = strided_launch(DevicePtr(dst), DevicePtr(src), axes);
        runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
    })
}

/// Launches one part, from where it begins on both sides.
type Launch<'a> = dyn FnMut([u64; 2], &[StridedAxis]) -> Result<()> + 'a;

/// Cuts along the outermost axes until a launch can hold the rest.
fn parts(axes: &[PairAxis], start: [u64; 2], launch: &mut Launch<'_>) -> Result<()> {
    let elements: u64 = axes.iter().map(|axis| axis.size).product();
    let as_strided = |axis: &PairAxis| StridedAxis {
        size: axis.size as u32,
        dst_stride: axis.strides[DST],
        src_stride: axis.strides[SRC],
    };
    let Some((outermost, rest)) = axes.split_last().filter(|_| elements > STRIDED_ELEMENTS) else {
        let axes: SmallVec<[StridedAxis; STRIDED_AXES]> = axes.iter().map(as_strided).collect();
        return launch(start, &axes);
    };
    let inner = elements / outermost.size;
    let each = (STRIDED_ELEMENTS / inner).max(1);
    let mut done = 0;
    while done < outermost.size {
        let size = each.min(outermost.size - done);
        let mut part = PairAxes::from_slice(rest);
        if size > 1 {
            part.push(PairAxis { size, ..*outermost });
        }
        let mut at = start;
        for (at, stride) in at.iter_mut().zip(outermost.strides) {
            *at = at.wrapping_add_signed(done as i64 * stride);
        }
        parts(&part, at, launch)?;
        done += size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_shapes_are_cut_into_launches_that_hold_each_element_once() {
        let line = |size, dst, src| PairAxis { size, strides: [dst, src] };
        for lines in [
            vec![line(1 << 33, 1, 2)],
            vec![line(3, 1, 5), line(1 << 31, 3, 15)],
            vec![line(1 << 32, 1, 1), line(3, 1 << 33, 1 << 34)],
            vec![line(7, 1, 1), line(5, 7, 7)],
        ] {
            let (mut elements, mut end) = (0, [0, 0]);
            parts(&lines, [0, 0], &mut |start, axes| {
                let n: u64 = axes.iter().map(|axis| u64::from(axis.size)).product();
                assert!(n <= STRIDED_ELEMENTS);
                // Parts come in order, and the last ends where the whole does.
                assert!(start[DST] >= end[DST]);
                let last = |stride: fn(&StridedAxis) -> i64| -> i64 {
                    axes.iter().map(|axis| i64::from(axis.size - 1) * stride(axis)).sum()
                };
                end = [
                    start[DST] + last(|axis| axis.dst_stride) as u64 + 1,
                    start[SRC] + last(|axis| axis.src_stride) as u64 + 1,
                ];
                elements += n;
                Ok(())
            })
            .unwrap();
            assert_eq!(elements, lines.iter().map(|line| line.size).product::<u64>());
            let whole = |side: usize| -> u64 {
                lines.iter().map(|line| (line.size - 1) * line.strides[side] as u64).sum()
            };
            assert_eq!(end, [whole(DST) + 1, whole(SRC) + 1]);
        }
    }
}
