//! Launches of the kernels that copy with strides, with or without indices.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::strided::{LaunchLimit, each_part};
use sconce_base::strided::{SharedAxes, SharedAxis};
use sconce_base::sync::shared_static;
use sconce_base::types::DevicePtr;
use sconce_driver::RawAddress;
use sconce_kernels::images::GATHER_SELECT;
use sconce_kernels::{
    SELECT_AXES, SELECT_DST, SELECT_ELEMENTS, SELECT_INDEX, SELECT_SRC, SelectAxis, SelectLaunch,
    select_kernel_name,
};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;
use sconce_runtime::stream::Stream;

/// The widest unit is 16 bytes.
pub(super) const MOST_SHIFT: u32 = 4;

/// The kernels of an image, by the width of what they move at once: 1, 2, 4, 8 and 16 bytes.
pub(super) type KernelsByWidth = LoadedKernels<{ MOST_SHIFT as usize + 1 }>;

shared_static! {
    static KERNELS: PerDevice<KernelsByWidth> =
        sconce_base::collections::per_device::per_device!(KernelsByWidth::new());
}

/// Which elements of the source are copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedBy {
    pub(super) address: RawAddress,
    /// Whether indices have 64 bits instead of 32.
    pub(super) wide: bool,
    /// Indices are less than this.
    pub(super) size: u64,
    /// Bytes from one index's elements in the source to those of the next.
    pub(super) step: i64,
}

/// Takes the innermost axis away if its elements follow each other in all of these operands. The result
/// is how many bytes lie together.
pub(super) fn take_run<const N: usize>(axes: &mut SharedAxes<N>, wanted: [i64; N]) -> u64 {
    let width = wanted[0].unsigned_abs();
    match axes.first() {
        Some(inner) if inner.strides == wanted => {
            let run = width.saturating_mul(inner.size);
            axes.remove(0);
            run
        }
        _ => width,
    }
}

/// The widest unit that all of these are multiples of, as a power of two.
pub(super) fn unit_shift(multiples: impl IntoIterator<Item = u64>) -> u32 {
    let bits = multiples.into_iter().fold(0, |bits, multiple| bits | multiple);
    bits.trailing_zeros().min(MOST_SHIFT)
}

/// Queues a copy of elements of `width` bytes along axes of destination, source and indices.
pub(super) fn launch(
    runtime: &Runtime,
    stream: Stream,
    [dst, src]: [RawAddress; 2],
    width: usize,
    mut axes: SharedAxes<3>,
    index: Option<IndexedBy>,
) -> Result<()> {
    let run = take_run(&mut axes, [width as i64, width as i64, 0]);
    let [dst, src] = [dst, src].map(|address| address.get() as u64);
    let step = index.map_or(0, |index| index.step);
    let strides = axes.iter().flat_map(|axis| [axis.strides[SELECT_DST], axis.strides[SELECT_SRC]]);
    let shift = unit_shift(strides.map(|stride| stride as u64).chain([dst, src, run, step as u64]));
    let unit = 1 << shift;
    if run > unit {
        axes.insert(0, SharedAxis { size: run >> shift, strides: [unit as i64, unit as i64, 0] });
    }
    let device = stream.driver_ref().device;
    let name = || select_kernel_name(unit as u32);
    let kernel = KERNELS[device].get(runtime, device, &GATHER_SELECT, shift as usize, name)?;
    let limit = LaunchLimit { axes: SELECT_AXES, elements: SELECT_ELEMENTS };
    each_part(&axes, limit, &mut |start, axes| {
        let at =
            |address: u64, operand: usize| DevicePtr(address.wrapping_add_signed(start[operand]));
        let first_index = |index: IndexedBy| at(index.address.get() as u64, SELECT_INDEX);
        let axis =
            |axis: &SharedAxis<3>| SelectAxis { size: axis.size as u32, strides: axis.strides };
        let launch = SelectLaunch {
            dst: at(dst, SELECT_DST),
            src: at(src, SELECT_SRC),
            index: index.map_or(DevicePtr(0), first_index),
            wide: index.is_some_and(|index| index.wide),
            size: index.map_or(0, |index| index.size),
            step,
            axes: axes.iter().map(axis).collect(),
        };
        let (shape, arguments) = launch.launch();
        runtime.driver().kernel_launch(kernel, shape, &arguments, stream.driver_ref())
    })
}
