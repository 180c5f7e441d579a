//! A kernel that keeps a stream busy for a given time, as `torch.cuda._sleep`.

use crate::collections::per_device::PerDevice;
use crate::context::Runtime;
use crate::error::Result;
use crate::kernel_loader::LoadedKernels;
use crate::kernels::images::PROBE;
use crate::kernels::{SLEEP_KERNEL, sleep_launch};
use crate::stream::{Stream, after_enqueue};
use crate::sync::shared_static;

shared_static! {
    /// The kernel, for each device.
    static KERNELS: PerDevice<LoadedKernels<1>> = crate::collections::per_device::per_device!(LoadedKernels::new());
}

/// Queues a kernel that ends after a given time.
pub fn sleep(runtime: &Runtime, stream: Stream, duration_ns: u64) -> Result<()> {
    let driver = runtime.driver();
    let device = stream.device();
    let kernels = &KERNELS[device];
    let kernel = kernels.get(runtime, device, &PROBE, 0, || SLEEP_KERNEL)?;
    let (shape, arguments) = sleep_launch(duration_ns);
    driver.kernel_launch(kernel, shape, &arguments, stream.driver_ref())?;
    after_enqueue(runtime, stream)
}
