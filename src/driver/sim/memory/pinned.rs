//! Page-locked host memory, as far as the simulator must know it: which addresses are pinned.
#![forbid(unsafe_code)]

use crate::driver::HostRange;
use crate::driver::sim::codes;
use crate::driver::sim::host::pages::PinnedPages;
use crate::driver::sim::host::place::Place;

use super::space::AddressSpace;

/// How many freed addresses are remembered for reuse.
const MOST_FREED: usize = 64;

/// A pinned range; with its memory when the simulator made it.
pub(crate) struct Pinned {
    pub(crate) bytes: usize,
    memory: HostRange,
    pages: Option<PinnedPages>,
}

impl AddressSpace {
    pub(crate) fn pinned_alloc(&mut self, bytes: usize) -> Result<usize, i32> {
        let wish = self.freed_pinned.as_mut().and_then(|freed| {
            let at = freed.iter().rposition(|(_, have)| *have >= bytes)?;
            Some(freed.remove(at).0)
        });
        let pages = PinnedPages::new(bytes, wish).map_err(|_| codes::OUT_OF_MEMORY)?;
        let memory = pages.range(bytes);
        let address = memory.get();
        self.pinned.insert(address, Pinned { bytes, memory, pages: Some(pages) });
        Ok(address)
    }

    pub(crate) fn pinned_register(&mut self, memory: HostRange) -> Result<(), i32> {
        let (address, bytes) = (memory.get(), memory.bytes());
        let end = address.checked_add(bytes).ok_or(codes::INVALID_VALUE)?;
        let below = self.pinned.range(..end).next_back();
        if below.is_some_and(|(base, pinned)| base + pinned.bytes > address) {
            return Err(codes::MEMORY_ALREADY_REGISTERED);
        }
        self.pinned.insert(address, Pinned { bytes, memory, pages: None });
        Ok(())
    }

    /// Whether `address` is the start of a pinned range, made here (`made`) or registered.
    pub(crate) fn is_pinned_start(&self, address: usize, made: bool) -> bool {
        self.pinned.get(&address).is_some_and(|pinned| pinned.pages.is_some() == made)
    }

    pub(crate) fn pinned_remove(&mut self, address: usize) {
        let Some(Pinned { bytes, pages: Some(pages), .. }) = self.pinned.remove(&address) else {
            return;
        };
        drop(pages);
        if let Some(freed) = &mut self.freed_pinned {
            if freed.len() == MOST_FREED {
                freed.remove(0);
            }
            freed.push((address, bytes));
        }
    }

    pub(crate) fn pinned_at(&self, address: usize) -> Option<(usize, &Pinned)> {
        let (base, pinned) = self.pinned.range(..=address).next_back()?;
        (address - base < pinned.bytes).then_some((*base, pinned))
    }

    /// Pinned memory has the same address for everyone.
    pub(crate) fn resolve_pinned(&self, address: u64, bytes: u64) -> Option<Place> {
        let (base, pinned) = self.pinned_at(address as usize)?;
        let end = address.checked_add(bytes)?;
        let offset = address as usize - base;
        let range = pinned.memory.part(offset, bytes as usize);
        (end <= (base + pinned.bytes) as u64).then_some(Place::of_host(range))
    }
}
