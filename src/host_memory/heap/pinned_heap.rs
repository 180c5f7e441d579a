//! Pinned segments cut into blocks, and the figures of both.
//!
//! Nothing here locks or calls a driver. A thread that changes the heap holds its lock.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{NONE, PinnedBlock, PinnedBlocks, PinnedState};
use super::figures::HostMemoryStats;
use super::index::PinnedIndex;
use super::last_block::LastPinnedBlock;
use super::rounding::{PinnedKind, allowance, is_close, round, segment_bytes};
use super::shelf::Shelf;
use crate::caching::BlockId;

/// How a segment was pinned, and so how it is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinnedBy {
    /// Pinned by the driver.
    Driver,
    /// Got from the system, then registered with the driver.
    Registered,
}

/// Memory that is pinned in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PinnedSegment {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) kind: PinnedKind,
    pub(crate) source: PinnedBy,
}

/// All pinned memory of the process.
pub(crate) struct PinnedHeap {
    pub(crate) blocks: PinnedBlocks,
    pub(crate) index: PinnedIndex,
    pub(crate) shelf: Shelf,
    pub(crate) segments: BTreeMap<usize, PinnedSegment>,
    /// Free blocks of each kind by size and address.
    pub(crate) free: [BTreeSet<(usize, usize)>; PinnedKind::KEPT],
    pub(crate) figures: HostMemoryStats,
    pub(crate) last: LastPinnedBlock,
    /// For small and for large segments.
    used: [KindUse; 2],
}

/// Bytes of blocks in use.
#[derive(Clone, Copy)]
struct KindUse {
    now: usize,
    /// At most, since the cache was last emptied.
    most: usize,
}

impl PinnedHeap {
    pub(crate) const fn new() -> PinnedHeap {
        PinnedHeap {
            blocks: PinnedBlocks::new(),
            index: PinnedIndex::new(),
            shelf: Shelf::new(),
            segments: BTreeMap::new(),
            free: [const { BTreeSet::new() }; PinnedKind::KEPT],
            figures: HostMemoryStats::NONE,
            last: LastPinnedBlock::NOTHING,
            used: [KindUse { now: 0, most: 0 }; 2],
        }
    }

    /// Hands out a block that was freed before with the same size.
    #[inline]
    pub(crate) fn take_same(&mut self, requested: usize) -> Option<usize> {
        let id = self.shelf.take(&mut self.blocks, round(requested)?)?;
        Some(self.hand_out(id, requested))
    }

    /// Hands out the free block that fits best, cutting off what is too much.
    pub(crate) fn take(&mut self, requested: usize) -> Option<usize> {
        let rounded = round(requested)?;
        if let Some(id) = self.shelf.take(&mut self.blocks, rounded) {
            return Some(self.hand_out(id, requested));
        }
        if let Some(id) = self.best_fit(rounded)
            && (self.shelf.is_empty() || is_close(self.blocks[id].bytes, rounded))
        {
            return Some(self.cut_out(id, rounded, requested));
        }
        if self.shelf.is_empty() {
            return None;
        }
        self.clear_shelf();
        let id = self.best_fit(rounded)?;
        Some(self.cut_out(id, rounded, requested))
    }

    /// The smallest free block that is large enough: of the reserve, else of the request's kind.
    fn best_fit(&self, rounded: usize) -> Option<BlockId> {
        [PinnedKind::Reserve, PinnedKind::of(rounded)].into_iter().find_map(|kind| {
            let (_, address) = self.free[kind as usize].range((rounded, 0)..).next()?;
            self.index.at(*address)
        })
    }

    /// Hands out the beginning of a free block.
    fn cut_out(&mut self, id: BlockId, rounded: usize, requested: usize) -> usize {
        let PinnedBlock { address, bytes, segment, kind, .. } = self.blocks[id];
        self.pull(kind, bytes, address);
        if bytes > rounded {
            let rest = PinnedBlock::free(address + rounded, bytes - rounded, segment, kind);
            self.add_free(rest);
            self.blocks[id].bytes = rounded;
        }
        self.index.hold(address, id);
        self.hand_out(id, requested)
    }

    fn add_free(&mut self, block: PinnedBlock) {
        self.free[block.kind as usize].insert((block.bytes, block.address));
        let id = self.blocks.add(block);
        self.index.add(block.address, id);
    }

    fn pull(&mut self, kind: PinnedKind, bytes: usize, address: usize) {
        if let Some(free) = self.free.get_mut(kind as usize) {
            free.remove(&(bytes, address));
        }
    }

