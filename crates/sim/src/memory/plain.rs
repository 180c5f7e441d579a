//! Plain device memory, which `memory_alloc` returns and `memory_free` takes.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::types::DeviceIndex;

use super::physical::{Extent, Physical};
use super::space::{AddressSpace, MappingKind};
use crate::codes;
use crate::host::pages::PAGE;
use crate::processes::event_page::Nonce;

/// Big allocations are aligned as CUDA aligns them.
const BIG: u64 = 2 << 20;

impl AddressSpace {
    /// Allocates; the address is followed by a page that is never mapped.
    pub(crate) fn alloc(&mut self, device: DeviceIndex, bytes: u64) -> Result<u64, i32> {
        let bytes = bytes.checked_next_multiple_of(PAGE).ok_or(codes::OUT_OF_MEMORY)?;
        let physical = self.take_pages(device, bytes).ok_or(codes::OUT_OF_MEMORY)?;
        self.place(Arc::new(physical), MappingKind::Plain)
    }

    /// Maps all of some physical memory at a free address.
    pub(crate) fn place(&mut self, physical: Arc<Physical>, kind: MappingKind) -> Result<u64, i32> {
        let bytes = physical.bytes;
        let align = if bytes >= BIG { BIG } else { PAGE };
        let Some(address) = self.free.take(bytes + PAGE, align) else {
            self.drop_physical(physical);
            return Err(codes::OUT_OF_MEMORY);
        };
        if self.map_physical(address, &physical, 0, bytes).is_err() {
            self.free.give(address, bytes + PAGE);
            self.drop_physical(physical);
            return Err(codes::OUT_OF_MEMORY);
        }
        self.enter(address, physical, Extent { offset: 0, bytes }, kind);
        Ok(address)
    }

    /// Whether `alloc` returned `address` for this device.
    pub(crate) fn is_plain(&self, device: DeviceIndex, address: u64) -> bool {
        self.mappings.get(&address).is_some_and(|mapping| {
            matches!(mapping.kind, MappingKind::Plain) && mapping.physical.device == device
        })
    }

    /// Undoes `place`.
    pub(crate) fn remove(&mut self, address: u64) -> Result<(), i32> {
        let mapping = self.mappings.remove(&address).ok_or(codes::INVALID_VALUE)?;
        if self.window.unmap(address, mapping.bytes).is_err() {
            self.mappings.insert(address, mapping);
            return Err(codes::OPERATING_SYSTEM);
        }
        self.free.give(address, mapping.bytes + PAGE);
        self.drop_physical(mapping.physical);
        Ok(())
    }
}

/// Memory opened from other processes: one mapping for each export, however often it is opened.
impl AddressSpace {
    /// Opens an export that is open already.
    pub(crate) fn open_again(&mut self, wanted: Nonce) -> Option<u64> {
        self.mappings.iter_mut().find_map(|(address, mapping)| match &mut mapping.kind {
            MappingKind::Opened { opens, export } if *export == wanted => {
                *opens += 1;
                Some(*address)
            }
            _ => None,
        })
    }

    /// Undoes one opening; the last one unmaps.
    pub(crate) fn close(&mut self, address: u64) -> Result<(), i32> {
        match self.mappings.get_mut(&address).map(|mapping| &mut mapping.kind) {
            Some(MappingKind::Opened { opens, .. }) if *opens > 1 => {
                *opens -= 1;
                Ok(())
            }
            Some(MappingKind::Opened { .. }) => self.remove(address),
            _ => Err(codes::INVALID_VALUE),
        }
    }
}
