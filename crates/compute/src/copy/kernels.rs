//! The kernels that copy rows, and those that copy with strides: loaded at first use, the latter
//! launched in parts that they can hold.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::strided::{LaunchLimit, PairAxis, each_part};
use sconce_base::sync::shared_static;
use sconce_base::types::DevicePtr;
use sconce_driver::{RawAddress, StreamRef};
use sconce_kernels::images::{COPY_ROWS, COPY_STRIDED};
use sconce_kernels::{
    STRIDED_AXES, STRIDED_ELEMENTS, StridedAxis, rows_cell_shift, rows_kernel_name, rows_launch,
    strided_kernel_name, strided_launch,
};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;
use smallvec::SmallVec;

use super::Rows;
use super::layout::{CopyLayout, DST, SRC};

/// The widest element is 16 bytes.
const MOST_SHIFT: u32 = 4;

/// What a launch of the kernels that copy with strides can hold.
const LIMIT: LaunchLimit = LaunchLimit { axes: STRIDED_AXES, elements: STRIDED_ELEMENTS };

/// The kernels of an image, by the width of what they move at once: 1, 2, 4, 8 and 16 bytes.
type ByWidth = LoadedKernels<{ MOST_SHIFT as usize + 1 }>;

shared_static! {
    static STRIDED: PerDevice<ByWidth> = sconce_base::collections::per_device::per_device!(ByWidth::new());
}

shared_static! {
    static ROWS: PerDevice<ByWidth> = sconce_base::collections::per_device::per_device!(ByWidth::new());
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
    let as_strided = |axis: &PairAxis| StridedAxis {
        size: axis.size as u32,
        dst_stride: axis.strides[DST],
        src_stride: axis.strides[SRC],
    };
    each_part(&axes, LIMIT, &mut |at, axes| {
        let [dst, src] =
            [DST, SRC].map(|side| DevicePtr(start[side].wrapping_add_signed(at[side])));
        let axes: SmallVec<[StridedAxis; STRIDED_AXES]> = axes.iter().map(as_strided).collect();
        let (shape, arguments) = strided_launch(dst, src, &axes);
        runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
    })
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
            each_part(&lines, LIMIT, &mut |start, axes| {
                let start = start.map(|at| at as u64);
                let n: u64 = axes.iter().map(|axis| axis.size).product();
                assert!(n <= STRIDED_ELEMENTS);
                // Parts come in order, and the last ends where the whole does.
                assert!(start[DST] >= end[DST]);
                let last = |side: usize| -> i64 {
                    axes.iter().map(|axis| (axis.size - 1) as i64 * axis.strides[side]).sum()
                };
                end = [DST, SRC].map(|side| start[side] + last(side) as u64 + 1);
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
