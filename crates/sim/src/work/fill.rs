//! Fills.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;

use super::rows::{ByteRows, PIECE_BYTES};
use crate::codes;
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::{Accesses, Accessor, AddressSpace, Intent};

/// A queued fill.
pub(crate) struct FillWork {
    space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
    device: DeviceIndex,
    dst: u64,
    value: u8,
    rows: ByteRows,
}

impl FillWork {
    /// A fill on a stream of `device`.
    pub(crate) fn new(
        space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
        device: DeviceIndex,
        dst: u64,
        value: u8,
        rows: ByteRows,
    ) -> FillWork {
        FillWork { space, device, dst, value, rows }
    }
}

impl QueuedWork for FillWork {
    fn pace(&self) -> Pace {
        Pace::Thread
    }

    fn accesses(&self) -> Accesses {
        Accesses::Known(vec![self.rows.access(Intent::Write, self.dst)])
    }

    fn details(&self) -> Option<String> {
        Some(self.rows.text())
    }

    fn run(&self) -> Result<(), i32> {
        let accessor = Accessor::kernel(self.device);
        let accesses = Accesses::to_check(|| self.accesses());
        let ByteRows { width, height, pitch } = self.rows;
        for row in 0..height {
            for start in (0..width).step_by(PIECE_BYTES) {
                let (bytes, offset) = (PIECE_BYTES.min(width - start), row * pitch + start);
                let address = self.dst.checked_add(offset as u64).ok_or(codes::ILLEGAL_ADDRESS)?;
                let space = self.space.read();
                let place = space.resolve(accessor, address, bytes as u64, Intent::Write)?;
                accesses.check(Intent::Write, address, bytes as u64);
                place.fill(self.value, bytes);
            }
        }
        Ok(())
    }
}
