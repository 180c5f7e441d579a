//! Virtual memory: reserved addresses, physical memory without one, and mappings between the two.
#![forbid(unsafe_code)]

use std::fs::File;
use std::sync::Arc;

use sconce_base::types::{DeviceIndex, MAX_DEVICES};
use sconce_driver::Access;

use super::physical::{Backing, Extent, Physical};
use super::space::{AddressSpace, Mapping, MappingKind};
use crate::codes;

/// The unit of physical memory and of mappings.
pub(crate) const GRANULARITY: u64 = 2 << 20;

fn check_unit(bytes: u64) -> Result<(), i32> {
    if bytes > 0 && bytes.is_multiple_of(GRANULARITY) { Ok(()) } else { Err(codes::INVALID_VALUE) }
}

impl AddressSpace {
    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<u64, i32> {
        check_unit(bytes)?;
        let address = self.free.take(bytes, GRANULARITY).ok_or(codes::OUT_OF_MEMORY)?;
        self.reservations.insert(address, bytes);
        Ok(address)
    }

    pub(crate) fn unreserve(&mut self, address: u64, bytes: u64) -> Result<(), i32> {
        if self.reservations.get(&address) != Some(&bytes)
            || self.mappings.range(address..address + bytes).next().is_some()
        {
            return Err(codes::INVALID_VALUE);
        }
        self.reservations.remove(&address);
        self.free.give(address, bytes);
        Ok(())
    }

    /// Makes physical memory of the device.
    pub(crate) fn create(
        &mut self,
        device: DeviceIndex,
        bytes: u64,
        shareable: bool,
    ) -> Result<u64, i32> {
        check_unit(bytes)?;
        let mut physical = self.take_pages(device, bytes).ok_or(codes::OUT_OF_MEMORY)?;
        physical.shareable = shareable;
        Ok(self.add_handle(physical))
    }

    /// Makes a handle of another process's physical memory, by its file.
    pub(crate) fn import(&mut self, device: DeviceIndex, file: File) -> Result<u64, i32> {
        let bytes = file.metadata().map_err(|_| codes::INVALID_VALUE)?.len();
        check_unit(bytes)?;
        let extents = vec![Extent { offset: 0, bytes }];
        Ok(self.add_handle(Physical::new(device, Arc::new(file), extents, Backing::Foreign)))
    }

    fn add_handle(&mut self, physical: impl Into<Arc<Physical>>) -> u64 {
        let handle = self.next_handle;
        self.next_handle += 1;
        self.handles.insert(handle, physical.into());
        handle
    }

    /// Makes another handle of the memory that is mapped at an address.
    pub(crate) fn retain(&mut self, address: u64) -> Result<u64, i32> {
        let (_, mapping) = self.mapping_at(address).ok_or(codes::INVALID_VALUE)?;
        if !matches!(mapping.kind, MappingKind::Virtual(_)) {
            return Err(codes::INVALID_VALUE);
        }
        let physical = Arc::clone(&mapping.physical);
        Ok(self.add_handle(physical))
    }

    pub(crate) fn release(&mut self, handle: u64) -> Result<(), i32> {
        let physical = self.handles.remove(&handle).ok_or(codes::INVALID_VALUE)?;
        self.drop_physical(physical);
        Ok(())
    }

    pub(crate) fn map(
        &mut self,
        address: u64,
        bytes: u64,
        handle: u64,
        offset: u64,
    ) -> Result<(), i32> {
        check_unit(bytes)?;
        let physical = Arc::clone(self.handles.get(&handle).ok_or(codes::INVALID_VALUE)?);
        let end = address.checked_add(bytes).ok_or(codes::INVALID_VALUE)?;
        let inside = self
            .reservations
            .range(..=address)
            .next_back()
            .is_some_and(|(base, reserved)| end <= base + reserved);
        let aligned = address.is_multiple_of(GRANULARITY) && offset.is_multiple_of(GRANULARITY);
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= physical.bytes);
        let taken = self
            .mappings
            .range(..end)
            .next_back()
            .is_some_and(|(base, mapping)| base + mapping.bytes > address);
        if !inside || !aligned || !fits || taken {
            return Err(codes::INVALID_VALUE);
        }
        if self.map_physical(address, &physical, offset, bytes).is_err() {
            return Err(codes::OUT_OF_MEMORY);
        }
        let kind = MappingKind::Virtual(Box::new([Access::None; MAX_DEVICES]));
        self.enter(address, physical, Extent { offset, bytes }, kind);
        Ok(())
    }

    /// The starts of the virtual mappings that tile a range exactly.
    fn tiles(&self, address: u64, bytes: u64) -> Result<Vec<u64>, i32> {
        let end = address.checked_add(bytes).ok_or(codes::INVALID_VALUE)?;
        let mut starts = Vec::new();
        let mut at = address;
        while at < end {
            let mapping = self.mappings.get(&at).ok_or(codes::INVALID_VALUE)?;
            if !matches!(mapping.kind, MappingKind::Virtual(_)) {
                return Err(codes::INVALID_VALUE);
            }
            starts.push(at);
            at += mapping.bytes;
        }
        if at == end && bytes > 0 { Ok(starts) } else { Err(codes::INVALID_VALUE) }
    }

    pub(crate) fn unmap(&mut self, address: u64, bytes: u64) -> Result<(), i32> {
        let starts = self.tiles(address, bytes)?;
        self.window.unmap(address, bytes).map_err(|_| codes::OPERATING_SYSTEM)?;
        for start in starts {
            if let Some(mapping) = self.mappings.remove(&start) {
                self.drop_physical(mapping.physical);
            }
        }
        Ok(())
    }

    pub(crate) fn set_access(
        &mut self,
        address: u64,
        bytes: u64,
        device: DeviceIndex,
        access: Access,
    ) -> Result<(), i32> {
        for start in self.tiles(address, bytes)? {
            if let Some(Mapping { kind: MappingKind::Virtual(rights), .. }) =
                self.mappings.get_mut(&start)
            {
                rights[device.as_usize()] = access;
            }
        }
        Ok(())
    }
}
