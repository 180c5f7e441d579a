//! What was done to memory: for each piece of it the accesses that later ones may conflict with, and the allocator's
//! block that it belongs to.
//!
//! Pieces are ranges of *places*. A place is an address, or, where physical memory is mapped, a number of the physical
//! memory's own, so that two mappings of one page are one place.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::clock::{Clock, Epoch};
use crate::operation::Operation;
use crate::pattern::Pattern;

/// Where places of physical memory begin: no address of a process is that high.
const PHYSICAL: u64 = 1 << 62;
/// Memory that nobody has announced is kept in pieces of this size.
const UNANNOUNCED: u64 = 2 << 20;
/// Of more than this at once, as where a size is wrong, the rest is one piece.
const MOST_IN_PIECES: u64 = 2 << 30;
/// The most accesses that are remembered of a piece.
const MOST_ACCESSES: usize = 4096;

/// An access that a later one may conflict with.
#[derive(Clone, Debug)]
pub(crate) struct PastAccess {
    pub(crate) epoch: Epoch,
    pub(crate) writes: bool,
    pattern: Pattern,
    pub(crate) by: Arc<Operation>,
}

/// A block of the allocator.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) allocated: Arc<Operation>,
    pub(crate) freed: Option<Freed>,
}

/// The end of a block.
#[derive(Clone, Debug)]
pub(crate) struct Freed {
    pub(crate) by: Arc<Operation>,
    /// What precedes the next use: all of the block's stream, and of the streams that were recorded.
    pub(crate) before: Clock,
}

impl Block {
    /// What freed it, as an access.
    pub(crate) fn freed_by(&self) -> Option<(Arc<Operation>, bool)> {
        self.freed.as_ref().map(|freed| (Arc::clone(&freed.by), true))
    }
}

/// A piece of memory.
#[derive(Clone, Debug, Default)]
struct Piece {
    end: u64,
    block: Option<Arc<Block>>,
    past: Vec<PastAccess>,
}

/// Two accesses of one byte, of which nothing says which comes first.
#[derive(Clone, Debug)]
pub(crate) struct Conflict {
    /// The byte, as the second one addressed it.
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) first: PastAccess,
    pub(crate) block: Option<Arc<Block>>,
}

/// A mapping of physical memory.
#[derive(Clone, Copy, Debug)]
struct Mapping {
    end: u64,
    place: u64,
}

/// Memory of the driver.
#[derive(Debug)]
struct Segment {
    end: u64,
    /// Whether the allocator makes blocks of it, so that what is outside of them is nobody's.
    has_blocks: bool,
    /// Whether it may have blocks that were handed out while nobody told.
    has_unknown_blocks: bool,
    /// What gave it back to the driver.
    released: Option<Arc<Operation>>,
}

/// Who holds physical memory, which lives until nobody does.
#[derive(Debug, Default)]
struct Held {
    /// Its handles; one that was retained under its own number is here twice.
    handles: Vec<u64>,
    mappings: usize,
}

/// A handle of physical memory that is given back.
#[derive(Debug)]
pub(crate) struct Dropped {
    handle: u64,
    place: u64,
    bytes: u64,
}

/// What was known of memory that is given back.
#[derive(Debug)]
pub(crate) struct Forgotten {
    address: u64,
    pieces: Vec<(u64, Piece)>,
}

/// Mappings that are undone, by their addresses.
#[derive(Debug)]
pub(crate) struct Unmapped(Vec<(u64, Mapping)>);

/// Why memory must not be used.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It was given back to the driver.
    Released(Arc<Operation>),
    /// Its block was freed.
    Freed(Arc<Block>),
    /// It lies outside of the block in which the access begins, or of any block; the block that is next to it.
    Outside(Option<Arc<Block>>),
}

/// All memory.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pieces: BTreeMap<u64, Piece>,
    segments: BTreeMap<u64, Segment>,
    mappings: BTreeMap<u64, Mapping>,
    /// Where the places of each physical handle begin.
    physical: HashMap<u64, u64>,
    /// Who holds physical memory, by where its places begin.
    held: HashMap<u64, Held>,
    next_place: u64,
    /// Mappings that were undone last, by their addresses: those of a pool that goes to sleep are among them.
    undone: BTreeMap<u64, Mapping>,
    /// Pieces with blocks of mappings that are asleep, relative to the mapping's start: by its address.
    asleep: BTreeMap<u64, Vec<(u64, Piece)>>,
}

