//! Which page is mapped where, and which of its mappings is in use. Nothing here calls a driver.
//!
//! A page is physical memory. It may be mapped at several addresses, its *mappings*. Each mapping is in one of these
//! states, of which at most one mapping of a page is in one of the first three:
//!
//! - *present*: part of a run, which is a range of addresses of a heap;
//! - *lent*: the page is moving to another run. It comes back to this mapping if the driver refuses the new one;
//! - *asleep*: part of a run that is asleep. Addresses of such a run that have lost their page are not in this table;
//! - *spare*: kept for later. A program that returns to an earlier layout then makes no driver call;
//! - *broken*: never used again, since a driver call to undo it failed halfway.

use std::collections::BTreeMap;

use sconce_driver::{PhysicalHandle, StreamRef};

use super::free::{FreePage, FreePages, PageId};
use super::window::Window;

/// Physical memory.
#[derive(Debug)]
pub(crate) struct Page<H = PhysicalHandle> {
    pub(crate) handle: H,
    pub(crate) bytes: u64,
    /// The addresses of its mappings.
    pub(crate) mappings: Vec<u64>,
}

/// What a mapping is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MappingUse {
    /// It is part of a run.
    Present,
    /// It was part of a run until the page was lent. The page may come back to it.
    Lent,
    /// It is part of a run that is asleep, or is falling asleep or waking.
    Asleep,
    /// It is kept for later.
    Spare,
    /// The driver may have kept part of what was undone: the mapping is never used again.
    Broken,
}

/// A mapping of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageMapping {
    pub(crate) page: PageId,
    pub(crate) bytes: u64,
    pub(crate) used: MappingUse,
    /// The stream that used it last, if the library owns that stream.
    pub(crate) last: Option<StreamRef>,
    /// The fence that comes after all work on it; 0 if none was set.
    pub(crate) fence: u64,
}

/// The pages of a device.
#[derive(Debug)]
pub(crate) struct PageTable<H = PhysicalHandle> {
    pages: Vec<Option<Page<H>>>,
    unused: Vec<PageId>,
    mappings: BTreeMap<u64, PageMapping>,
}

impl<H> PageTable<H> {
    pub(super) const fn new() -> PageTable<H> {
        PageTable { pages: Vec::new(), unused: Vec::new(), mappings: BTreeMap::new() }
    }

