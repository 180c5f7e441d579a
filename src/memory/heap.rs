//! One stream's memory: segments cut into blocks, free blocks in bins, and the account of both.
//!
//! Nothing here locks or calls a driver. Whoever changes a heap holds its cache's lock.

use super::account::{Account, FIGURES, Row};
use super::bins::Bins;
use super::block::{Block, BlockId, Blocks, NONE, State};
use super::numbers::Numbers;
use super::segment::{Segment, Segments};
use super::size_class::{BLOCK_UNIT, PoolKind, SMALL_LIMIT};
use super::{address_map, cache::Cache};

/// The place of the default pool in every heap's table.
pub(super) const DEFAULT_POOL: u16 = 0;

/// Which blocks serve a request, and which are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// From this size on blocks are not cut.
    pub(super) max_split: u64,
    /// How much larger than such a request its block may be.
    pub(super) max_rounding: u64,
}

/// What a request asks of a heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// The place of the pool.
    pub(super) pool: u16,
    pub(super) kind: PoolKind,
    /// The size of the block.
    pub(super) rounded: u64,
    /// The size asked for.
    pub(super) bytes: u64,
    pub(super) fit: Fit,
}

/// A block that was handed out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handed {
    pub(super) address: u64,
    /// The size of the block.
    pub(super) bytes: u64,
    /// Whether the account still has room; if not, it must be settled.
    pub(super) settled: bool,
}

/// A segment without live blocks, taken out of its heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) kind: PoolKind,
    pub(super) pool: u16,
    pub(super) order: u32,
}

/// The free blocks of a pool on one stream.
pub(super) struct Pool {
    /// 0 is the default pool.
    pub(super) number: u64,
    bins: [Bins; 2],
    /// Its owner is gone: its free segments may be released like any other's.
    pub(super) abandoned: bool,
}

/// One stream's memory.
pub(super) struct Heap {
    pub(super) blocks: Blocks,
    pub(super) segments: Segments,
    pub(super) pools: Vec<Pool>,
    pub(super) account: Account,
    pub(super) numbers: Numbers,
}

impl Heap {
    pub(super) fn new() -> Heap {
        let mut heap = Heap {
            blocks: Blocks::new(),
            segments: Segments::new(),
            pools: Vec::new(),
            account: Account::default(),
            numbers: Numbers::new(),
        };
        heap.add_pool(0);
        heap
    }

    /// The place of a pool in this heap's table; made if need be.
    pub(super) fn pool(&mut self, number: u64) -> u16 {
        let place = self.pools.iter().position(|pool| pool.number == number);
        place.unwrap_or_else(|| self.add_pool(number)) as u16
    }

    /// A place for a pool: that of one that is gone and empty, or a new one.
    fn add_pool(&mut self, number: u64) -> usize {
        let empty = |place: usize| {
            self.pools[place].abandoned
                && self.segments.iter().all(|(_, segment)| usize::from(segment.pool) != place)
        };
        if let Some(place) = (0..self.pools.len()).find(|place| empty(*place)) {
            self.pools[place].number = number;
            self.pools[place].abandoned = false;
            return place;
        }
        let bins = [Bins::new(PoolKind::Small), Bins::new(PoolKind::Large)];
        self.pools.push(Pool { number, bins, abandoned: false });
        self.pools.len() - 1
    }

    /// The owner of a pool is gone.
    pub(super) fn abandon(&mut self, number: u64) {
        for pool in &mut self.pools {
            pool.abandoned |= pool.number == number;
        }
    }

    #[inline]
    fn bins(&mut self, block: u16) -> (&mut Bins, &mut Blocks) {
        let bins = &mut self.pools[usize::from(block >> 1)].bins[usize::from(block & 1)];
        (bins, &mut self.blocks)
    }

    #[inline]
    fn put(&mut self, id: BlockId) {
        let (bins, blocks) = self.bins(self.blocks[id].bins);
        bins.insert(blocks, id);
    }

    #[inline]
    fn pull(&mut self, id: BlockId) {
        let (bins, blocks) = self.bins(self.blocks[id].bins);
        bins.remove(blocks, id);
    }

