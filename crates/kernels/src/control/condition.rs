//! What the kernel of `kernels/graph_condition.cu` is launched with.

use sconce_base::types::DevicePtr;
use sconce_driver::{Dim3, KernelArguments, LaunchShape};

use super::super::signature::SET_CONDITION;

/// The kernel that sets a condition of a graph.
pub const SET_CONDITION_KERNEL: &str = SET_CONDITION.family;

/// Grid and arguments of a launch that sets a condition to an integer without a sign of 1, 4 or 8 bytes in memory.
pub fn condition_launch(
    condition: u64,
    from: DevicePtr,
    bytes: u32,
) -> (LaunchShape, KernelArguments) {
    let shape = LaunchShape { grid: Dim3::line(1), block: Dim3::line(1), shared_bytes: 0 };
    (shape, SET_CONDITION.pack().u64(condition).u64(from.0).u32(bytes).finish())
}
