//! Device memory as an operation sees it: every range is checked when it is used.
#![forbid(unsafe_code)]

use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;

use super::access::{Accesses, Intent};
use super::space::{Accessor, AddressSpace};
use crate::codes;

/// Device memory as a kernel or a library's calculation on one device sees it. A range that the device
/// may not use is an illegal address. Ranges are small pieces; kernels loop.
pub(crate) struct DeviceMemoryView<'a> {
    space: &'a RwLock<rank::SimSpace, AddressSpace>,
    accessor: Accessor,
    accesses: &'a Accesses,
    /// Reads may include the gaps between what was declared.
    with_gaps: bool,
}

impl<'a> DeviceMemoryView<'a> {
    /// The memory for an operation on `device` that has declared `accesses`.
    pub(crate) fn new(
        space: &'a RwLock<rank::SimSpace, AddressSpace>,
        device: DeviceIndex,
        accesses: &'a Accesses,
    ) -> DeviceMemoryView<'a> {
        DeviceMemoryView { space, accessor: Accessor::kernel(device), accesses, with_gaps: false }
    }

    /// Whether a range could be read, for calculations that allocate memory of the host for it first.
    pub(crate) fn covers(&self, address: u64, bytes: u64) -> Result<(), i32> {
        let usable = self.space.read().is_usable(self.accessor, address, bytes, Intent::Read);
        usable.then_some(()).ok_or(codes::ILLEGAL_ADDRESS)
    }

    /// A view of this memory for reads of rows of elements with the gaps between them, which the caller does
    /// not use.
    pub(crate) fn with_gaps(&self) -> DeviceMemoryView<'a> {
        let DeviceMemoryView { space, accessor, accesses, .. } = *self;
        DeviceMemoryView { space, accessor, accesses, with_gaps: true }
    }

    /// Reads the bytes from `address` on.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), i32> {
        let bytes = into.len() as u64;
        let space = self.space.read();
        let place = space.resolve(self.accessor, address, bytes, Intent::Read)?;
        if self.with_gaps {
            self.accesses.check_span(Intent::Read, address, bytes);
        } else {
            self.accesses.check(Intent::Read, address, bytes);
        }
        place.read(into);
        Ok(())
    }

    /// Writes the bytes from `address` on.
    pub(crate) fn write(&self, address: u64, from: &[u8]) -> Result<(), i32> {
        let space = self.space.read();
        let place = space.resolve(self.accessor, address, from.len() as u64, Intent::Write)?;
        self.accesses.check(Intent::Write, address, from.len() as u64);
        place.write(from);
        Ok(())
    }
}
