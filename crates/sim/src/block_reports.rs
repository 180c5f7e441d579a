//! The allocator's reports of its blocks.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DevicePtr;
use sconce_driver::StreamRef;

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
    reports: Mutex<rank::SimReports, Vec<BlockReport>>,
}

impl BlockReports {
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    pub(crate) fn set_on(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    /// Takes the reports, oldest first.
    pub(crate) fn take(&self) -> Vec<BlockReport> {
        std::mem::take(&mut *self.reports.lock())
    }

    pub(crate) fn add(&self, report: BlockReport) {
        if self.is_on() {
            self.reports.lock().push(report);
        }
    }
}