/// What is about to be done.
pub(crate) struct NewAccess<'a> {
    pub(crate) epoch: Epoch,
    pub(crate) writes: bool,
    pub(crate) pattern: &'a Pattern,
    pub(crate) by: &'a Arc<Operation>,
    /// What precedes it.
    pub(crate) clock: &'a Clock,
    /// What precedes everything from now on, and so is part of `clock`.
    pub(crate) settled: &'a Clock,
}

impl Shadow {
    /// Physical memory of `bytes` has a new handle.
    pub(crate) fn create(&mut self, handle: u64, bytes: u64) {
        let place = PHYSICAL + self.next_place;
        // No piece has places of two of them.
        self.next_place += bytes.next_multiple_of(UNANNOUNCED);
        self.allocated(place, bytes);
        self.hold(handle, place);
    }

    fn hold(&mut self, handle: u64, place: u64) {
        self.physical.insert(handle, place);
        self.held.entry(place).or_default().handles.push(handle);
    }

    /// A handle is given back. Returns what [`Shadow::not_dropped`] takes.
    pub(crate) fn drop_handle(&mut self, handle: u64) -> Option<Dropped> {
        let place = *self.physical.get(&handle)?;
        let bytes = self.segments.get(&place)?.end - place;
        let held = self.held.get_mut(&place)?;
        let at = held.handles.iter().position(|other| *other == handle)?;
        held.handles.swap_remove(at);
        if !held.handles.contains(&handle) {
            self.physical.remove(&handle);
        }
        self.forget_if_nobody_holds(place);
        Some(Dropped { handle, place, bytes })
    }

    /// The driver has refused to take a handle back.
    pub(crate) fn not_dropped(&mut self, Dropped { handle, place, bytes }: Dropped) {
        if !self.held.contains_key(&place) {
            self.allocated(place, bytes);
        }
        self.hold(handle, place);
    }

    /// Physical memory without handles and mappings is gone, and its places are used for nothing else.
    fn forget_if_nobody_holds(&mut self, place: u64) {
        let is_held = |held: &Held| !held.handles.is_empty() || held.mappings > 0;
        if self.held.get(&place).is_none_or(is_held) {
            return;
        }
        self.held.remove(&place);
        if let Some(Segment { end, .. }) = self.segments.remove(&place) {
            let end = end.next_multiple_of(UNANNOUNCED);
            self.carve(place, end).iter().for_each(|at| drop(self.pieces.remove(at)));
        }
    }

    /// Where the places of the physical memory begin that has a place.
    fn held_at(&self, place: u64) -> Option<u64> {
        self.segment_at(place).map(|(start, _)| start).filter(|start| self.held.contains_key(start))
    }

    /// The places of a handle's memory.
    pub(crate) fn physical(&self, handle: u64) -> Option<Pattern> {
        let place = *self.physical.get(&handle)?;
        let (start, segment) = self.segment_at(place)?;
        Some(Pattern::range(start, segment.end - start))
    }

    /// The memory of a handle is mapped at an address.
    pub(crate) fn map(&mut self, address: u64, bytes: u64, handle: u64, offset: u64) {
        let Some(start) = self.physical.get(&handle).copied() else { return };
        if let Some(held) = self.held.get_mut(&start) {
            held.mappings += 1;
        }
        let place = start + offset;
        self.mappings.insert(address, Mapping { end: address + bytes, place });
        let awake = self.asleep.remove(&address).unwrap_or_default();
        for (at, piece) in awake.into_iter().filter(|(at, piece)| *at < bytes && piece.end <= bytes)
        {
            self.has_block(place);
            self.pieces.insert(place + at, Piece { end: place + piece.end, ..piece });
        }
    }

    /// A mapping was undone whose addresses will be mapped again: blocks stay where they are.
    pub(crate) fn sleeps(&mut self, address: u64, bytes: u64) {
        let inside: Vec<(u64, Mapping)> =
            self.undone.range(address..address + bytes).map(|(at, it)| (*at, *it)).collect();
        for (at, Mapping { end, place }) in inside {
            let places = place..place + (end - at);
            let pieces = self.pieces.range(places).filter(|(_, piece)| piece.block.is_some());
            let relative = |(start, piece): (&u64, &Piece)| {
                let (block, past) = (piece.block.clone(), Vec::new());
                (start - place, Piece { end: piece.end - place, block, past })
            };
            let pieces = pieces.map(relative).collect();
            self.asleep.insert(at, pieces);
            // The memory is free for others, who may map the same handle.
            for at in self.carve(place, place + (end - at)) {
                self.pieces.remove(&at);
            }
        }
        self.undone.clear();
    }

