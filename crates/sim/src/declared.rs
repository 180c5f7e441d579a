//! The memory that calls read and write, without a simulator.
//!
//! Each function takes what the driver's call takes, and returns what the operation of a simulator declares. Both use
//! the same calculation. The arguments are those of a call that the driver accepts; others may overflow a calculation.
#![forbid(unsafe_code)]

use sconce_base::types::DevicePtr;
use sconce_driver::{CommCall, Convolution, FftCall, FftShape, Gemm};

use crate::kernels::modules::kernel_named;
use crate::libraries::collectives::group::as_calls;
use crate::libraries::fft::transform::TransformSides;
use crate::libraries::{blas, dnn, fft};
use crate::memory::{Intent, MemoryAccess};
use crate::work::rows::ByteRows;

/// `height` rows of `width` bytes that begin `pitch` bytes apart: a side of a copy, or a fill.
pub fn of_rows(
    intent: Intent,
    address: u64,
    pitch: usize,
    width: usize,
    height: usize,
) -> MemoryAccess {
    ByteRows { width, height, pitch }.access(intent, address)
}

/// The memory of a launch of one of the library's kernels. `arguments` are the launch's slots. `None` if the library
/// has no kernel of this name, or the kernel has another number of arguments.
pub fn of_kernel(name: &str, arguments: &[u64]) -> Option<Vec<MemoryAccess>> {
    let kernel = kernel_named(name).filter(|kernel| kernel.parameters == arguments.len())?;
    Some((kernel.accesses)(arguments))
}

/// The memory of a product, with the handle's workspace: its address and its bytes. A product of sizes that every
/// library refuses has none.
pub fn of_gemm(gemm: &Gemm, workspace: Option<(DevicePtr, usize)>) -> Vec<MemoryAccess> {
    let workspace = workspace.filter(|(_, bytes)| *bytes > 0);
    blas::accesses(gemm, workspace.map(|(address, bytes)| (address.0, bytes)))
}

/// The memory of an execution of a plan for `problem`. `addresses` are those of the input, the filter and the output;
/// `workspace_bytes` is the plan's.
pub fn of_convolution(
    problem: &Convolution,
    addresses: [DevicePtr; 3],
    workspace: DevicePtr,
    workspace_bytes: usize,
) -> Vec<MemoryAccess> {
    let addresses = addresses.map(|address| address.0);
    dnn::calculate::accesses(problem, addresses, (workspace.0, workspace_bytes))
}

/// The memory of an execution of a plan for `shape`; `workspace_bytes` is the plan's.
pub fn of_transform(shape: &FftShape, call: &FftCall, workspace_bytes: usize) -> Vec<MemoryAccess> {
    fft::plan::accesses(&TransformSides::new(shape), call, workspace_bytes)
}

/// The memory that a call of a communicator uses on rank `rank` of `ranks`. A group of sends and receives uses what
/// each of them uses.
pub fn of_collective(call: &CommCall, rank: usize, ranks: usize) -> Vec<MemoryAccess> {
    as_calls(call.clone()).accesses((rank, ranks))
}
