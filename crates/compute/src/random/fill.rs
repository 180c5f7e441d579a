//! Fills: from a request to launches.

use sconce_base::collections::slab::Key;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::StreamRef;
use sconce_kernels::FillLaunch;
use sconce_math::philox::{DeviceShape, Fill, LaunchPlan, Part};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device::{self, reach};
use sconce_runtime::operand::address_range::{self, MemoryKind};
use sconce_runtime::stream::{self, after_enqueue};

use super::device::{ProcessDevices, RandomKernel};
use super::draw::{DrawRequest, with_draw};
use super::generator;
use super::registry;
use super::request::FillRequest;
use super::stream_capture::CapturingWork;

/// Threads of a block.
const BLOCK: u64 = 256;
/// Blocks a multiprocessor, with which large fills were the fastest on an H200.
const BLOCKS_PER_PROCESSOR: u64 = 48;
/// The fewest draws of a thread that are worth its set-up.
const DRAWS_A_THREAD: u64 = 5;
/// The largest extent of a grid along y.
const LARGEST_Y: u64 = 65_535;

/// Fills `n` elements at `address` on the current stream; without a generator, from the current
/// device's default one.
pub fn fill(
    address: usize,
    n: usize,
    dtype: Dtype,
    request: FillRequest,
    generator: Option<Key>,
) -> Result<()> {
    fill_on(device::current()?, address, n, dtype, request, generator)
}

/// As [`fill`], on the current stream of a device that need not be the current one.
pub fn fill_on(
    device: DeviceIndex,
    address: usize,
    n: usize,
    dtype: Dtype,
    request: FillRequest,
    generator: Option<Key>,
) -> Result<()> {
    let (fill, parts) = request.check(dtype)?;
    let runtime = runtime()?;
    if let Some(key) = generator {
        same_device(generator::device_of(key)?, device)?;
    }
    if n == 0 {
        return Ok(());
    }
    check_memory(runtime, address, n, dtype, device)?;
    let stream = stream::current_on(runtime, device)?;
    let key = match generator {
        Some(key) => key,
        None => registry::default_of(device)?,
    };
    let work = ProcessDevices(runtime);
    let target = FillTarget {
        ptr: DevicePtr(address as u64),
        n: n as u64 * parts,
        shape: work.shape(device)?,
    };
    launch(&work, key, &fill, target, stream.driver_ref())?;
    after_enqueue(runtime, stream)
}

#[cold]
fn other_device(generator: DeviceIndex, current: DeviceIndex) -> Error {
    Error::new(
        Status::CrossDevice,
        format!(
            "generator belongs to device {generator}, but the current device is {current}; make \
             device {generator} current, or use a generator of device {current}"
        ),
    )
}

fn same_device(generator: DeviceIndex, current: DeviceIndex) -> Result<()> {
    if generator == current { Ok(()) } else { Err(other_device(generator, current)) }
}

/// Refuses memory to which a kernel cannot write, since the write would end the device's context,
/// and elements beyond the end of the block or allocation, which would overwrite a neighbour.
fn check_memory(
    runtime: &Runtime,
    address: usize,
    n: usize,
    dtype: Dtype,
    current: DeviceIndex,
) -> Result<()> {
    let element = dtype.bytes();
    if address == 0 {
        return Err(Error::invalid_argument(format!(
            "ptr is NULL, but n is {n}; pass the address of that memory, or an n of 0"
        )));
    }
    let bytes = n.checked_mul(element).ok_or_else(|| {
        Error::invalid_argument(format!(
            "n is {n}: so many elements of {} do not fit behind ptr {address:#x}",
            dtype.name()
        ))
    })?;
    // The parts of a complex number are written one by one.
    let (real, _) = dtype.real();
    if !address.is_multiple_of(real.bytes()) {
        return Err(Error::invalid_argument(format!(
            "ptr {address:#x} is not aligned for {}; it must be a multiple of {}",
            dtype.name(),
            real.bytes()
        )));
    }
    match address_range::kind_of(runtime, address, bytes, "ptr")? {
        MemoryKind::Device(device) => reach::allow(runtime, current, device, address, "ptr"),
        MemoryKind::Pinned | MemoryKind::Managed(_) => Ok(()),
        MemoryKind::Ordinary => Err(Error::invalid_argument(format!(
            "ptr {address:#x} is memory that no device can write to"
        ))),
    }
}