    /// Hands out the free block that fits best, if one may serve the request.
    #[inline]
    pub(super) fn take(&mut self, owner: &'static Cache, request: &Request) -> Option<Handed> {
        let place = request.pool << 1 | u16::from(request.kind == PoolKind::Large);
        let pool = self.pools.get(usize::from(request.pool))?;
        let id = pool.bins[usize::from(place & 1)].best_fit(&self.blocks, request.rounded)?;
        if !request.fit.allows(request.rounded, self.blocks[id].bytes) {
            return None;
        }
        self.pull(id);
        Some(self.hand_out(owner, id, request))
    }

    /// Hands out a free block that is in no bin, cutting off what is too much.
    #[inline]
    pub(super) fn hand_out(
        &mut self,
        owner: &'static Cache,
        id: BlockId,
        request: &Request,
    ) -> Handed {
        let found = self.blocks[id];
        let spare = found.bytes - request.rounded;
        let whole = found.is_whole();
        let mut handed = id;
        let (bytes, inactive) = if request.fit.cuts(request, spare) {
            handed = self.cut(id, request.rounded);
            let split = if whole { (1, spare as i64) } else { (0, -(request.rounded as i64)) };
            (request.rounded, split)
        } else if whole {
            (found.bytes, (0, 0))
        } else {
            (found.bytes, (-1, -(found.bytes as i64)))
        };
        let block = &mut self.blocks[handed];
        block.state = State::Allocated;
        block.requested = request.bytes;
        block.used_elsewhere = false;
        let number = self.numbers.of(owner, handed);
        address_map::publish(found.address, request.kind, number);
        let size = bytes as i64;
        let changes: Row = [1, size, 1, size, request.bytes as i64, inactive.0, inactive.1, 0];
        let settled = self.account.book(request.kind, &changes);
        Handed { address: found.address, bytes, settled }
    }

    /// Cuts the first `bytes` off a free block that is in no bin; the rest goes to its bin.
    #[inline]
    fn cut(&mut self, id: BlockId, bytes: u64) -> BlockId {
        let found = self.blocks[id];
        let low = self.blocks.add(Block { bytes, next: id, ..found });
        let rest = &mut self.blocks[id];
        rest.address += bytes;
        rest.bytes -= bytes;
        rest.previous = low;
        match found.previous {
            NONE => self.segments.set_first(found.segment, low),
            previous => self.blocks[previous].next = low,
        }
        self.put(id);
        low
    }

    /// Takes a block back that nothing uses any more. `active` says that it still counts as held by
    /// a caller. `false` when the account must be settled.
    #[inline]
    #[must_use]
    pub(super) fn give_back(&mut self, id: BlockId, held: bool, now: u32) -> bool {
        let freed = self.blocks[id];
        let (mut inactive, mut inactive_bytes) = (0, 0);
        let mut block = freed;
        if freed.previous != NONE && self.blocks[freed.previous].state == State::Free {
            self.pull(freed.previous);
            let before = self.blocks[freed.previous];
            self.blocks.remove(freed.previous);
            block.address = before.address;
            block.bytes += before.bytes;
            block.previous = before.previous;
            match before.previous {
                NONE => self.segments.set_first(block.segment, id),
                previous => self.blocks[previous].next = id,
            }
            inactive -= 1;
            inactive_bytes -= before.bytes as i64;
        }
        if freed.next != NONE && self.blocks[freed.next].state == State::Free {
            self.pull(freed.next);
            let after = self.blocks[freed.next];
            self.blocks.remove(freed.next);
            block.bytes += after.bytes;
            block.next = after.next;
            if after.next != NONE {
                self.blocks[after.next].previous = id;
            }
            inactive -= 1;
            inactive_bytes -= after.bytes as i64;
        }
        if !block.is_whole() {
            inactive += 1;
            inactive_bytes += block.bytes as i64;
        }
        block.state = State::Free;
        block.used_elsewhere = false;
        block.freed_at = now;
        self.blocks[id] = block;
        self.put(id);
        let size = freed.bytes as i64;
        let held = i64::from(held);
        let requested = freed.requested as i64;
        let changes: Row =
            [-held, -held * size, -1, -size, -requested, inactive, inactive_bytes, 0];
        self.account.book(kind_of(block.bins), &changes)
    }