    /// The handle of a mapping, under another number.
    pub(crate) fn retain(&mut self, address: u64, handle: u64) {
        let found = self.mappings.range(..=address).next_back();
        let place = found.filter(|(_, mapping)| address < mapping.end).map(|(_, it)| it.place);
        if let Some(place) = place.and_then(|place| self.held_at(place)) {
            self.hold(handle, place);
        }
    }

    /// Undoes mappings. Returns what [`Shadow::were_unmapped`] or [`Shadow::not_unmapped`] takes.
    pub(crate) fn unmap(&mut self, address: u64, bytes: u64) -> Unmapped {
        let inside: Vec<u64> =
            self.mappings.range(address..address + bytes).map(|(at, _)| *at).collect();
        self.undone.clear();
        for at in inside {
            self.undone.extend(self.mappings.remove(&at).map(|mapping| (at, mapping)));
        }
        Unmapped(self.undone.iter().map(|(at, mapping)| (*at, *mapping)).collect())
    }

    /// The driver has undone mappings.
    pub(crate) fn were_unmapped(&mut self, was: Unmapped) {
        for (_, mapping) in was.0 {
            let Some(place) = self.held_at(mapping.place) else { continue };
            if let Some(held) = self.held.get_mut(&place) {
                held.mappings = held.mappings.saturating_sub(1);
            }
            self.forget_if_nobody_holds(place);
        }
    }

    /// The driver has refused to undo mappings.
    pub(crate) fn not_unmapped(&mut self, was: Unmapped) {
        self.mappings.extend(was.0);
    }

    /// The places of a pattern of addresses, with what each is away from its address.
    pub(crate) fn places(&self, pattern: &Pattern) -> Vec<(Pattern, u64)> {
        // A size that is wrong does not reach the places of physical memory.
        let (low, high) = (pattern.start(), pattern.end().min(PHYSICAL));
        if low >= high {
            return Vec::new();
        }
        let before = self.mappings.range(..=low).next_back();
        let first = before.filter(|(_, mapping)| mapping.end > low).map_or(low, |(at, _)| *at);
        let mut places = Vec::new();
        let mut next = low;
        for (at, mapping) in self.mappings.range(first..high) {
            if next < *at {
                places.extend(pattern.within(next, *at).into_iter().map(|part| (part, 0)));
            }
            let moved = pattern.within((*at).max(next), mapping.end.min(high)).into_iter();
            places.extend(
                moved.map(|part| (part.moved(*at, mapping.place), mapping.place.wrapping_sub(*at))),
            );
            next = mapping.end;
        }
        if next < high {
            let is_whole = next == low && high == pattern.end();
            let rest = if is_whole { vec![pattern.clone()] } else { pattern.within(next, high) };
            places.extend(rest.into_iter().map(|part| (part, 0)));
        }
        places
    }

    /// Makes `low..high` pieces of their own, and returns where they begin.
    fn carve(&mut self, low: u64, high: u64) -> Vec<u64> {
        self.split(low);
        self.split(high);
        let mut starts = Vec::new();
        let mut next = low;
        let known: Vec<(u64, u64)> =
            self.pieces.range(low..high).map(|(at, piece)| (*at, piece.end)).collect();
        for (at, end) in known {
            if next < at {
                self.pieces.insert(next, Piece { end: at, ..Piece::default() });
                starts.push(next);
            }
            starts.push(at);
            next = end;
        }
        if next < high {
            self.pieces.insert(next, Piece { end: high, ..Piece::default() });
            starts.push(next);
        }
        starts
    }

    fn split(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        if piece.end <= at {
            return;
        }
        // Both halves keep all accesses: each has its own bytes.
        let rest = piece.clone();
        piece.end = at;
        self.pieces.insert(at, rest);
    }

