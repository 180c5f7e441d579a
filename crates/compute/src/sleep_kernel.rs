//! A kernel that keeps a stream busy for a given time, as `torch.cuda._sleep`.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::sync::shared_static;
use sconce_kernels::images::PROBE;
use sconce_kernels::{SLEEP_KERNEL, sleep_launch};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;
use sconce_runtime::stream::{Stream, after_enqueue};

shared_static! {
    /// The kernel, for each device.
    static KERNELS: PerDevice<LoadedKernels<1>> = sconce_base::collections::per_device::per_device!(LoadedKernels::new());
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