/// The memory of a fill: `n` real elements at an address, and the shape of the device.
#[derive(Clone, Copy)]
pub(super) struct FillTarget {
    pub(super) ptr: DevicePtr,
    pub(super) n: u64,
    pub(super) shape: DeviceShape,
}

/// Reserves and launches. All checks come first, so that a refused fill draws nothing. A launch
/// that the driver refuses has drawn its numbers, as in torch.
pub(super) fn launch(
    work: &dyn CapturingWork,
    generator: Key,
    fill: &Fill,
    target: FillTarget,
    stream: StreamRef,
) -> Result<()> {
    work.load(stream.device, RandomKernel::Fill(*fill))?;
    let bytes = fill.dtype.bytes();
    let plan = LaunchPlan::new(target.n, bytes, fill.elements_per_draw(), target.shape);
    let request = DrawRequest::of_kernel(plan.increment());
    with_draw(generator, work, stream, request, |draw| {
        let (seed, offset, state) = draw.numbers();
        for part in plan.parts() {
            let launch = FillLaunch {
                address: target.ptr.offset(part.first * bytes as u64),
                n: part.n,
                seed,
                offset: offset.wrapping_add(part.distance),
                threads: part.threads,
                first: fill.first,
                second: fill.second,
                state,
            };
            let (grid, arguments) = (grid(&part, fill, target.shape), launch.arguments());
            work.launch(RandomKernel::Fill(*fill), grid, BLOCK as u32, &arguments, stream)?;
        }
        Ok(())
    })
}

/// The grid of a launch that was measured fastest on an H200. A short fill has a thread for each
/// element, but at most two blocks per multiprocessor. In a longer fill x covers torch's threads, a
/// few neighbours for each thread, and y the draws of a thread, at least five for each if there are
/// enough. Kernels stride over the rest. The grid does not change the results.
fn grid(part: &Part, fill: &Fill, shape: DeviceShape) -> [u32; 2] {
    let processors = u64::from(shape.multi_processors);
    if part.n <= part.threads {
        return [part.n.div_ceil(BLOCK).min(2 * processors) as u32, 1];
    }
    // As many neighbours as one store of at most 16 bytes holds.
    let neighbours = if fill.dtype.bytes() == 8 { 2 } else { 4 };
    let x = part.threads.div_ceil(neighbours * BLOCK);
    let rows = part.n / (part.threads * fill.elements_per_draw()) / DRAWS_A_THREAD;
    let enough = (processors * BLOCKS_PER_PROCESSOR).div_ceil(x);
    [x as u32, rows.min(enough).clamp(1, LARGEST_Y) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_cover_what_there_is_and_stay_within_limits() {
        let shape = DeviceShape { multi_processors: 132, threads_per_multi_processor: 2048 };
        let fill = Fill::full_range(Dtype::F32);
        for (n, expected) in [
            (1, [1, 1]),
            (4096, [16, 1]),
            (270_336, [264, 1]),
            (270_337, [264, 1]),
            (1 << 24, [264, 3]),
            (1 << 29, [264, 24]),
        ] {
            let plan = LaunchPlan::new(n, 4, fill.elements_per_draw(), shape);
            let part = plan.parts().next().unwrap();
            assert_eq!(grid(&part, &fill, shape), expected, "{n}");
        }
        let tiny = DeviceShape { multi_processors: 1, threads_per_multi_processor: 256 };
        let plan = LaunchPlan::new(1 << 30, 1, 4, tiny);
        let [x, y] = grid(&plan.parts().next().unwrap(), &Fill::full_range(Dtype::U8), tiny);
        assert_eq!((x, y), (1, 48));
    }
}
