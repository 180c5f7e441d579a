//! The device behind fills and generators, as a trait: the unit tests of this room implement it with a device
//! that replays graphs in one thread.

use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::OnceCell;

use super::arena::{Arena, CHUNK_BYTES};
use crate::collections::per_device::PerDevice;
use crate::context::Runtime;
use crate::driver::{
    Dim3, Driver, HostRange, KernelArguments, KernelHandle, LaunchShape, RelaxedCapture,
    StreamFlags, StreamRef,
};
use crate::element::Dtype;
use crate::error::Result;
use crate::kernel_loader::LoadedKernels;
use crate::kernels::images::{RANDOM, RANDOM_CAPTURE, RANDOM_PERMUTE};
use crate::kernels::{PERMUTE_KERNEL, TAKE_KERNEL, fill_kernel_name};
use crate::lock::Mutex;
use crate::philox::{DeviceShape, Distribution, Fill};
use crate::sync::shared_static;
use crate::types::{DeviceIndex, DevicePtr};

/// A kernel of this room.
#[derive(Clone, Copy, Debug)]
pub(super) enum RandomKernel {
    /// Computes elements.
    Fill(Fill),
    /// Takes a piece of a captured generator's sequence.
    Take,
    /// Gives equal keys a random order.
    Permute,
}

/// The kernels of one distribution: one for each type, and one for its wide ranges.
const FILLS: usize = Dtype::ALL.len() * 2;

/// The index of a fill's kernel among those of its distribution.
fn index(fill: Fill) -> usize {
    fill.dtype as usize * 2 + usize::from(fill.is_wide())
}

impl RandomKernel {
    pub(super) fn name(self) -> String {
        match self {
            RandomKernel::Take => TAKE_KERNEL.to_owned(),
            RandomKernel::Permute => PERMUTE_KERNEL.to_owned(),
            RandomKernel::Fill(fill) => fill_kernel_name(&fill),
        }
    }
}

