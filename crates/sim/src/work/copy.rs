//! Copies.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;

use super::rows::{ByteRows, PIECE_BYTES};
use crate::codes;
use crate::host::place::HostPlace;
use crate::machine::operation::{Pace, QueuedWork};
use crate::memory::{Accesses, Accessor, AddressSpace, Intent};

/// One side of a copy.
pub(crate) enum CopySide {
    /// An address of the window, resolved when the copy runs.
    Device(u64),
    /// Host memory.
    Host(HostPlace),
    /// The bytes that host memory held when the copy was queued; only ever a source.
    Staged(Box<[u8]>),
}

/// A queued copy.
pub(crate) struct CopyWork {
    space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
    device: DeviceIndex,
    dst: (CopySide, ByteRows),
    src: (CopySide, ByteRows),
}

impl CopyWork {
    /// A copy on a stream of `device`; both sides have the same width and height.
    pub(crate) fn new(
        space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
        device: DeviceIndex,
        dst: (CopySide, ByteRows),
        src: (CopySide, ByteRows),
    ) -> CopyWork {
        CopyWork { space, device, dst, src }
    }

    /// Copies some bytes of a row, under the address space's lock.
    fn copy(&self, accesses: &Accesses, row: usize, start: usize, bytes: usize) -> Result<(), i32> {
        let space = self.space.read();
        let accessor = Accessor::copy_engine(self.device);
        let place = |(side, rows): &(CopySide, ByteRows), intent: Intent| {
            let offset = row * rows.pitch + start;
            let (address, place) = match side {
                CopySide::Device(address) => {
                    let address = address + offset as u64;
                    (address, space.resolve(accessor, address, bytes as u64, intent)?)
                }
                CopySide::Host(place) => {
                    let place = place.offset(offset);
                    (place.address() as u64, place)
                }
                CopySide::Staged(_) => return Err(codes::ILLEGAL_ADDRESS),
            };
            accesses.check(intent, address, bytes as u64);
            Ok(place)
        };
        if let (CopySide::Staged(staged), rows) = &self.src {
            let from = row * rows.pitch + start;
            place(&self.dst, Intent::Write)?.write(&staged[from..from + bytes]);
        } else {
            let from = place(&self.src, Intent::Read)?;
            place(&self.dst, Intent::Write)?.copy_from(from, bytes);
        }
        Ok(())
    }
}

impl QueuedWork for CopyWork {
    fn pace(&self) -> Pace {
        Pace::Thread
    }

    fn accesses(&self) -> Accesses {
        let sides = [(&self.dst, Intent::Write), (&self.src, Intent::Read)];
        let accesses = sides.into_iter().filter_map(|((side, rows), intent)| {
            let address = match side {
                CopySide::Device(address) => *address,
                CopySide::Host(place) => place.address() as u64,
                CopySide::Staged(_) => return None,
            };
            Some(rows.access(intent, address))
        });
        Accesses::Known(accesses.collect())
    }

    fn details(&self) -> Option<String> {
        Some(self.dst.1.text())
    }

    fn run(&self) -> Result<(), i32> {
        let ByteRows { width, height, .. } = self.dst.1;
        let accesses = Accesses::to_check(|| self.accesses());
        for row in 0..height {
            for start in (0..width).step_by(PIECE_BYTES) {
                self.copy(&accesses, row, start, PIECE_BYTES.min(width - start))?;
            }
        }
        Ok(())
    }
}