    #[inline]
    fn hand_out(&mut self, id: BlockId, requested: usize) -> usize {
        let block = &mut self.blocks[id];
        block.state = PinnedState::Held;
        block.requested = requested;
        let PinnedBlock { address, bytes, .. } = *block;
        self.figures.hand_out(bytes, requested);
        let kind = self.blocks[id].kind;
        if let Some(used) = self.used.get_mut(kind as usize) {
            used.now += bytes;
            used.most = used.most.max(used.now);
        }
        if kind != PinnedKind::Alone {
            self.last = LastPinnedBlock::held(id, address, requested);
        }
        address
    }

    /// Does what the last block has left undone; anything but its own ways begins with this.
    #[inline]
    pub(crate) fn finish_last(&mut self) {
        if self.last.id != NONE {
            self.finish_last_slowly();
        }
    }

    fn finish_last_slowly(&mut self) {
        let LastPinnedBlock { id, free, again, .. } =
            std::mem::replace(&mut self.last, LastPinnedBlock::NOTHING);
        let PinnedBlock { bytes, requested, .. } = self.blocks[id];
        self.figures.repeat(bytes, requested, again);
        if free {
            // Blocks that are alone in their segments are never the last block, so nothing comes out.
            let outgoing = self.give_back(id);
            debug_assert_eq!(outgoing, None);
        }
    }

    /// Takes back a block that nothing uses any more. A segment that is not to be kept comes out.
    #[inline]
    pub(crate) fn give_back(&mut self, id: BlockId) -> Option<PinnedSegment> {
        let PinnedBlock { bytes, requested, kind, .. } = self.blocks[id];
        self.figures.take_back(bytes, requested);
        if let Some(used) = self.used.get_mut(kind as usize) {
            used.now -= bytes;
        }
        if kind == PinnedKind::Alone {
            return self.take_alone(id);
        }
        let turned_out = self.shelf.put(&mut self.blocks, id);
        if let Some(first) = turned_out {
            self.take_down(first);
        }
        None
    }

    #[cold]
    fn take_alone(&mut self, id: BlockId) -> Option<PinnedSegment> {
        let address = self.blocks[id].address;
        self.index.let_go(address);
        self.index.remove(address);
        self.blocks.remove(id);
        self.remove_segment(address)
    }

    /// Merges a list of blocks that were turned out of their place on the shelf.
    fn take_down(&mut self, first: BlockId) {
        let mut id = first;
        while id != NONE {
            let next = self.blocks[id].next;
            self.shelf.taken_down();
            self.merge(id);
            id = next;
        }
    }

    /// Merges everything that lies on the shelf.
    pub(crate) fn clear_shelf(&mut self) {
        for first in self.shelf.clear() {
            let mut id = first;
            while id != NONE {
                let next = self.blocks[id].next;
                self.merge(id);
                id = next;
            }
        }
    }

    /// Makes a block one with its free neighbours.
    fn merge(&mut self, id: BlockId) {
        let PinnedBlock { mut address, mut bytes, segment, kind, .. } = self.blocks[id];
        self.index.let_go(address);
        self.index.remove(address);
        self.blocks.remove(id);
        let free_in_segment =
            |block: &PinnedBlock| block.segment == segment && block.state == PinnedState::Free;
        if let Some(next) = self.index.at(address + bytes)
            && free_in_segment(&self.blocks[next])
        {
            bytes += self.absorb(next);
        }
        if let Some(previous) = self.index.below(address)
            && free_in_segment(&self.blocks[previous])
            && self.blocks[previous].end() == address
        {
            address = self.blocks[previous].address;
            bytes += self.absorb(previous);
        }
        self.add_free(PinnedBlock::free(address, bytes, segment, kind));
    }

    /// Takes a free block out; returns its bytes.
    fn absorb(&mut self, id: BlockId) -> usize {
        let PinnedBlock { address, bytes, kind, .. } = self.blocks[id];
        self.pull(kind, bytes, address);
        self.index.remove(address);
        self.blocks.remove(id);
        bytes
    }

    /// The bytes that would be pinned beyond what the use of memory so far allows, if a segment was
    /// pinned for a request. Small and large segments are apart: a program that alternates between them
    /// would free at each turn what the next turn needs.
    pub(crate) fn excess(&self, rounded: usize, keep: bool) -> usize {
        let kind = kind_for(rounded, keep);
        let Some(KindUse { now, most }) = self.used.get(kind as usize) else { return 0 };
        let pinned: usize =
            self.segments.values().filter(|s| s.kind == kind).map(|segment| segment.bytes).sum();
        let wanted = segment_bytes(kind, rounded, self.pinned());
        let most = now.saturating_add(rounded).max(*most);
        let all: usize = self.used.iter().map(|used| used.most).sum();
        let allowed = most.saturating_add(allowance(all.max(most)));
        pinned.saturating_add(wanted).saturating_sub(allowed)
    }

