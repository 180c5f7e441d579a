//! The blocks that the allocator reports, kept for a test that asks for them.
#![forbid(unsafe_code)]

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::driver::sim::state::Simulator;
use crate::driver::{Observe, StreamRef};
use crate::types::DevicePtr;

/// A report of the allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockReport {
    /// A block of so many bytes became a caller's.
    HandedOut(StreamRef, DevicePtr, usize),
    /// A stream other than the block's own uses the block.
    Used(StreamRef, DevicePtr),
    /// A caller has freed the block.
    TakenBack(StreamRef, DevicePtr),
}

/// Whether reports are kept, and those that came.
#[derive(Default)]
pub(crate) struct BlockReports {
    on: AtomicBool,
    reports: Mutex<Vec<BlockReport>>,
}

impl BlockReports {
    fn add(&self, report: BlockReport) {
        if self.on.load(Ordering::Relaxed) {
            self.reports.lock().push(report);
        }
    }
}

impl Observe for Simulator {
    fn observes_blocks(&self) -> bool {
        self.inner.blocks.on.load(Ordering::Relaxed)
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
}

impl Simulator {
    /// Turns the keeping of the allocator's reports on or off. The allocator reports the blocks of all
    /// streams once a stream has got its first memory while this was on.
    pub fn observe_blocks(&self, on: bool) {
        self.inner.blocks.on.store(on, Ordering::Relaxed);
    }

    /// The reports since the last call, oldest first.
    pub fn take_block_reports(&self) -> Vec<BlockReport> {
        std::mem::take(&mut *self.inner.blocks.reports.lock())
    }
}
