//! Free pages, and where they are present.

/// The number of a page.
pub(crate) type PageId = usize;

/// A page that can be taken out of a free block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FreePage {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) page: PageId,
}

/// Where free pages are present, by page.
#[derive(Debug)]
pub(crate) struct FreePages {
    of: Vec<Option<u64>>,
    bytes: u64,
}

impl FreePages {
    /// None yet, of so many pages.
    pub(super) fn new(pages: usize) -> FreePages {
        FreePages { of: vec![None; pages], bytes: 0 }
    }

    pub(super) fn add(&mut self, page: &FreePage) {
        self.of[page.page] = Some(page.address);
        self.bytes += page.bytes;
    }

    /// Their bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where a page is present, if it is free.
    pub(crate) fn of(&self, page: PageId) -> Option<u64> {
        *self.of.get(page)?
    }
}
