//! The device behind fills and generators, as a trait: the unit tests of this module implement it with a device
//! that replays graphs in one thread.

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{KernelArguments, StreamRef};
use sconce_kernels::{PERMUTE_KERNEL, TAKE_KERNEL, fill_kernel_name};
use sconce_math::philox::Fill;

use super::arena::Arena;
use super::host_pairs::HostPair;
use super::newest_use::NewestUse;

/// A kernel of this module.
#[derive(Clone, Copy, Debug)]
pub(in crate::random) enum RandomKernel {
    /// Computes elements.
    Fill(Fill),
    /// Takes a piece of the sequence that is recorded on the device.
    Take,
    /// Gives equal keys a random order.
    Permute,
}

impl RandomKernel {
    pub(in crate::random) fn name(self) -> String {
        match self {
            RandomKernel::Take => TAKE_KERNEL.to_owned(),
            RandomKernel::Permute => PERMUTE_KERNEL.to_owned(),
            RandomKernel::Fill(fill) => fill_kernel_name(&fill),
        }
    }
}

/// A device that fills and generators use.
pub(in crate::random) trait DeviceWork {
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
    /// The memory for what graphs draw from.
    fn arena(&self, device: DeviceIndex) -> &'static Arena;
    /// Allocates a chunk for that memory, also while streams are captured, and queues its zeroing.
    fn allocate_chunk(&self, device: DeviceIndex) -> Result<(DevicePtr, NewestUse)>;
    /// Makes what is queued on a stream so far the newest use.
    fn mark(&self, stream: StreamRef, newest: &mut NewestUse) -> Result<()>;
    /// Orders later work of a stream behind the newest use.
    fn follow(&self, stream: StreamRef, newest: &NewestUse) -> Result<()>;
    /// Whether the newest use is done. Does not wait, also while streams are captured.
    fn is_past(&self, newest: &NewestUse) -> Result<bool>;
    /// Waits for the newest use, also while streams are captured.
    fn wait(&self, newest: &NewestUse) -> Result<()>;
    /// The stream itself if it is of the device, else a stream of the device that nothing waits for on the host.
    fn companion(&self, stream: StreamRef, device: DeviceIndex) -> Result<StreamRef>;
    /// Two numbers of the host that kernels can write.
    fn new_pair(&self, device: DeviceIndex) -> Result<&'static HostPair>;
    /// What a kernel has written there.
    fn told(&self, pair: &'static HostPair) -> [u64; 2];
    /// Queues work on a new stream, and waits for it alone, also while streams are captured.
    fn on_new_stream(
        &self,
        device: DeviceIndex,
        queue: &mut dyn FnMut(StreamRef) -> Result<()>,
    ) -> Result<()>;
    /// Reads two numbers that no queued work changes. Waits for the copy alone.
    fn read(&self, device: DeviceIndex, place: DevicePtr) -> Result<[u64; 2]>;
    /// Writes two numbers that no queued work uses. Waits for the copy alone.
    fn write(&self, device: DeviceIndex, place: DevicePtr, pair: [u64; 2]) -> Result<()>;
}
