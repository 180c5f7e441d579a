//! The devices of the process, for fills and generators.

use std::sync::Arc;

use sconce_base::collections::per_device::PerDevice;
use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_base::lock::{OnceCell, rank};
use sconce_base::sync::shared_static;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    Dim3, EventFlags, HostRange, KernelArguments, KernelHandle, LaunchShape, RelaxedCapture,
    StreamFlags, StreamHandle, StreamRef,
};
use sconce_kernels::images::{RANDOM, RANDOM_CAPTURE, RANDOM_PERMUTE};
use sconce_math::philox::{DeviceShape, Distribution, Fill};
use sconce_runtime::context::Runtime;
use sconce_runtime::event::NativeEvent;
use sconce_runtime::kernel_loader::LoadedKernels;

use super::arena::{Arena, CHUNK_BYTES};
use super::host_pairs::{self, HostPair};
use super::newest_use::NewestUse;
use super::work::{DeviceWork, RandomKernel};

/// The kernels of one distribution: one for each type, and one for its wide ranges.
const FILLS: usize = Dtype::ALL.len() * 2;

/// The index of a fill's kernel among those of its distribution.
fn index(fill: Fill) -> usize {
    fill.dtype as usize * 2 + usize::from(fill.is_wide())
}

/// What fills and generators keep for a device.
struct DeviceResources {
    shape: OnceCell<rank::GeneratorShape, DeviceShape>,
    fills: [LoadedKernels<FILLS>; Distribution::ALL.len()],
    captures: LoadedKernels<1>,
    permutations: LoadedKernels<1>,
    arena: Arena,
    companion: OnceCell<rank::GeneratorShape, StreamHandle>,
}

shared_static! {
    static DEVICES: PerDevice<DeviceResources> = sconce_base::collections::per_device::per_device!(DeviceResources {
            shape: OnceCell::new(),
            fills: [const { LoadedKernels::new() }; Distribution::ALL.len()],
            captures: LoadedKernels::new(),
            permutations: LoadedKernels::new(),
            arena: Arena::new(),
            companion: OnceCell::new(),
        });
}

/// The devices of the process.
pub(in crate::random) struct ProcessDevices(pub(in crate::random) &'static Runtime);

impl ProcessDevices {
    /// The properties of the device that decide the bits.
    pub(in crate::random) fn shape(&self, device: DeviceIndex) -> Result<DeviceShape> {
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

    fn arena(&self, device: DeviceIndex) -> &'static Arena {
        &DEVICES[device].arena
    }

    fn allocate_chunk(&self, device: DeviceIndex) -> Result<(DevicePtr, NewestUse)> {
        let driver = self.0.driver();
        // No capture records this work, and none has to: launches follow it.
        let _relaxed = RelaxedCapture::enter(driver)?;
        let chunk = driver.memory_alloc(device, CHUNK_BYTES as usize)?;
        let mut zeroing = NewestUse::default();
        // On a stream of its own, since those of the program may be captured.
        let handle = driver.stream_create(device, StreamFlags { non_blocking: true }, 0)?;
        let stream = StreamRef { device, handle };
        let zeroed = driver
            .fill_async(chunk, 0, CHUNK_BYTES as usize, stream)
            .and_then(|()| self.mark(stream, &mut zeroing));
        driver.stream_destroy(stream)?;
        zeroed.map(|()| (chunk, zeroing))
    }

    fn mark(&self, stream: StreamRef, newest: &mut NewestUse) -> Result<()> {
        let event = match newest.event.take() {
            Some(event) => event,
            None => Arc::new(NativeEvent::obtain(self.0, stream.device, EventFlags::default())?),
        };
        let event = newest.event.insert(event);
        self.0.driver().event_record(event.handle(), stream)
    }

    fn follow(&self, stream: StreamRef, newest: &NewestUse) -> Result<()> {
        match &newest.event {
            Some(event) => self.0.driver().stream_wait_event(stream, event.handle()),
            None => Ok(()),
        }
    }

    fn is_past(&self, newest: &NewestUse) -> Result<bool> {
        let Some(event) = &newest.event else { return Ok(true) };
        let driver = self.0.driver();
        // The event was never recorded in a capture.
        let _relaxed = RelaxedCapture::enter(driver)?;
        driver.event_query(event.handle())
    }

    fn wait(&self, newest: &NewestUse) -> Result<()> {
        let Some(event) = &newest.event else { return Ok(()) };
        let driver = self.0.driver();
        // As above.
        let _relaxed = RelaxedCapture::enter(driver)?;
        driver.event_synchronize(event.handle())
    }

    fn companion(&self, stream: StreamRef, device: DeviceIndex) -> Result<StreamRef> {
        if stream.device == device {
            return Ok(stream);
        }
        let driver = self.0.driver();
        let handle = DEVICES[device].companion.get_or_try_init(|| {
            let _relaxed = RelaxedCapture::enter(driver)?;
            driver.stream_create(device, StreamFlags { non_blocking: true }, 0)
        })?;
        Ok(StreamRef { device, handle: *handle })
    }

    fn new_pair(&self, device: DeviceIndex) -> Result<&'static HostPair> {
        host_pairs::page_locked(self.0.driver(), device)
    }

    fn told(&self, pair: &'static HostPair) -> [u64; 2] {
        host_pairs::numbers(pair)
    }

    fn on_new_stream(
        &self,
        device: DeviceIndex,
        queue: &mut dyn FnMut(StreamRef) -> Result<()>,
    ) -> Result<()> {
        let driver = self.0.driver();
        let _relaxed = RelaxedCapture::enter(driver)?;
        let handle = driver.stream_create(device, StreamFlags { non_blocking: true }, 0)?;
        let stream = StreamRef { device, handle };
        let done = queue(stream).and_then(|()| driver.stream_synchronize(stream));
        done.and(driver.stream_destroy(stream))
    }

    fn read(&self, device: DeviceIndex, place: DevicePtr) -> Result<[u64; 2]> {
        let pair = host_pairs::ordinary([0; 2]);
        let host = HostRange::of_static(pair);
        let driver = self.0.driver();
        self.on_new_stream(device, &mut |stream| {
            driver.copy_async(host.raw(), place.into(), host.bytes(), stream)
        })?;
        let numbers = host_pairs::numbers(pair);
        host_pairs::give_back_ordinary(pair);
        Ok(numbers)
    }

    fn write(&self, device: DeviceIndex, place: DevicePtr, pair: [u64; 2]) -> Result<()> {
        let pair = host_pairs::ordinary(pair);
        let host = HostRange::of_static(pair);
        let driver = self.0.driver();
        self.on_new_stream(device, &mut |stream| {
            driver.copy_async(place.into(), host.raw(), host.bytes(), stream)
        })?;
        // A pair whose copy may be pending is not used again.
        host_pairs::give_back_ordinary(pair);
        Ok(())
    }
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
