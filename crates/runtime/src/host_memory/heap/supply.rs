//! Segments that come into the heap and leave it: how much may be pinned, which go back before, and how a new one is
//! taken in.

use super::block::Block;
use super::pinned_heap::{KindUse, PinnedHeap};
use super::rounding::{Kind, allowance, round, segment_bytes};
use super::segments::Segment;
use crate::caching::BlockId;

impl PinnedHeap {
    /// The bytes that would be pinned beyond what the use of memory so far allows, if a segment was
    /// pinned for a request. Small and large segments are apart: a program that alternates between them
    /// would free at each turn what the next turn needs.
    pub(crate) fn excess(&self, rounded: usize, keep: bool) -> usize {
        let kind = kind_for(rounded, keep);
        let Some(KindUse { now, most }) = self.used.get(kind as usize) else { return 0 };
        let pinned: usize =
            self.segments.all().filter(|(_, s)| s.kind == kind).map(|(_, s)| s.bytes).sum();
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
    ) -> (Kind, usize, Vec<Segment>) {
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
    pub(crate) fn take_idle(&mut self, kinds: &[Kind], enough: usize) -> Vec<Segment> {
        if enough == 0 {
            return Vec::new();
        }
        self.clear_shelf(true);
        let mut whole: Vec<(usize, usize, BlockId)> = self
            .segments
            .all()
            .filter(|(_, segment)| kinds.contains(&segment.kind))
            .filter_map(|(_, segment)| {
                let id = self.addresses.get(segment.address)?;
                let idle = self.is_free(id) && self.blocks[id].is_whole();
                idle.then_some((segment.bytes, segment.address, id))
            })
            .collect();
        whole.sort_unstable();
        let mut outgoing = Vec::new();
        let mut found = 0;
        for (bytes, _, id) in whole {
            if found >= enough {
                break;
            }
            let segment = self.blocks[id].segment;
            self.pull(id);
            self.remove(id);
            outgoing.extend(self.remove_segment(segment));
            found += bytes;
        }
        outgoing
    }

    pub(super) fn remove_segment(&mut self, number: u32) -> Option<Segment> {
        let segment = self.segments.remove(number)?;
        self.figures.unpin(segment.bytes);
        Some(segment)
    }

    /// Takes in a segment; all of it is free.
    pub(crate) fn adopt(&mut self, segment: Segment) -> BlockId {
        self.figures.pin(segment.bytes);
        self.add_whole(segment)
    }

    fn add_whole(&mut self, mut segment: Segment) -> BlockId {
        // A segment of one request that could not leave stays for all requests.
        if segment.kind == Kind::Alone {
            segment.kind = Kind::of(segment.bytes);
        }
        let Segment { address, bytes, kind, .. } = segment;
        let number = self.segments.add(segment);
        self.add_free(Block::free(address, bytes, number, kind))
    }

    /// Takes in a segment that [`PinnedHeap::take_idle`] or a free gave out, and that could not go.
    pub(crate) fn adopt_again(&mut self, segment: Segment) {
        self.figures.keep(segment.bytes);
        self.add_whole(segment);
    }

    /// Takes in a segment and hands out its beginning, before another thread can.
    pub(crate) fn adopt_for(&mut self, segment: Segment, requested: usize) -> Option<usize> {
        let rounded = round(requested)?;
        if segment.kind != Kind::Alone {
            let id = self.adopt(segment);
            return Some(self.cut_out(id, rounded, requested));
        }
        let Segment { address, bytes, kind, .. } = segment;
        let number = self.segments.add(segment);
        self.figures.pin(bytes);
        let id = self.add_free(Block::free(address, bytes, number, kind));
        Some(self.hand_out(id, requested))
    }
}

/// The kind of segment that a request is served from.
pub(crate) fn kind_for(rounded: usize, keep: bool) -> Kind {
    if keep { Kind::of(rounded) } else { Kind::Alone }
}
