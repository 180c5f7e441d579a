//! Launches of a join of many short parts: some hundred in each.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::sync::shared_static;
use sconce_base::types::DevicePtr;
use sconce_kernels::images::GATHER_MANY;
use sconce_kernels::{JOIN_MANY_NAME, MANY_BYTES, MANY_PIECES, ManyLaunch, ManyPiece};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;
use sconce_runtime::stream::Stream;

shared_static! {
    static KERNELS: PerDevice<LoadedKernels<1>> =
        sconce_base::collections::per_device::per_device!(LoadedKernels::new());
}

/// Pieces that wait for a launch.
pub(super) struct ManyQueue<'a> {
    runtime: &'a Runtime,
    stream: Stream,
    waiting: ManyLaunch,
}

impl<'a> ManyQueue<'a> {
    /// A queue for about so many pieces.
    pub(super) fn new(runtime: &'a Runtime, stream: Stream, expected: usize) -> ManyQueue<'a> {
        let pieces = Vec::with_capacity(expected.min(MANY_PIECES));
        ManyQueue { runtime, stream, waiting: ManyLaunch { dst: DevicePtr(0), pieces } }
    }

    /// Whether a piece of so many bytes is short enough.
    pub(super) fn takes(bytes: u64) -> bool {
        bytes <= MANY_BYTES
    }

    /// Adds bytes that follow each other on both sides.
    pub(super) fn add(&mut self, dst: DevicePtr, src: DevicePtr, bytes: u64) -> Result<()> {
        let start = dst.0.checked_sub(self.waiting.dst.0).and_then(|start| start.try_into().ok());
        let start = match start {
            Some(start) if !self.waiting.pieces.is_empty() && !self.is_full() => start,
            _ => {
                self.launch()?;
                self.waiting.dst = dst;
                0
            }
        };
        self.waiting.pieces.push(ManyPiece { src, start, bytes: bytes as u32 });
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.waiting.pieces.len() == MANY_PIECES
    }

    /// Launches what waits.
    pub(super) fn launch(&mut self) -> Result<()> {
        if self.waiting.pieces.is_empty() {
            return Ok(());
        }
        let (runtime, stream) = (self.runtime, self.stream.driver_ref());
        let kernels = &KERNELS[stream.device];
        let kernel = kernels.get(runtime, stream.device, &GATHER_MANY, 0, || JOIN_MANY_NAME)?;
        let (shape, slots) = self.waiting.launch();
        self.waiting.pieces.clear();
        runtime.driver().kernel_launch_wide(kernel, shape, &slots, stream)
    }
}
