//! The address space that pages are mapped into: large reservations, and which parts of them are unused.

use std::collections::BTreeMap;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DevicePtr;
use sconce_driver::Driver;

use crate::memory::addresses::address_map;

/// The least size of a reservation.
const LEAST: u64 = 1 << 30;
/// Unused addresses left on both sides of a new range, so that it can grow there.
const MARGIN: u64 = 64 << 20;

/// The reserved addresses of a device.
#[derive(Debug, Default)]
pub(super) struct PageAddresses {
    reservations: Vec<(u64, u64)>,
    /// Unused ranges: address and bytes; no two are neighbours within a reservation.
    unused: BTreeMap<u64, u64>,
}

impl PageAddresses {
    pub(super) const fn new() -> PageAddresses {
        PageAddresses { reservations: Vec::new(), unused: BTreeMap::new() }
    }

    /// Takes a range for new mappings, with unused addresses on both sides where there are enough.
    /// `device_bytes` is the memory of the device.
    pub(super) fn take(
        &mut self,
        driver: &dyn Driver,
        bytes: u64,
        device_bytes: u64,
    ) -> Result<u64> {
        if let Some(address) = self.find(bytes) {
            return Ok(address);
        }
        let wanted = (2 * device_bytes).max(LEAST).max(bytes + 2 * MARGIN);
        let reserved = wanted.next_multiple_of(LEAST);
        let base = match driver.virtual_reserve(reserved as usize) {
            Ok(base) if address_map::covers(base.0, reserved) => base.0,
            Ok(base) => {
                // Beyond the addresses that the allocator can keep track of.
                driver.virtual_release(base, reserved as usize)?;
                return Err(Error::new(
                    Status::NotSupported,
                    format!("the driver reserved {base}, beyond the 52 bits that are supported"),
                ));
            }
            Err(error) => return Err(error),
        };
        self.reservations.push((base, reserved));
        self.give_back(base, reserved);
        self.find(bytes)
            .ok_or_else(|| Error::new(Status::Internal, "a new reservation is too small"))
    }

    fn find(&mut self, bytes: u64) -> Option<u64> {
        let with_margins = bytes + 2 * MARGIN;
        let found = self.unused.iter().find(|(_, unused)| **unused >= with_margins);
        let address = match found {
            Some((address, _)) => *address + MARGIN,
            None => *self.unused.iter().find(|(_, unused)| **unused >= bytes)?.0,
        };
        self.take_at(address, bytes).then_some(address)
    }

    /// Takes a range at an address; `false` unless all of it is unused.
    pub(super) fn take_at(&mut self, address: u64, bytes: u64) -> bool {
        if !self.is_unused(address, bytes) {
            return false;
        }
        let Some((&base, &size)) = self.unused.range(..=address).next_back() else { return false };
        self.unused.remove(&base);
        if base < address {
            self.unused.insert(base, address - base);
        }
        if address + bytes < base + size {
            self.unused.insert(address + bytes, base + size - address - bytes);
        }
        true
    }

    /// Whether all of a range is unused.
    pub(super) fn is_unused(&self, address: u64, bytes: u64) -> bool {
        let Some((&base, &size)) = self.unused.range(..=address).next_back() else { return false };
        address.checked_add(bytes).is_some_and(|end| end <= base + size)
    }

    /// A range is unused again.
    pub(super) fn give_back(&mut self, address: u64, bytes: u64) {
        let (mut base, mut size) = (address, bytes);
        // Two reservations may be neighbours, and no mapping may lie in both.
        let is_border = |at: u64| self.reservations.iter().any(|(start, _)| *start == at);
        if !is_border(address + bytes)
            && let Some(more) = self.unused.remove(&(address + bytes))
        {
            size += more;
        }
        if !is_border(address)
            && let Some((&before, &more)) = self.unused.range(..address).next_back()
            && before + more == address
        {
            self.unused.remove(&before);
            base = before;
            size += more;
        }
        self.unused.insert(base, size);
    }

    /// Releases the reservations that nothing is mapped in.
    pub(super) fn release_unused(&mut self, driver: &dyn Driver) -> Result<()> {
        let mut outcome = Ok(());
        self.reservations.retain(|(base, bytes)| {
            if self.unused.get(base) != Some(bytes) {
                return true;
            }
            match driver.virtual_release(DevicePtr(*base), *bytes as usize) {
                Ok(()) => {
                    self.unused.remove(base);
                    false
                }
                Err(error) => {
                    outcome = Err(error);
                    true
                }
            }
        });
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_joins_its_neighbours_but_not_across_reservations() {
        let mut space = PageAddresses::new();
        let base = 1 << 40;
        space.reservations = vec![(base, LEAST), (base + LEAST, LEAST)];
        space.give_back(base, LEAST);
        space.give_back(base + LEAST, LEAST);
        assert_eq!(space.unused.len(), 2);
        let first = space.find(4 << 20).unwrap();
        assert_eq!(first, base + MARGIN);
        assert!(!space.take_at(first, 2 << 20));
        assert!(space.take_at(first + (4 << 20), 2 << 20));
        assert!(space.is_unused(first - (2 << 20), 2 << 20));
        let second = space.find(4 << 20).unwrap();
        assert_eq!(second, first + (6 << 20) + MARGIN);
        assert!(!space.take_at(base + LEAST - (2 << 20), 4 << 20), "two reservations");
        space.give_back(first, 6 << 20);
        space.give_back(second, 4 << 20);
        assert_eq!(space.unused.get(&base), Some(&LEAST));
        assert_eq!(space.find(LEAST), Some(base));
    }
}