    /// The segment to pin for a request that nothing fits, and the segments to free before.
    pub(crate) fn plan(
        &mut self,
        rounded: usize,
        keep: bool,
        may_give_back: bool,
    ) -> (PinnedKind, usize, Vec<PinnedSegment>) {
        let kind = kind_for(rounded, keep);
        let wanted = segment_bytes(kind, rounded, self.pinned());
        let excess = self.excess(rounded, keep);
        let give_back = if may_give_back { excess } else { 0 };
        let outgoing = self.take_idle(&[kind], give_back);
        let found: usize = outgoing.iter().map(|segment| segment.bytes).sum();
        let bytes = if found < excess { segment_bytes(kind, rounded, 0) } else { wanted };
        (kind, bytes, outgoing)
    }

    /// Takes out segments without a block in use, the smallest first, until they add up to `enough` bytes.
    pub(crate) fn take_idle(&mut self, kinds: &[PinnedKind], enough: usize) -> Vec<PinnedSegment> {
        if enough == 0 {
            return Vec::new();
        }
        self.clear_shelf();
        let mut whole: Vec<(usize, usize)> = kinds
            .iter()
            .flat_map(|kind| self.free[*kind as usize].iter().copied())
            .filter(|(bytes, address)| {
                self.segments.get(address).is_some_and(|s| s.bytes == *bytes)
            })
            .collect();
        whole.sort_unstable();
        let mut outgoing = Vec::new();
        let mut found = 0;
        for (bytes, address) in whole {
            if found >= enough {
                break;
            }
            if let Some(id) = self.index.at(address) {
                self.absorb(id);
            }
            outgoing.extend(self.remove_segment(address));
            found += bytes;
        }
        outgoing
    }

    fn remove_segment(&mut self, address: usize) -> Option<PinnedSegment> {
        let segment = self.segments.remove(&address)?;
        self.figures.unpin(segment.bytes);
        Some(segment)
    }

    /// Takes in a segment; all of it is free.
    pub(crate) fn adopt(&mut self, segment: PinnedSegment) {
        self.figures.pin(segment.bytes);
        self.add_whole(segment);
    }

    fn add_whole(&mut self, mut segment: PinnedSegment) {
        // A segment of one request that could not leave stays for all requests.
        if segment.kind == PinnedKind::Alone {
            segment.kind = PinnedKind::of(segment.bytes);
        }
        let PinnedSegment { address, bytes, kind, .. } = segment;
        self.segments.insert(address, segment);
        self.add_free(PinnedBlock::free(address, bytes, address, kind));
    }

    /// Takes in a segment that [`PinnedHeap::take_idle`] or a free gave out, and that could not go.
    pub(crate) fn adopt_again(&mut self, segment: PinnedSegment) {
        self.figures.keep(segment.bytes);
        self.add_whole(segment);
    }

    /// Takes in a segment and hands out its beginning, before another thread can.
    pub(crate) fn adopt_for(&mut self, segment: PinnedSegment, requested: usize) -> Option<usize> {
        let PinnedSegment { address, bytes, kind, .. } = segment;
        let rounded = round(requested)?;
        if kind != PinnedKind::Alone {
            self.adopt(segment);
            let id = self.index.at(address)?;
            return Some(self.cut_out(id, rounded, requested));
        }
        self.segments.insert(address, segment);
        self.figures.pin(bytes);
        let id = self.blocks.add(PinnedBlock::free(address, bytes, address, kind));
        self.index.add(address, id);
        self.index.hold(address, id);
        Some(self.hand_out(id, requested))
    }

    /// The bytes that are pinned.
    pub(crate) fn pinned(&self) -> usize {
        self.figures.allocated_bytes.current as usize
    }

    /// What is kept from now on follows the use from now on.
    pub(crate) fn forget_most_used(&mut self) {
        for used in &mut self.used {
            used.most = used.now;
        }
    }

    /// The block that holds an address.
    pub(crate) fn block_at(&self, address: usize) -> Option<BlockId> {
        let whole = self.index.whole_at(address);
        whole.or_else(|| {
            self.index.at_or_below(address).filter(|id| address < self.blocks[*id].end())
        })
    }
}

/// The kind of segment that a request is served from.
pub(crate) fn kind_for(rounded: usize, keep: bool) -> PinnedKind {
    if keep { PinnedKind::of(rounded) } else { PinnedKind::Alone }
}