    /// A caller has freed a block that other streams still use.
    pub(super) fn suspend(&mut self, id: BlockId) {
        let block = &mut self.blocks[id];
        block.state = State::Pending;
        let mut falls = [0; FIGURES];
        falls[super::account::ALLOCATION] = -1;
        falls[super::account::ALLOCATED_BYTES] = -(block.bytes as i64);
        let kind = kind_of(block.bins);
        self.account.book_falls(kind, &falls);
    }

    /// Takes in a segment. Its one block is free and in no bin: hand it out, or [`Heap::keep`] it.
    pub(super) fn adopt(&mut self, segment: Whole) -> BlockId {
        let Whole { address, bytes, kind, pool, order } = segment;
        let first = NONE;
        let place = self.segments.add(Segment { address, bytes, kind, pool, order, first });
        let bins = pool << 1 | u16::from(kind == PoolKind::Large);
        let id = self.blocks.add(Block {
            address,
            bytes,
            segment: place,
            order,
            bins,
            state: State::Free,
            ..Blocks::blank()
        });
        self.segments.set_first(place, id);
        id
    }

    /// Puts a free block that is in no bin into its bin.
    pub(super) fn keep(&mut self, id: BlockId) {
        self.put(id);
    }

    /// Takes out the segments that have no live block and that `wanted` says yes to.
    pub(super) fn take_whole(
        &mut self,
        mut wanted: impl FnMut(&Block, &Segment, &Pool) -> bool,
    ) -> Vec<Whole> {
        let whole: Vec<(u32, Segment)> = self
            .segments
            .iter()
            .filter(|(_, segment)| {
                let block = &self.blocks[segment.first];
                block.state == State::Free
                    && block.is_whole()
                    && wanted(block, segment, &self.pools[usize::from(segment.pool)])
            })
            .map(|(place, segment)| (place, *segment))
            .collect();
        for (place, segment) in &whole {
            self.pull(segment.first);
            self.blocks.remove(segment.first);
            self.segments.remove(*place);
        }
        whole
            .into_iter()
            .map(|(_, Segment { address, bytes, kind, pool, order, .. })| Whole {
                address,
                bytes,
                kind,
                pool,
                order,
            })
            .collect()
    }

    /// The blocks of a segment, in the order of addresses.
    pub(super) fn blocks_of(&self, segment: &Segment) -> impl Iterator<Item = (BlockId, &Block)> {
        let first = Some(segment.first).filter(|id| *id != NONE);
        std::iter::successors(first, |id| Some(self.blocks[*id].next).filter(|id| *id != NONE))
            .map(|id| (id, &self.blocks[id]))
    }

    /// The free blocks of a pool, from the smallest to the largest.
    pub(super) fn free_blocks(&self, pool: u16, kind: PoolKind, see: impl FnMut(BlockId)) {
        if let Some(pool) = self.pools.get(usize::from(pool)) {
            pool.bins[usize::from(kind == PoolKind::Large)].visit(&self.blocks, see);
        }
    }
}

/// The kind of the pool whose bins these are.
#[inline]
pub(super) fn kind_of(bins: u16) -> PoolKind {
    if bins & 1 == 0 { PoolKind::Small } else { PoolKind::Large }
}

impl Fit {
    /// Whether a block of `block` bytes may serve a request of `rounded`.
    #[inline]
    fn allows(&self, rounded: u64, block: u64) -> bool {
        if rounded < self.max_split {
            block < self.max_split
        } else {
            block < rounded.saturating_add(self.max_rounding)
        }
    }

    /// Whether a block is cut when `spare` bytes of it are not needed.
    #[inline]
    fn cuts(&self, request: &Request, spare: u64) -> bool {
        match request.kind {
            PoolKind::Small => spare >= BLOCK_UNIT as u64,
            PoolKind::Large => request.rounded < self.max_split && spare > SMALL_LIMIT as u64,
        }
    }
}