    /// How many pages there are, and how many mappings.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.pages.len() - self.unused.len(), self.mappings.len())
    }

    /// The bytes of all pages.
    pub(crate) fn page_bytes(&self) -> u64 {
        self.pages.iter().flatten().map(|page| page.bytes).sum()
    }

    /// All pages.
    pub(crate) fn all_pages(&self) -> impl Iterator<Item = PageId> {
        self.pages.iter().enumerate().filter(|(_, page)| page.is_some()).map(|(id, _)| id)
    }

    /// The pages that are mapped nowhere.
    pub(crate) fn without_mapping(&self) -> Vec<PageId> {
        let bare = |page: &Option<Page<H>>| page.as_ref().is_some_and(|it| it.mappings.is_empty());
        (0..self.pages.len()).filter(|id| bare(&self.pages[*id])).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pages.len() == self.unused.len() && self.mappings.is_empty()
    }

    /// Adds a page without a mapping.
    pub(crate) fn add_page(&mut self, handle: H, bytes: u64) -> PageId {
        let page = Some(Page { handle, bytes, mappings: Vec::new() });
        match self.unused.pop() {
            Some(id) => {
                self.pages[id] = page;
                id
            }
            None => {
                self.pages.push(page);
                self.pages.len() - 1
            }
        }
    }

    pub(crate) fn page(&self, id: PageId) -> Option<&Page<H>> {
        self.pages.get(id)?.as_ref()
    }

    /// Removes a page that has no mapping.
    pub(crate) fn remove_page(&mut self, id: PageId) {
        self.pages[id] = None;
        self.unused.push(id);
    }

    /// Adds a mapping, as a spare one.
    pub(crate) fn add_mapping(&mut self, address: u64, page: PageId) {
        let Some(known) = self.pages[page].as_mut() else { return };
        known.mappings.push(address);
        let (bytes, used) = (known.bytes, MappingUse::Spare);
        let mapping = PageMapping { page, bytes, used, last: None, fence: 0 };
        self.mappings.insert(address, mapping);
    }

    /// Removes a mapping.
    pub(crate) fn remove_mapping(&mut self, address: u64) {
        let Some(mapping) = self.mappings.remove(&address) else { return };
        if let Some(page) = self.pages[mapping.page].as_mut() {
            page.mappings.retain(|at| *at != address);
        }
    }

    pub(crate) fn mapping(&self, address: u64) -> Option<&PageMapping> {
        self.mappings.get(&address)
    }

    /// Changes the state of a mapping; `by` is the stream whose heap has it or had it.
    pub(crate) fn set_used(&mut self, address: u64, used: MappingUse, by: Option<StreamRef>) {
        if let Some(mapping) = self.mappings.get_mut(&address) {
            mapping.used = used;
            mapping.last = by;
            mapping.fence = 0;
        }
    }

    /// The page has moved to another mapping: this one is kept for later.
    pub(crate) fn set_spare(&mut self, address: u64) {
        if let Some(mapping) = self.mappings.get_mut(&address) {
            mapping.used = MappingUse::Spare;
        }
    }

    /// The pages that lie whole in a range of a run.
    pub(crate) fn whole_pages(
        &self,
        from: u64,
        to: u64,
    ) -> impl DoubleEndedIterator<Item = FreePage> {
        self.pages_used_as(MappingUse::Present, from, to)
    }

    /// The mappings in a state that lie in a range as a whole.
    pub(crate) fn pages_used_as(
        &self,
        used: MappingUse,
        from: u64,
        to: u64,
    ) -> impl DoubleEndedIterator<Item = FreePage> {
        let inside = self.mappings.range(from..to);
        inside
            .filter(move |(address, mapping)| {
                mapping.used == used && *address + mapping.bytes <= to
            })
            .map(|(address, mapping)| FreePage {
                address: *address,
                bytes: mapping.bytes,
                page: mapping.page,
            })
    }

    /// The present mappings that a range of a run lies in, by address.
    pub(crate) fn covering(&self, from: u64, to: u64) -> impl Iterator<Item = FreePage> {
        let before = self.mappings.range(..=from).next_back();
        let first = before.map_or(from, |(address, _)| *address);
        let present = self.mappings.range(first..to.max(first));
        present.filter(|(_, mapping)| mapping.used == MappingUse::Present).map(
            |(address, mapping)| FreePage {
                address: *address,
                bytes: mapping.bytes,
                page: mapping.page,
            },
        )
    }

    /// The mappings, by address.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, &PageMapping)> {
        self.mappings.iter().map(|(address, mapping)| (*address, mapping))
    }

    /// The places of free pages, by page.
    pub(crate) fn free_pages<'a>(&self, free: impl Iterator<Item = &'a FreePage>) -> FreePages {
        let mut pages = FreePages::new(self.pages.len());
        free.for_each(|page| pages.add(page));
        pages
    }

    /// Mappings side by side that have at least `need` bytes and whose pages are all free. Of all such windows one in
    /// which the fewest pages move.
    pub(crate) fn find_window(&self, free: &FreePages, need: u64) -> Option<Vec<FreePage>> {
        if free.bytes() < need {
            return None;
        }
        let mut best: Option<(usize, Vec<FreePage>)> = None;
        let mut window = Window::new(self.pages.len());
        for (&address, mapping) in &self.mappings {
            let place = free.of(mapping.page);
            let moves = match (mapping.used, place) {
                (MappingUse::Present, Some(place)) if place == address => 0,
                (MappingUse::Spare, Some(_)) => 1,
                _ => {
                    window.clear();
                    continue;
                }
            };
            let page = FreePage { address, bytes: mapping.bytes, page: mapping.page };
            window.push(page, moves);
            while window.first_bytes().is_some_and(|first| window.bytes - first >= need) {
                window.pop();
            }
            let fits = window.bytes >= need;
            if fits && best.as_ref().is_none_or(|(least, _)| window.moves < *least) {
                best = Some((window.moves, window.pages.iter().map(|(page, _)| *page).collect()));
            }
        }
        best.map(|(_, window)| window)
    }

    /// Marks the spare mappings that a stream of the library used last and that have no fence yet; returns
    /// how many.
    pub(crate) fn mark(&mut self, stream: StreamRef, fence: u64) -> usize {
        let mut marked = 0;
        for mapping in self.mappings.values_mut() {
            let is_new = mapping.used == MappingUse::Spare && mapping.fence == 0;
            if is_new && mapping.last == Some(stream) {
                mapping.fence = fence;
                marked += 1;
            }
        }
        marked
    }

    /// The spare mappings with this fence.
    pub(crate) fn fenced(&self, fence: u64) -> Vec<u64> {
        let of =
            |mapping: &PageMapping| mapping.fence == fence && mapping.used == MappingUse::Spare;
        self.mappings.iter().filter(|(_, it)| of(it)).map(|(address, _)| *address).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u64 = 2 << 20;

    fn with_pages(count: usize) -> PageTable<usize> {
        let mut table = PageTable::new();
        for id in 0..count {
            assert_eq!(table.add_page(id, UNIT), id);
        }
        table
    }

    const BASE: u64 = 1 << 40;

    /// Pages that are present far away, and the places of a window that serves a request.
    fn window(table: &PageTable<usize>, pages: &[PageId], need: u64) -> Option<Vec<u64>> {
        let far = |page: &PageId| FreePage { address: *page as u64, bytes: UNIT, page: *page };
        let far: Vec<FreePage> = pages.iter().map(far).collect();
        let free = table.free_pages(far.iter());
        let found = table.find_window(&free, need)?;
        Some(found.iter().map(|page| (page.address - BASE) / UNIT).collect())
    }

    #[test]
    fn windows_are_unbroken_name_no_page_twice_and_move_the_fewest_pages() {
        let mut table = with_pages(4);
        for (place, page) in [(0, 0), (1, 1), (2, 0), (3, 2), (10, 3), (11, 2), (20, 1)] {
            table.add_mapping(BASE + place * UNIT, page);
        }
        let all = [0, 1, 2, 3];
        assert_eq!(window(&table, &all, 1), Some(vec![0]));
        assert_eq!(window(&table, &all, UNIT + 1), Some(vec![0, 1]));
        assert_eq!(window(&table, &all, 2 * UNIT + 1), Some(vec![1, 2, 3]));
        assert_eq!(window(&table, &all, 3 * UNIT + 1), None, "page 0 would be in it twice");
        assert_eq!(window(&table, &[0, 2, 3], 2 * UNIT), Some(vec![2, 3]));
        table.set_used(BASE + 2 * UNIT, MappingUse::Present, None);
        assert_eq!(window(&table, &[2, 3], 2 * UNIT), Some(vec![10, 11]));
        table.set_used(BASE + 11 * UNIT, MappingUse::Broken, None);
        assert_eq!(window(&table, &[2, 3], 2 * UNIT), None);
        // Page 0 is free where it is present: it stays, beside page 2, which moves there.
        let places = [(0, BASE + 2 * UNIT), (2, 5)];
        let places = places.map(|(page, address)| FreePage { address, bytes: UNIT, page });
        let found = table.find_window(&table.free_pages(places.iter()), 2 * UNIT).unwrap();
        assert_eq!(found.iter().map(|page| page.page).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn pages_at_the_border_of_a_range_are_not_whole() {
        let mut table = with_pages(3);
        for page in 0..3 {
            table.add_mapping((page as u64 + 8) * UNIT, page);
            table.set_used((page as u64 + 8) * UNIT, MappingUse::Present, None);
        }
        let whole = |from, to| table.whole_pages(from, to).map(|it| it.page).collect::<Vec<_>>();
        assert_eq!(whole(8 * UNIT, 11 * UNIT), [0, 1, 2]);
        assert_eq!(whole(8 * UNIT + 512, 11 * UNIT - 512), [1]);
        assert_eq!(whole(9 * UNIT + 512, 10 * UNIT), []);
    }
}
