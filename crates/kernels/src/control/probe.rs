//! What the kernels of `kernels/probe.cu` are launched with.

use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::super::signature::SLEEP;

/// The kernel that keeps a stream busy for a time.
pub const SLEEP_KERNEL: &str = SLEEP.family;

/// Grid and arguments of a launch that takes a time and does nothing.
pub fn sleep_launch(duration_ns: u64) -> (LaunchShape, KernelArguments) {
    let shape = LaunchShape { grid: Dim3::line(1), block: Dim3::line(1), shared_bytes: 0 };
    (shape, SLEEP.pack().u64(duration_ns).finish())
}
