//! The source of pages: physical memory and addresses apart, so that free memory can be put together where it
//! is needed. `docs/design/pages.md` says how.
//!
//! | file | idea |
//! |---|---|
//! | `space` | reserved addresses |
//! | `table` | which page is mapped where |
//! | `free` | free pages, and where they are present |
//! | `window` | mappings side by side that could serve a request |
//! | `mapping` | the driver's calls, each undone if a later one fails |
//! | `asleep` | pages that lose their memory and get other memory at the same addresses |

mod asleep;
mod free;
mod mapping;
mod space;
mod table;
mod window;

pub(crate) use asleep::WakingPage;
pub(crate) use free::{FreePage, PageId};
pub(crate) use mapping::create_memory;
pub(crate) use table::MappingUse;

use std::collections::BTreeMap;

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::lock::{Mutex, MutexGuard, Once, rank};
use sconce_base::types::DeviceIndex;

use crate::device::peers;
use crate::event::NativeEvent;
use space::PageAddresses;
use table::PageTable;

/// The smallest page, in bytes; a multiple of what drivers ask for.
pub(crate) const SMALLEST_PAGE: u64 = 2 << 20;
/// The largest page.
const LARGEST_PAGE: u64 = 32 << 20;
/// A page is at most this part of what the device's pages hold together.
const PAGE_SHARE: u64 = 256;
/// How many mappings a page may have on average.
const MOST_MAPPINGS: usize = 4;

static PAGES: PerDevice<Mutex<rank::Pages, DevicePages>> =
    per_device!(Mutex::new(DevicePages::new()));

/// The pages of a device and their addresses.
pub(crate) struct DevicePages {
    space: PageAddresses,
    pub(crate) table: PageTable,
    /// Pages that the driver did not take back. They have no mapping, and serve the next request.
    spares: Vec<PageId>,
    /// Pages of runs that are asleep and have no memory: addresses and bytes.
    asleep: BTreeMap<u64, u64>,
    /// Work on spare mappings that have this number precedes this event.
    fence: Option<(u64, NativeEvent)>,
    last_fence: u64,
    /// Bytes of pages in runs.
    bytes: u64,
    /// How often pages were mapped once more, and how often an earlier mapping served.
    aliases_made: u64,
    alias_hits: u64,
}

/// What the pages of a device are doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageFigures {
    /// Pages got from the driver.
    pub pages: u64,
    /// Their bytes.
    pub page_bytes: u64,
    /// Mappings of pages, in use or not.
    pub mappings: u64,
    /// Bytes of pages that are asleep: their addresses are kept, and their memory is the driver's.
    pub sleeping_bytes: u64,
    /// Bytes of mappings beyond one for each page.
    pub alias_bytes: u64,
    /// How many mappings of pages that had one already were made.
    pub aliases_made: u64,
    /// How many requests earlier mappings served without a driver call.
    pub alias_hits: u64,
}

impl DevicePages {
    const fn new() -> DevicePages {
        DevicePages {
            space: PageAddresses::new(),
            table: PageTable::new(),
            spares: Vec::new(),
            asleep: BTreeMap::new(),
            fence: None,
            last_fence: 0,
            bytes: 0,
            aliases_made: 0,
            alias_hits: 0,
        }
    }

    /// The sizes of new pages of so many bytes in all. Pages grow with the memory that there is, so that both
    /// their number and the share of memory at their borders stay small.
    pub(crate) fn sizes(&self, bytes: u64) -> Vec<u64> {
        let share = (self.bytes + bytes) / PAGE_SHARE;
        let most = if share < 2 * SMALLEST_PAGE { SMALLEST_PAGE } else { 1 << share.ilog2() };
        let most = most.min(LARGEST_PAGE);
        let mut sizes = vec![most; (bytes / most) as usize];
        let rest = bytes % most;
        if rest != 0 {
            sizes.push(rest.next_multiple_of(SMALLEST_PAGE));
        }
        sizes
    }

    /// Bytes of pages in runs.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether so many more mappings are allowed.
    pub(crate) fn may_alias(&self, more: usize) -> bool {
        let (pages, mappings) = self.table.counts();
        mappings + more <= MOST_MAPPINGS * pages
    }

    /// Whether a range can be taken for new mappings.
    pub(crate) fn is_unused(&self, address: u64, bytes: u64) -> bool {
        self.space.is_unused(address, bytes)
    }

    /// Whether a page is in no run because the driver did not take it back, or not a mapping of it.
    pub(crate) fn is_kept(&self, id: PageId) -> bool {
        let is_broken = |address: &u64| {
            self.table.mapping(*address).is_some_and(|it| it.used == MappingUse::Broken)
        };
        let mut mappings = self.table.page(id).map_or(&[][..], |page| &page.mappings).iter();
        self.spares.contains(&id) || mappings.any(is_broken)
    }

    /// Mappings of pages that had one already were made.
    pub(crate) fn count_aliases(&mut self, made: usize) {
        self.aliases_made += made as u64;
    }

    /// A request was served by earlier mappings.
    pub(crate) fn count_hit(&mut self) {
        self.alias_hits += 1;
    }

    fn figures(&self) -> PageFigures {
        let (pages, mappings) = self.table.counts();
        let mapped: u64 = self.table.all().map(|(_, mapping)| mapping.bytes).sum();
        let page_bytes = self.table.page_bytes();
        PageFigures {
            pages: pages as u64,
            page_bytes,
            mappings: mappings as u64,
            sleeping_bytes: self.sleeping_bytes(),
            alias_bytes: mapped.saturating_sub(page_bytes),
            aliases_made: self.aliases_made,
            alias_hits: self.alias_hits,
        }
    }
}

/// Has the pages of devices opened to peers that get access to them later; before the first page.
pub(crate) fn follow_peers() {
    static ONCE: Once<rank::FirstTime> = Once::new();
    ONCE.call_once(|| peers::on_enabled(mapping::open_to_peer));
}

/// Locks the pages of a device. Before a cache and after the gate, in the order of locks.
pub(crate) fn lock(device: DeviceIndex) -> MutexGuard<'static, rank::Pages, DevicePages> {
    PAGES[device].lock()
}

/// The figures of a device's pages.
pub(crate) fn figures(device: DeviceIndex) -> PageFigures {
    lock(device).figures()
}
