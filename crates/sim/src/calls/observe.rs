//! What the allocator reports: its blocks, kept for a test that asks for them, and the memory that is asleep.
#![forbid(unsafe_code)]

use sconce_base::types::DevicePtr;
use sconce_driver::{Observe, StreamRef};

use crate::block_reports::BlockReport;
use crate::state::Simulator;

impl Observe for Simulator {
    fn observes_blocks(&self) -> bool {
        self.inner.blocks.is_on()
    }

    fn block_handed_out(&self, stream: StreamRef, block: DevicePtr, bytes: usize) {
        self.inner.blocks.add(BlockReport::HandedOut(stream, block, bytes));
    }

    fn block_used(&self, stream: StreamRef, block: DevicePtr) {
        self.inner.blocks.add(BlockReport::Used(stream, block));
    }

    fn block_taken_back(&self, stream: StreamRef, block: DevicePtr) {
        self.inner.blocks.add(BlockReport::TakenBack(stream, block));
    }

    fn memory_sleeps(&self, ptr: DevicePtr, bytes: usize, pool: u64) {
        self.inner.space.write().sleeping.add(ptr.0, bytes as u64, pool);
    }

    fn memory_wakes(&self, ptr: DevicePtr) {
        self.inner.space.write().sleeping.remove(ptr.0);
    }
}

impl Simulator {
    /// Turns the keeping of the allocator's reports on or off. The allocator reports the blocks of all
    /// streams once a stream has got its first memory while this was on.
    pub fn observe_blocks(&self, on: bool) {
        self.inner.blocks.set_on(on);
    }

    /// The reports since the last call, oldest first.
    pub fn take_block_reports(&self) -> Vec<BlockReport> {
        self.inner.blocks.take()
    }
}
