//! A kernel that does nothing for a given time; what `torch.cuda._sleep` is for.

use super::{Stream, after_enqueue};
use crate::context::Runtime;
use crate::error::Result;
use crate::kernel_loader::LoadedKernels;
use crate::kernels::images::PROBE;
use crate::kernels::{SLEEP_KERNEL, sleep_launch};
use crate::sync::shared_static;
use crate::types::MAX_DEVICES;

shared_static! {
    /// The kernel, for each device.
    static KERNELS: [LoadedKernels<1>; MAX_DEVICES] =
        [const { LoadedKernels::new() }; MAX_DEVICES];
}

/// Keeps the stream busy for a time, without using the host.
pub fn sleep(runtime: &Runtime, stream: Stream, duration_ns: u64) -> Result<()> {
    let driver = runtime.driver();
    let device = stream.device();
    let kernels = &KERNELS[device.as_usize()];
    let kernel = kernels.get(runtime, device, &PROBE, 0, || SLEEP_KERNEL)?;
    let (shape, arguments) = sleep_launch(duration_ns);
    driver.kernel_launch(kernel, shape, &arguments, stream.driver_ref())?;
    after_enqueue(runtime, stream)
}