/// A device that fills and generators use.
pub(super) trait DeviceWork {
    /// Whether the stream is being captured.
    fn is_capturing(&self, stream: StreamRef) -> Result<bool>;
    /// Loads a kernel, so that its launch does not fail for want of it.
    fn load(&self, device: DeviceIndex, kernel: RandomKernel) -> Result<()>;
    /// Launches a grid of blocks along x and y, each of `block` threads.
    fn launch(
        &self,
        kernel: RandomKernel,
        grid: [u32; 2],
        block: u32,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()>;
    /// The memory for records and slots.
    fn arena(&self, device: DeviceIndex) -> &Arena;
    /// Allocates a chunk of zeros for that memory, also while streams are captured. Waits for the zeros.
    fn allocate_chunk(&self, device: DeviceIndex) -> Result<DevicePtr>;
    /// Reads two numbers after all work of the device has finished.
    fn read(&self, device: DeviceIndex, place: DevicePtr) -> Result<[u64; 2]>;
    /// Writes two numbers after all work of the device has finished.
    fn write(&self, device: DeviceIndex, place: DevicePtr, pair: [u64; 2]) -> Result<()>;
}

/// What fills and generators keep for a device.
struct DeviceResources {
    shape: OnceCell<DeviceShape>,
    fills: [LoadedKernels<FILLS>; Distribution::ALL.len()],
    captures: LoadedKernels<1>,
    permutations: LoadedKernels<1>,
    arena: Arena,
}

shared_static! {
    static DEVICES: PerDevice<DeviceResources> = crate::collections::per_device::per_device!(DeviceResources {
            shape: OnceCell::new(),
            fills: [const { LoadedKernels::new() }; Distribution::ALL.len()],
            captures: LoadedKernels::new(),
            permutations: LoadedKernels::new(),
            arena: Arena::new(),
        });
}

/// The devices of the process.
pub(super) struct ProcessDevices(pub(super) &'static Runtime);

impl ProcessDevices {
    /// The properties of the device that decide the bits.
    pub(super) fn shape(&self, device: DeviceIndex) -> Result<DeviceShape> {
        DEVICES[device]
            .shape
            .get_or_try_init(|| {
                let properties = self.0.driver().device_properties(device)?;
                let positive = |number: i32| u32::try_from(number).unwrap_or(0);
                Ok(DeviceShape {
                    multi_processors: positive(properties.multi_processor_count),
                    threads_per_multi_processor: positive(
                        properties.max_threads_per_multi_processor,
                    ),
                })
            })
            .copied()
    }

    fn kernel(&self, device: DeviceIndex, kernel: RandomKernel) -> Result<KernelHandle> {
        let resources = &DEVICES[device];
        let name = || kernel.name();
        match kernel {
            RandomKernel::Fill(fill) => {
                let at = fill.distribution as usize;
                resources.fills[at].get(self.0, device, &RANDOM[at], index(fill), name)
            }
            RandomKernel::Take => resources.captures.get(self.0, device, &RANDOM_CAPTURE, 0, name),
            RandomKernel::Permute => {
                resources.permutations.get(self.0, device, &RANDOM_PERMUTE, 0, name)
            }
        }
    }
}

impl DeviceWork for ProcessDevices {
    fn is_capturing(&self, stream: StreamRef) -> Result<bool> {
        self.0.driver().stream_is_capturing(stream)
    }

    fn load(&self, device: DeviceIndex, kernel: RandomKernel) -> Result<()> {
        self.kernel(device, kernel).map(|_| ())
    }

    fn launch(
        &self,
        kernel: RandomKernel,
        grid: [u32; 2],
        block: u32,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        let kernel = self.kernel(stream.device, kernel)?;
        let [x, y] = grid;
        let shape =
            LaunchShape { grid: Dim3 { x, y, z: 1 }, block: Dim3::line(block), shared_bytes: 0 };
        self.0.driver().kernel_launch(kernel, shape, arguments, stream)
    }

    fn arena(&self, device: DeviceIndex) -> &Arena {
        &DEVICES[device].arena
    }

    fn allocate_chunk(&self, device: DeviceIndex) -> Result<DevicePtr> {
        let driver = self.0.driver();
        // No capture records this work, and none has to: it has finished before a captured fill is queued.
        let _relaxed = RelaxedCapture::enter(driver)?;
        let chunk = driver.memory_alloc(device, CHUNK_BYTES as usize)?;
        // On a stream of its own, so that the wait is for this work only.
        let handle = driver.stream_create(device, StreamFlags { non_blocking: true }, 0)?;
        let stream = StreamRef { device, handle };
        let zeroed = driver
            .fill_async(chunk, 0, CHUNK_BYTES as usize, stream)
            .and_then(|()| driver.stream_synchronize(stream));
        driver.stream_destroy(stream)?;
        zeroed.map(|()| chunk)
    }

    fn read(&self, device: DeviceIndex, place: DevicePtr) -> Result<[u64; 2]> {
        self.0.driver().device_synchronize(device)?;
        read_pair(self.0.driver(), place, StreamRef::default_of(device))
    }

    fn write(&self, device: DeviceIndex, place: DevicePtr, pair: [u64; 2]) -> Result<()> {
        self.0.driver().device_synchronize(device)?;
        write_pair(self.0.driver(), place, pair, StreamRef::default_of(device))
    }
}

/// Two numbers in host memory, for copies from and to the device. The memory is never freed: a driver may
/// still use it after a call has failed.
type HostPair = [AtomicU64; 2];

/// The pairs that no copy uses.
static SPARE_PAIRS: Mutex<Vec<&'static HostPair>> = Mutex::new(Vec::new());

fn host_pair(numbers: [u64; 2]) -> &'static HostPair {
    let spare = SPARE_PAIRS.lock().pop();
    let pair = spare.unwrap_or_else(|| Box::leak(Box::default()));
    pair.iter().zip(numbers).for_each(|(to, from)| to.store(from, Ordering::Relaxed));
    pair
}

/// Reads two numbers from the device; waits for the stream.
fn read_pair(driver: &dyn Driver, from: DevicePtr, stream: StreamRef) -> Result<[u64; 2]> {
    let pair = host_pair([0; 2]);
    let host = HostRange::of_static(pair);
    driver.copy_async(host.raw(), from.into(), host.bytes(), stream)?;
    driver.stream_synchronize(stream)?;
    let numbers = [0, 1].map(|index: usize| pair[index].load(Ordering::Relaxed));
    SPARE_PAIRS.lock().push(pair);
    Ok(numbers)
}

/// Writes two numbers to the device; waits for the stream.
fn write_pair(
    driver: &dyn Driver,
    to: DevicePtr,
    numbers: [u64; 2],
    stream: StreamRef,
) -> Result<()> {
    let pair = host_pair(numbers);
    let host = HostRange::of_static(pair);
    driver.copy_async(to.into(), host.raw(), host.bytes(), stream)?;
    // A pair whose copy may be pending is not used again.
    driver.stream_synchronize(stream)?;
    SPARE_PAIRS.lock().push(pair);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_a_distribution_has_an_index_of_its_own() {
        for distribution in Distribution::ALL {
            let fill = |dtype| Fill { distribution, dtype, first: 1, second: 0 };
            let narrow = Dtype::ALL.into_iter().filter(|dtype| distribution.supports(*dtype));
            let wide = Fill { distribution, ..Fill::integers(Dtype::I64, 1 << 40, 0) };
            let mut indices: Vec<usize> = narrow.map(|dtype| index(fill(dtype))).collect();
            if matches!(distribution, Distribution::Integers) {
                indices.push(index(wide));
            }
            assert!(indices.iter().all(|index| *index < FILLS));
            let all = indices.len();
            indices.sort_unstable();
            indices.dedup();
            assert_eq!(indices.len(), all, "{distribution:?}");
        }
    }
}