    /// The pieces that an access meets; memory that nobody has announced becomes pieces.
    fn met(&mut self, low: u64, high: u64) -> Vec<u64> {
        let before = self.pieces.range(..=low).next_back();
        let mut starts: Vec<u64> = before
            .filter(|(at, piece)| piece.end > low && **at < low)
            .map(|(at, _)| *at)
            .into_iter()
            .collect();
        let mut next = starts.first().map_or(low, |at| self.pieces[at].end);
        let known: Vec<(u64, u64)> =
            self.pieces.range(low..high).map(|(at, piece)| (*at, piece.end)).collect();
        for (at, end) in known.into_iter().chain([(high, high)]) {
            while next < at {
                // Up to the next border, so that pieces do not grow with every access.
                let border = match at - next {
                    ..MOST_IN_PIECES => (next / UNANNOUNCED + 1) * UNANNOUNCED,
                    _ => at,
                };
                let limit = self.pieces.range(next..).next().map_or(u64::MAX, |(at, _)| *at);
                let floor = self.pieces.range(..next).next_back().map_or(0, |(_, piece)| piece.end);
                let start = (next / UNANNOUNCED * UNANNOUNCED).max(floor);
                let end = border.min(limit);
                self.pieces.insert(start, Piece { end, ..Piece::default() });
                starts.push(start);
                next = end;
            }
            if at < high {
                starts.push(at);
                next = next.max(end);
            }
        }
        starts
    }

    /// Memory that the driver has made.
    pub(crate) fn allocated(&mut self, address: u64, bytes: u64) {
        let end = address + bytes;
        let overlaps = |(_, segment): &(&u64, &Segment)| segment.end > address;
        let old: Vec<u64> =
            self.segments.range(..end).rev().take_while(overlaps).map(|(at, _)| *at).collect();
        old.iter().for_each(|at| drop(self.segments.remove(at)));
        self.segments.insert(
            address,
            Segment { end, has_blocks: false, has_unknown_blocks: false, released: None },
        );
    }

    /// Memory that was given back to the driver. Returns what [`Shadow::not_released`] takes.
    pub(crate) fn released(&mut self, address: u64, bytes: u64, by: Arc<Operation>) -> Forgotten {
        let forgotten = self.forget(address, bytes);
        if let Some(segment) = self.segments.get_mut(&address) {
            segment.released = Some(by);
        }
        forgotten
    }

    /// The driver has refused to take memory back.
    pub(crate) fn not_released(&mut self, was: Forgotten) {
        if let Some(segment) = self.segments.get_mut(&was.address) {
            segment.released = None;
        }
        self.pieces.extend(was.pieces);
    }

    fn segment_at(&self, place: u64) -> Option<(u64, &Segment)> {
        let (at, segment) = self.segments.range(..=place).next_back()?;
        (place < segment.end).then_some((*at, segment))
    }

    /// Whether an address is in memory that was given back to the driver.
    pub(crate) fn is_released(&self, address: u64) -> bool {
        self.segment_at(address).is_some_and(|(_, segment)| segment.released.is_some())
    }

    /// Why the bytes of a pattern must not be used, and the first address of which that is so.
    pub(crate) fn trouble(&self, pattern: &Pattern) -> Option<(Trouble, u64)> {
        if pattern.is_empty() {
            return None;
        }
        let mut own: Option<Arc<Block>> = None;
        for (pattern, delta) in self.places(pattern) {
            let (low, high) = (pattern.start(), pattern.end());
            let mut next = low;
            while next < high {
                let piece = self.pieces.range(..=next).next_back();
                let piece = piece.map(|(_, piece)| piece).filter(|piece| next < piece.end);
                let until = match piece {
                    Some(piece) => piece.end,
                    None => self.pieces.range(next..).next().map_or(high, |(at, _)| *at),
                };
                let here = (next, until.min(high));
                next = here.1;
                let is_whole = here == (low, high);
                let touched = if is_whole { Some(low) } else { first_in(&pattern, here) };
                let Some(touched) = touched else { continue };
                let trouble = match piece.and_then(|piece| piece.block.as_ref()) {
                    Some(block) => match &own {
                        Some(own) if own.address != block.address => {
                            Some(Trouble::Outside(Some(Arc::clone(own))))
                        }
                        _ if block.freed.is_some() => Some(Trouble::Freed(Arc::clone(block))),
                        _ => {
                            own = Some(Arc::clone(block));
                            None
                        }
                    },
                    None => self.outside(touched, own.as_ref()),
                };
                if let Some(trouble) = trouble {
                    return Some((trouble, touched.wrapping_sub(delta)));
                }
            }
        }
        None
    }

