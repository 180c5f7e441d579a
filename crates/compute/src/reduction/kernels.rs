//! The kernels of each device, loaded at first use, and their launches on a stream.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::lock::{OnceCell, rank};
use sconce_base::sync::shared_static;
use sconce_base::types::DevicePtr;
use sconce_kernels::images::{LINES, REDUCTIONS};
use sconce_kernels::{LineKernel, LineLaunch, ReduceKernel, ReduceLaunch};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;
use sconce_runtime::memory::Temporary;
use sconce_runtime::stream::Stream;

use super::queue::ReductionStream;

/// What this module keeps for a device.
struct ReductionDevice {
    multiprocessors: OnceCell<rank::DeviceFact, u64>,
    reductions: [LoadedKernels<{ ReduceKernel::INDICES }>; REDUCTIONS.len()],
    lines: [LoadedKernels<{ LineKernel::INDICES }>; LINES.len()],
}

shared_static! {
    static DEVICES: PerDevice<ReductionDevice> = sconce_base::collections::per_device::per_device!(ReductionDevice {
        multiprocessors: OnceCell::new(),
        reductions: [const { LoadedKernels::new() }; REDUCTIONS.len()],
        lines: [const { LoadedKernels::new() }; LINES.len()],
    });
}

/// A stream of the process.
pub(super) struct LaunchStream<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) stream: Stream,
}

impl ReductionStream for LaunchStream<'_> {
    fn multiprocessors(&self) -> Result<u64> {
        let device = self.stream.driver_ref().device;
        let count = DEVICES[device].multiprocessors.get_or_try_init(|| {
            let properties = self.runtime.driver().device_properties(device)?;
            Ok(u64::try_from(properties.multi_processor_count).unwrap_or(1).max(1))
        });
        count.copied()
    }

    fn launch(&self, kernel: ReduceKernel, launch: &ReduceLaunch) -> Result<()> {
        let stream = self.stream.driver_ref();
        let image = kernel.image as usize;
        let kernels = &DEVICES[stream.device].reductions[image];
        let name = || kernel.name();
        let index = kernel.index();
        let kernel = kernels.get(self.runtime, stream.device, &REDUCTIONS[image], index, name)?;
        let (shape, arguments) = launch.pack();
        self.runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
    }

    fn launch_lines(&self, kernel: LineKernel, launch: &LineLaunch) -> Result<()> {
        let stream = self.stream.driver_ref();
        let image = usize::from(!kernel.is_softmax);
        let kernels = &DEVICES[stream.device].lines[image];
        let (shape, arguments) = launch.pack(kernel);
        let name = || kernel.name();
        let index = kernel.index();
        let kernel = kernels.get(self.runtime, stream.device, &LINES[image], index, name)?;
        self.runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
    }

    fn set_to_zero(&self, address: u64, bytes: u64) -> Result<()> {
        let stream = self.stream.driver_ref();
        self.runtime.driver().fill_async(DevicePtr(address), 0, bytes as usize, stream)
    }

    fn with_scratch(&self, bytes: u64, with: &mut dyn FnMut(u64) -> Result<()>) -> Result<()> {
        let scratch = Temporary::new(bytes as usize, self.stream)?;
        with(scratch.address().0)
    }
}
