//! Page-locked host memory: the addresses that are pinned.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use sconce_driver::HostRange;

use crate::codes;
use crate::host::pages::PinnedPages;
use crate::host::place::HostPlace;

/// How many freed addresses are remembered for reuse.
const MOST_FREED: usize = 64;

/// A pinned range; with its pages when the simulator allocated them.
struct PinnedRange {
    bytes: usize,
    memory: HostRange,
    pages: Option<PinnedPages>,
}

/// All pinned memory, by its addresses.
#[derive(Default)]
pub(crate) struct PinnedRanges {
    ranges: BTreeMap<usize, PinnedRange>,
    /// With address reuse: start and bytes of freed ranges, the newest last.
    freed: Option<Vec<(usize, usize)>>,
}

impl PinnedRanges {
    /// Turns the reuse of freed addresses on or off.
    pub(crate) fn set_reuse(&mut self, reuse: bool) {
        self.freed = reuse.then(Vec::new);
    }

    /// Allocates pinned memory.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Result<usize, i32> {
        let wish = self.freed.as_mut().and_then(|freed| {
            let at = freed.iter().rposition(|(_, have)| *have >= bytes)?;
            Some(freed.remove(at).0)
        });
        let pages = PinnedPages::new(bytes, wish).map_err(|_| codes::OUT_OF_MEMORY)?;
        let memory = pages.range(bytes);
        let address = memory.get();
        self.ranges.insert(address, PinnedRange { bytes, memory, pages: Some(pages) });
        Ok(address)
    }

    /// Enters memory of the user's as pinned.
    pub(crate) fn register(&mut self, memory: HostRange) -> Result<(), i32> {
        let (address, bytes) = (memory.get(), memory.bytes());
        let end = address.checked_add(bytes).ok_or(codes::INVALID_VALUE)?;
        let below = self.ranges.range(..end).next_back();
        if below.is_some_and(|(base, pinned)| base + pinned.bytes > address) {
            return Err(codes::MEMORY_ALREADY_REGISTERED);
        }
        self.ranges.insert(address, PinnedRange { bytes, memory, pages: None });
        Ok(())
    }

    /// Whether `address` is the start of a pinned range that was allocated here (`allocated`) or
    /// registered.
    pub(crate) fn is_start(&self, address: usize, allocated: bool) -> bool {
        self.ranges.get(&address).is_some_and(|pinned| pinned.pages.is_some() == allocated)
    }

    /// Removes the range that begins at `address`, and frees it if it was allocated here.
    pub(crate) fn remove(&mut self, address: usize) {
        let Some(PinnedRange { bytes, pages: Some(pages), .. }) = self.ranges.remove(&address)
        else {
            return;
        };
        drop(pages);
        if let Some(freed) = &mut self.freed {
            if freed.len() == MOST_FREED {
                freed.remove(0);
            }
            freed.push((address, bytes));
        }
    }

    /// Start and bytes of the pinned range that holds an address.
    pub(crate) fn at(&self, address: usize) -> Option<(usize, usize)> {
        self.holding(address).map(|(base, pinned)| (base, pinned.bytes))
    }

    fn holding(&self, address: usize) -> Option<(usize, &PinnedRange)> {
        let (base, pinned) = self.ranges.range(..=address).next_back()?;
        (address - base < pinned.bytes).then_some((*base, pinned))
    }

    /// The memory of a range of addresses, which are the same for the host and for every device.
    pub(super) fn resolve(&self, address: u64, bytes: u64) -> Option<HostPlace> {
        let (base, pinned) = self.holding(address as usize)?;
        let end = address.checked_add(bytes)?;
        let offset = address as usize - base;
        let range = pinned.memory.part(offset, bytes as usize);
        (end <= (base + pinned.bytes) as u64).then_some(HostPlace::of_host(range))
    }
}