    /// What is wrong with the use of a place that is in no block.
    fn outside(&self, place: u64, own: Option<&Arc<Block>>) -> Option<Trouble> {
        let segment = self.segment_at(place);
        if let Some(by) = segment.and_then(|(_, segment)| segment.released.as_ref()) {
            return Some(Trouble::Released(Arc::clone(by)));
        }
        if let Some(own) = own {
            return Some(Trouble::Outside(Some(Arc::clone(own))));
        }
        let is_all_known = |segment: &Segment| segment.has_blocks && !segment.has_unknown_blocks;
        let (start, _) = segment.filter(|(_, segment)| is_all_known(segment))?;
        let mut below = self.pieces.range(start..place).rev();
        Some(Trouble::Outside(below.find_map(|(_, piece)| piece.block.clone())))
    }

    /// Notes an access; returns those it conflicts with.
    pub(crate) fn access(&mut self, new: &NewAccess<'_>) -> Vec<Conflict> {
        let mut conflicts: Vec<Conflict> = Vec::new();
        if new.pattern.is_empty() {
            return conflicts;
        }
        for (pattern, delta) in self.places(new.pattern) {
            for at in self.met(pattern.start(), pattern.end()) {
                let Some(piece) = self.pieces.get_mut(&at) else { continue };
                let parts;
                let inside = if at <= pattern.start() && pattern.end() <= piece.end {
                    std::slice::from_ref(&pattern)
                } else {
                    parts = pattern.within(at, piece.end);
                    parts.as_slice()
                };
                for part in inside {
                    piece.meet(part, delta, new, &mut conflicts);
                }
            }
        }
        conflicts
    }

    fn has_block(&mut self, place: u64) {
        let segment = self.segments.range_mut(..=place).next_back();
        if let Some((_, segment)) = segment.filter(|(_, segment)| place < segment.end) {
            segment.has_blocks = true;
        }
    }

    /// A block is handed out. Returns what its memory was used for that may not have ended, and the block that was
    /// freed there before.
    pub(crate) fn hand_out(
        &mut self,
        block: Block,
        new: &NewAccess<'_>,
    ) -> (Vec<Conflict>, Option<Arc<Block>>) {
        let mut early = None;
        let mut conflicts = Vec::new();
        let block = Arc::new(block);
        for (pattern, delta) in self.places(new.pattern) {
            self.has_block(pattern.start());
            for at in self.carve(pattern.start(), pattern.end()) {
                let Some(piece) = self.pieces.get_mut(&at) else { continue };
                if let Some(old) = piece.block.take() {
                    let is_over = |freed: &Freed| new.clock.knows_all(&freed.before);
                    if !old.freed.as_ref().is_some_and(is_over) {
                        early = Some(old);
                    }
                }
                let part = Pattern::range(at, piece.end - at);
                piece.meet(&part, delta, new, &mut conflicts);
                // The hand-out has all of the piece, and what comes later follows it.
                piece.past.retain(|it| it.by.same_as(new.by) || !new.clock.knows(it.epoch));
                piece.block = Some(Arc::clone(&block));
            }
            self.join(&pattern, new);
        }
        (conflicts, early)
    }

    /// The pieces of a block that is handed out become one, unless a use before it still counts. Otherwise memory would
    /// fall into ever smaller pieces, through which each later use of the block would go.
    fn join(&mut self, block: &Pattern, new: &NewAccess<'_>) {
        let (low, high) = (block.start(), block.end());
        let mut pieces = self.pieces.range(low..high);
        let is_fresh =
            |(_, piece): (&u64, &Piece)| piece.past.iter().all(|past| past.by.same_as(new.by));
        if !pieces.all(is_fresh) {
            return;
        }
        let rest: Vec<u64> = self.pieces.range(low + 1..high).map(|(at, _)| *at).collect();
        rest.iter().for_each(|at| drop(self.pieces.remove(at)));
        if let Some(first) = self.pieces.get_mut(&low).filter(|_| !rest.is_empty()) {
            first.end = high;
            first.past.truncate(1);
            first.past.iter_mut().for_each(|past| past.pattern = block.clone());
        }
    }

