//! Mappings side by side that are looked at one after the other, each of another page.

use std::collections::VecDeque;

use super::free::{FreePage, PageId};

/// The last mappings that were seen, without a gap and without the same page twice.
pub(super) struct Window {
    /// The mappings, and 1 for each whose page has to move there.
    pub(super) pages: VecDeque<(FreePage, usize)>,
    /// Whether a page is among them, by page.
    inside: Vec<bool>,
    pub(super) bytes: u64,
    /// How many pages have to move.
    pub(super) moves: usize,
}

impl Window {
    pub(super) fn new(pages: usize) -> Window {
        Window { pages: VecDeque::new(), inside: vec![false; pages], bytes: 0, moves: 0 }
    }

    pub(super) fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    /// The bytes of the first mapping.
    pub(super) fn first_bytes(&self) -> Option<u64> {
        self.pages.front().map(|(page, _)| page.bytes)
    }

    /// Takes the first mapping out.
    pub(super) fn pop(&mut self) -> Option<PageId> {
        let (page, moves) = self.pages.pop_front()?;
        self.inside[page.page] = false;
        self.bytes -= page.bytes;
        self.moves -= moves;
        Some(page.page)
    }

    /// Adds a mapping. What is not followed by it goes, and what precedes another mapping of its page.
    pub(super) fn push(&mut self, page: FreePage, moves: usize) {
        let end = self.pages.back().map(|(last, _)| last.address + last.bytes);
        if end.is_some_and(|end| end != page.address) {
            self.clear();
        }
        while self.inside[page.page] && self.pop().is_some() {}
        self.inside[page.page] = true;
        self.bytes += page.bytes;
        self.moves += moves;
        self.pages.push_back((page, moves));
    }
}
