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

/// All memory.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pieces: BTreeMap<u64, Piece>,
    mappings: BTreeMap<u64, Mapping>,
    /// Where the places of each physical handle begin.
    physical: HashMap<u64, u64>,
    next_place: u64,
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
        self.next_place += bytes.next_multiple_of(4096);
        self.physical.insert(handle, place);
    }

    /// The memory of a handle is mapped at an address.
    pub(crate) fn map(&mut self, address: u64, bytes: u64, handle: u64, offset: u64) {
        let Some(place) = self.physical.get(&handle) else { return };
        self.mappings.insert(address, Mapping { end: address + bytes, place: place + offset });
    }

    /// The handle of a mapping, under another number.
    pub(crate) fn retain(&mut self, address: u64, handle: u64) {
        let found = self.mappings.range(..=address).next_back();
        if let Some((start, mapping)) = found.filter(|(_, mapping)| address < mapping.end) {
            let place = mapping.place - (address - start);
            self.physical.entry(handle).or_insert(place);
        }
    }

    pub(crate) fn unmap(&mut self, address: u64, bytes: u64) {
        let inside: Vec<u64> =
            self.mappings.range(address..address + bytes).map(|(at, _)| *at).collect();
        for at in inside {
            self.mappings.remove(&at);
        }
    }

    /// The places of a pattern of addresses, with what each is away from its address.
    fn places(&self, pattern: &Pattern) -> Vec<(Pattern, u64)> {
        let (low, high) = (pattern.start(), pattern.end());
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
            let rest = if next == low { vec![pattern.clone()] } else { pattern.within(next, high) };
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
                let border = (next / UNANNOUNCED + 1) * UNANNOUNCED;
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

    /// Notes an access; returns those it conflicts with, and the freed block that it uses.
    pub(crate) fn access(
        &mut self,
        new: &NewAccess<'_>,
    ) -> (Vec<Conflict>, Option<(Arc<Block>, u64)>) {
        let mut conflicts: Vec<Conflict> = Vec::new();
        let mut gone = None;
        if new.pattern.is_empty() {
            return (conflicts, gone);
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
                    if let Some(block) = piece.block.as_ref().filter(|block| block.freed.is_some())
                    {
                        gone.get_or_insert_with(|| {
                            (Arc::clone(block), part.start().wrapping_sub(delta))
                        });
                    }
                    piece.meet(part, delta, new, &mut conflicts);
                }
            }
        }
        (conflicts, gone)
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
                piece.block = Some(Arc::clone(&block));
            }
        }
        (conflicts, early)
    }

    /// A block is freed: `new` writes all of it. Returns the uses that the free does not wait for.
    pub(crate) fn take_back(&mut self, new: &NewAccess<'_>) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (pattern, delta) in self.places(new.pattern) {
            for at in self.met(pattern.start(), pattern.end()) {
                let Some(piece) = self.pieces.get_mut(&at) else { continue };
                for part in pattern.within(at, piece.end) {
                    piece.meet(&part, delta, new, &mut conflicts);
                }
                let freed = Freed { by: Arc::clone(new.by), before: new.clock.clone() };
                if let Some(block) = &piece.block {
                    piece.block =
                        Some(Arc::new(Block { freed: Some(freed), ..Block::clone(block) }));
                }
                piece.past.clear();
            }
        }
        conflicts
    }

    /// Forgets the uses of an operation that never was.
    pub(crate) fn withdraw(&mut self, number: u64) {
        for piece in self.pieces.values_mut() {
            piece.past.retain(|past| past.by.number != number);
        }
    }

    /// Forgets what was done to memory that goes back to the driver.
    pub(crate) fn forget(&mut self, address: u64, bytes: u64) {
        for (pattern, _) in self.places(&Pattern::range(address, bytes)) {
            for at in self.carve(pattern.start(), pattern.end()) {
                self.pieces.remove(&at);
            }
        }
    }

    /// Forgets what was done to all memory, and its blocks. Mappings stay.
    pub(crate) fn forget_all(&mut self) {
        self.pieces.clear();
    }

    /// The block at an address.
    pub(crate) fn block_at(&self, address: u64) -> Option<Arc<Block>> {
        let (pattern, _) = self.places(&Pattern::range(address, 1)).into_iter().next()?;
        let (_, piece) = self.pieces.range(..=pattern.start()).next_back()?;
        if pattern.start() < piece.end { piece.block.clone() } else { None }
    }
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