    /// How many pieces of memory are followed.
    #[cfg(test)]
    pub(crate) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// A block is freed: `new` writes all of it. Returns the uses that the free does not wait for. The next use comes
    /// behind `before`, and behind what used the block.
    pub(crate) fn take_back(&mut self, new: &NewAccess<'_>, before: &Clock) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (pattern, delta) in self.places(new.pattern) {
            for at in self.met(pattern.start(), pattern.end()) {
                let Some(piece) = self.pieces.get_mut(&at) else { continue };
                let mut before = before.clone();
                piece.past.iter().for_each(|past| before.learn(past.epoch));
                for part in pattern.within(at, piece.end) {
                    piece.meet(&part, delta, new, &mut conflicts);
                }
                let freed = Freed { by: Arc::clone(new.by), before };
                if let Some(block) = &piece.block {
                    piece.block =
                        Some(Arc::new(Block { freed: Some(freed), ..Block::clone(block) }));
                }
                piece.past.clear();
            }
        }
        self.free_asleep(new, before);
        conflicts
    }

    /// A block is freed while its pool sleeps: it comes back as a freed one.
    fn free_asleep(&mut self, new: &NewAccess<'_>, before: &Clock) {
        let (low, high) = (new.pattern.start(), new.pattern.end());
        let first = self.asleep.range(..=low).next_back().map_or(low, |(at, _)| *at);
        for (_, piece) in self.asleep.range_mut(first..high).flat_map(|(_, pieces)| pieces) {
            if let Some(block) = piece.block.take_if(|block| block.address == low) {
                let freed = Freed { by: Arc::clone(new.by), before: before.clone() };
                piece.block = Some(Arc::new(Block { freed: Some(freed), ..Block::clone(&block) }));
            }
        }
    }

    /// Forgets the uses of an operation that never was.
    pub(crate) fn withdraw(&mut self, number: u64) {
        for piece in self.pieces.values_mut() {
            piece.past.retain(|past| past.by.number != number);
        }
    }

    /// Forgets what was done to memory that goes back to the driver. Returns what [`Shadow::not_released`] takes.
    pub(crate) fn forget(&mut self, address: u64, bytes: u64) -> Forgotten {
        let mut pieces = Vec::new();
        for (pattern, _) in self.places(&Pattern::range(address, bytes)) {
            for at in self.carve(pattern.start(), pattern.end()) {
                pieces.extend(self.pieces.remove(&at).map(|piece| (at, piece)));
            }
        }
        Forgotten { address, pieces }
    }

    /// Forgets what was done to all memory, and its blocks, also those that are asleep. Mappings stay.
    pub(crate) fn forget_all(&mut self) {
        self.pieces.clear();
        self.asleep.clear();
        for segment in self.segments.values_mut() {
            (segment.has_blocks, segment.has_unknown_blocks) = (false, true);
        }
    }

    /// The block at an address.
    pub(crate) fn block_at(&self, address: u64) -> Option<Arc<Block>> {
        let (pattern, _) = self.places(&Pattern::range(address, 1)).into_iter().next()?;
        let (_, piece) = self.pieces.range(..=pattern.start()).next_back()?;
        if pattern.start() < piece.end { piece.block.clone() } else { None }
    }
}

/// The first byte of a pattern in a range.
fn first_in(pattern: &Pattern, (low, high): (u64, u64)) -> Option<u64> {
    pattern.within(low, high).iter().map(Pattern::start).min()
}

impl Piece {
    /// Compares a new access with the past ones, and becomes part of the past.
    fn meet(
        &mut self,
        part: &Pattern,
        delta: u64,
        new: &NewAccess<'_>,
        conflicts: &mut Vec<Conflict>,
    ) {
        let block = &self.block;
        self.past.retain(|past| {
            if past.by.same_as(new.by) {
                return true;
            }
            let is_before = new.clock.knows(past.epoch);
            if !is_before
                && (past.writes || new.writes)
                && let Some(place) = past.pattern.common(part)
            {
                let bytes = past.pattern.end().min(part.end()) - place;
                conflicts.push(Conflict {
                    address: place.wrapping_sub(delta),
                    bytes,
                    first: past.clone(),
                    block: block.clone(),
                });
            }
            // What comes after the new one comes after this one, too.
            let is_replaced =
                is_before && (new.writes || !past.writes) && part.covers(&past.pattern);
            !is_replaced && !new.settled.knows(past.epoch)
        });
        let (epoch, writes) = (new.epoch, new.writes);
        let known = self.past.iter().any(|past| {
            past.epoch == epoch && (past.writes || !writes) && past.pattern.covers(part)
        });
        if !known {
            if self.past.len() >= MOST_ACCESSES {
                self.past.remove(0);
            }
            let (pattern, by) = (part.clone(), Arc::clone(new.by));
            self.past.push(PastAccess { epoch, writes, pattern, by });
        }
    }
}
