//! A kernel that keeps a stream busy for a given time, as `torch.cuda._sleep`.

use super::value::Stream;
use super::work::after_enqueue;
use crate::context::Runtime;
use crate::driver::images::PROBE;
use crate::driver::{Dim3, KernelArguments, LaunchShape};
use crate::error::Result;
use crate::kernels::Kernels;
use crate::sync::shared_static;
use crate::types::MAX_DEVICES;

shared_static! {
    /// The kernel, for each device.
    static KERNELS: [Kernels<1>; MAX_DEVICES] = [const { Kernels::new() }; MAX_DEVICES];
}

/// Queues a kernel that ends after a given time.
pub fn sleep(runtime: &Runtime, stream: Stream, duration_ns: u64) -> Result<()> {
    let driver = runtime.driver();
    let device = stream.device();
    let kernels = &KERNELS[device.as_usize()];
    let kernel = kernels.get(runtime, device, &PROBE, 0, || "sconce_sleep_ns")?;
    driver.kernel_launch(
        kernel,
        LaunchShape { grid: Dim3::line(1), block: Dim3::line(1), shared_bytes: 0 },
        &KernelArguments::new().u64(duration_ns),
        stream.driver_ref(),
    )?;
    after_enqueue(runtime, stream)
}
