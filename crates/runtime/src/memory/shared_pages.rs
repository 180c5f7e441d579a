//! Blocks of pages that other processes use: which pages they get.
//!
//! While a process holds such a block, the block is not free, and only free pages move or go back to the driver. So its
//! pages stay what and where they are, also after it was freed.

use sconce_base::types::DeviceIndex;
use sconce_driver::PhysicalHandle;

use super::source::pages::{self, DevicePages};

/// A block of pages that other processes may open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagedBlock {
    /// Where its first page begins.
    pub base: usize,
    /// The bytes of its pages.
    pub bytes: usize,
    /// Its device.
    pub device: DeviceIndex,
    /// Where the block begins.
    pub address: usize,
    /// Where it ends.
    pub end: usize,
    /// No other block ever has this number.
    pub number: u64,
}

/// A page of a block.
#[derive(Clone, Copy, Debug)]
pub struct BlockPage {
    /// Its bytes.
    pub bytes: u64,
    /// Its memory, which is the allocator's.
    pub handle: PhysicalHandle,
}

/// Where the pages of a range of a run begin, and their bytes. `None` if they have no memory.
pub(super) fn extent(pages: &DevicePages, from: u64, to: u64) -> Option<(usize, usize)> {
    let mut covering = pages.table.covering(from, to);
    let first = covering.next()?;
    let bytes = first.bytes + covering.map(|page| page.bytes).sum::<u64>();
    Some((first.address as usize, bytes as usize))
}

/// [`extent`] of a live block of a device.
pub(super) fn extent_on(device: DeviceIndex, from: u64, to: u64) -> Option<(usize, usize)> {
    extent(&pages::lock(device), from, to)
}

/// The pages of a block that this process holds for another one, by address.
pub fn of(block: &PagedBlock) -> Vec<BlockPage> {
    let table = &pages::lock(block.device).table;
    let covering = table.covering(block.address as u64, block.end as u64);
    covering
        .filter_map(|page| {
            let handle = table.page(page.page)?.handle;
            Some(BlockPage { bytes: page.bytes, handle })
        })
        .collect()
}
