//! torch's allocator as plainly as it can be written: one list of records, ordered sets, every
//! figure changed where it changes. Slow, and meant to be read against the rules it states.
//!
//! It knows no addresses: a place is a segment's number and an offset. The one liberty: when the
//! driver has no memory, pending events are waited for and the free blocks searched once more
//! before anything is given back.

mod ladder;
mod rules;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};

use sconce_runtime::memory::{MemoryStats, PoolStats, Stat};

pub use rules::{Kind, MIB, Rules};
use waiting::Waiting;

/// How many streams the tests use: the default one and two more.
pub const STREAMS: usize = 3;

/// What an allocation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A block, its segment and where in it.
    Block {
        id: usize,
        segment: usize,
        offset: usize,
        bytes: usize,
    },
    /// A request of 0 bytes.
    Nothing,
    OutOfMemory,
    /// The driver failed in another way.
    DriverFailed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Held,
    /// Freed; this many events are pending.
    Pending(usize),
    Free,
    /// Became a part of a neighbour, or went back to the driver.
    Gone,
}

#[derive(Clone, Debug)]
pub struct Block {
    pub segment: usize,
    pub offset: usize,
    pub bytes: usize,
    pub requested: usize,
    pub stream: usize,
    pub pool: usize,
    pub kind: Kind,
    pub state: State,
    /// Other streams that use it.
    used_on: Vec<usize>,
    before: Option<usize>,
    after: Option<usize>,
    /// How often its shelf had been searched when it came there.
    shelved_at: u64,
}

impl Block {
    fn is_cut(&self) -> bool {
        self.before.is_some() || self.after.is_some()
    }
}

/// The free blocks of one kind in one pool: (stream, bytes, where the segment is, offset, id).
#[derive(Default)]
struct Shelf {
    free: BTreeSet<(usize, usize, usize, usize, usize)>,
    searches: u64,
}

/// Driver allocations that a test makes fail.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// 1 is the next.
    pub nth: usize,
    pub out_of_memory: bool,
}

fn base_of(bases: &BTreeMap<usize, usize>, segment: usize) -> usize {
    bases.get(&segment).copied().unwrap_or(segment)
}

pub struct Oracle {
    pub rules: Rules,
    /// What may be reserved, when a fraction is set.
    pub limit: Option<usize>,
    /// What the device has.
    pub device_bytes: usize,
    pub stats: MemoryStats,
    pub fault: Option<Fault>,
    blocks: Vec<Block>,
    shelves: BTreeMap<(usize, Kind), Shelf>,
    /// Private pools that nobody keeps any more.
    released_pools: BTreeSet<usize>,
    segments: usize,
    /// Where segments are.
    bases: BTreeMap<usize, usize>,
    waiting: Waiting,
}

fn part(pools: &mut PoolStats, kind: Kind) -> [&mut Stat; 2] {
    let part = match kind {
        Kind::Small => &mut pools.small_pool,
        Kind::Large => &mut pools.large_pool,
    };
    [&mut pools.all, part]
}

fn change(stat: &mut Stat, by: i64) {
    stat.current += by;
    stat.peak = stat.peak.max(stat.current);
    if by > 0 {
        stat.allocated += by;
    } else {
        stat.freed -= by;
    }
}

fn figure(pools: &mut PoolStats, kind: Kind, by: i64) {
    for stat in part(pools, kind) {
        change(stat, by);
    }
}

impl Oracle {
    pub fn new(rules: Rules, device_bytes: usize) -> Oracle {
        let mut oracle = Oracle {
            rules: rules.clone(),
            limit: None,
            device_bytes,
            stats: MemoryStats::default(),
            fault: None,
            blocks: Vec::new(),
            shelves: BTreeMap::new(),
            released_pools: BTreeSet::new(),
            segments: 0,
            bases: BTreeMap::new(),
            waiting: Waiting::default(),
        };
        oracle.configure(rules);
        oracle
    }

    /// Other rules from now on.
    pub fn configure(&mut self, rules: Rules) {
        self.stats.max_split_size = match rules.max_split {
            usize::MAX => -1,
            bytes => bytes as i64,
        };
        self.rules = rules;
    }

    /// The blocks of every segment that is not given back.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.state != State::Gone)
    }

    /// From a private pool, or from none, which is 0.
    pub fn alloc(&mut self, bytes: usize, stream: usize, pool: usize) -> Answer {
        if bytes == 0 {
            return Answer::Nothing;
        }
        self.waiting.know(stream);
        self.take_up_completed();
        let rounded = self.rules.rounded(bytes);
        let request = Request { bytes, rounded, stream, pool, kind: self.rules.kind(rounded) };
        let found = match self.search(&request) {
            Some(id) => id,
            None => match self.climb(&request) {
                Ok(id) => id,
                Err(answer) => return answer,
            },
        };
        let id = self.hand_out(found, &request);
        let Block { segment, offset, bytes, .. } = self.blocks[id];
        Answer::Block { id, segment, offset, bytes }
    }

    /// Best fit, taken off its shelf.
    fn search(&mut self, request: &Request) -> Option<usize> {
        let shelf = self.shelves.entry((request.pool, request.kind)).or_default();
        if self.limit.is_some() && self.rules.collect_at > 0.0 {
            shelf.searches += 1;
        }
        let key = (request.stream, request.rounded, 0, 0, 0);
        let &best = shelf.free.range(key..).next()?;
        let (stream, bytes, .., id) = best;
        if stream != request.stream || self.rules.refuses(request.rounded, bytes) {
            return None;
        }
        shelf.free.remove(&best);
        Some(id)
    }

    fn shelve(&mut self, id: usize) {
        let block = &mut self.blocks[id];
        let shelf = self.shelves.entry((block.pool, block.kind)).or_default();
        block.shelved_at = shelf.searches;
        block.state = State::Free;
        let base = base_of(&self.bases, block.segment);
        shelf.free.insert((block.stream, block.bytes, base, block.offset, id));
    }

    /// Says where a new segment is: of equal blocks the one with the lowest address is taken. Segments
    /// that nobody places lie in the order of their numbers.
    pub fn place(&mut self, segment: usize, base: usize) {
        let before = base_of(&self.bases, segment);
        self.bases.insert(segment, base);
        for (id, block) in self.blocks.iter().enumerate() {
            if block.segment == segment && block.state == State::Free {
                let shelf = self.shelves.get_mut(&(block.pool, block.kind)).expect("a shelf");
                let key = |base| (block.stream, block.bytes, base, block.offset, id);
                assert!(shelf.free.remove(&key(before)), "a free block is on its shelf");
                shelf.free.insert(key(base));
            }
        }
    }

    fn unshelve(&mut self, id: usize) {
        let block = &self.blocks[id];
        let shelf = self.shelves.get_mut(&(block.pool, block.kind)).expect("a shelf");
        let base = base_of(&self.bases, block.segment);
        let key = (block.stream, block.bytes, base, block.offset, id);
        assert!(shelf.free.remove(&key), "a free block is on its shelf");
    }

    /// Cuts a found block if it is too large; the low addresses go to the caller.
    fn hand_out(&mut self, found: usize, request: &Request) -> usize {
        let kind = request.kind;
        let whole = self.blocks[found].clone();
        let rest = whole.bytes - request.rounded;
        let id = if self.rules.cuts(kind, request.rounded, rest) {
            let id = self.blocks.len();
            self.blocks.push(Block { bytes: request.rounded, after: Some(found), ..whole.clone() });
            if let Some(before) = whole.before {
                self.blocks[before].after = Some(id);
            }
            let remainder = &mut self.blocks[found];
            remainder.before = Some(id);
            remainder.offset += request.rounded;
            remainder.bytes = rest;
            self.shelve(found);
            if whole.is_cut() {
                figure(&mut self.stats.inactive_split_bytes, kind, -(request.rounded as i64));
            } else {
                figure(&mut self.stats.inactive_split_bytes, kind, rest as i64);
                figure(&mut self.stats.inactive_split, kind, 1);
            }
            id
        } else {
            if whole.is_cut() {
                figure(&mut self.stats.inactive_split_bytes, kind, -(whole.bytes as i64));
                figure(&mut self.stats.inactive_split, kind, -1);
            }
            found
        };
        let block = &mut self.blocks[id];
        block.state = State::Held;
        block.requested = request.bytes;
        let bytes = block.bytes;
        figure(&mut self.stats.allocation, kind, 1);
        figure(&mut self.stats.allocated_bytes, kind, bytes as i64);
        figure(&mut self.stats.active, kind, 1);
        figure(&mut self.stats.active_bytes, kind, bytes as i64);
        figure(&mut self.stats.requested_bytes, kind, request.bytes as i64);
        if bytes >= self.rules.max_split {
            change(&mut self.stats.oversize_allocations, 1);
        }
        id
    }

    pub fn free(&mut self, id: usize) {
        let block = &mut self.blocks[id];
        assert_eq!(block.state, State::Held);
        let (kind, bytes, stream) = (block.kind, block.bytes, block.stream);
        let used_on = std::mem::take(&mut block.used_on);
        block.state = State::Pending(used_on.len());
        figure(&mut self.stats.allocation, kind, -1);
        figure(&mut self.stats.allocated_bytes, kind, -(bytes as i64));
        if bytes >= self.rules.max_split {
            change(&mut self.stats.oversize_allocations, -1);
        }
        if used_on.is_empty() {
            self.complete_free(id);
        } else {
            self.waiting.record(id, stream, used_on);
        }
    }

    /// The block can be used again: it takes in its free neighbours.
    fn complete_free(&mut self, id: usize) {
        let Block { kind, bytes, requested, before, after, .. } = self.blocks[id];
        let (mut pieces, mut piece_bytes) = (0, 0);
        let free = |blocks: &[Block], id: &usize| blocks[*id].state == State::Free;
        if let Some(before) = before.filter(|id| free(&self.blocks, id)) {
            self.unshelve(before);
            let taken = std::mem::replace(&mut self.blocks[before].state, State::Gone);
            assert_eq!(taken, State::Free);
            let (offset, extra) = (self.blocks[before].offset, self.blocks[before].bytes);
            let beyond = self.blocks[before].before;
            let block = &mut self.blocks[id];
            (block.offset, block.bytes, block.before) = (offset, block.bytes + extra, beyond);
            if let Some(beyond) = beyond {
                self.blocks[beyond].after = Some(id);
            }
            pieces -= 1;
            piece_bytes -= extra as i64;
        }
        if let Some(after) = after.filter(|id| free(&self.blocks, id)) {
            self.unshelve(after);
            self.blocks[after].state = State::Gone;
            let (extra, beyond) = (self.blocks[after].bytes, self.blocks[after].after);
            let block = &mut self.blocks[id];
            (block.bytes, block.after) = (block.bytes + extra, beyond);
            if let Some(beyond) = beyond {
                self.blocks[beyond].before = Some(id);
            }
            pieces -= 1;
            piece_bytes -= extra as i64;
        }
        self.shelve(id);
        if self.blocks[id].is_cut() {
            pieces += 1;
            piece_bytes += self.blocks[id].bytes as i64;
        }
        figure(&mut self.stats.inactive_split, kind, pieces);
        figure(&mut self.stats.inactive_split_bytes, kind, piece_bytes);
        figure(&mut self.stats.active, kind, -1);
        figure(&mut self.stats.active_bytes, kind, -(bytes as i64));
        figure(&mut self.stats.requested_bytes, kind, -(requested as i64));
    }

    pub fn reset_peaks(&mut self) {
        self.each_stat(|stat| stat.peak = stat.current);
    }

    pub fn reset_accumulated(&mut self) {
        self.each_stat(|stat| (stat.allocated, stat.freed) = (0, 0));
        self.stats.num_alloc_retries = 0;
        self.stats.num_ooms = 0;
        self.stats.num_sync_all_streams = 0;
        self.stats.num_device_alloc = 0;
        self.stats.num_device_free = 0;
    }

    fn each_stat(&mut self, mut act: impl FnMut(&mut Stat)) {
        let stats = &mut self.stats;
        for pools in [
            &mut stats.allocation,
            &mut stats.segment,
            &mut stats.active,
            &mut stats.inactive_split,
            &mut stats.allocated_bytes,
            &mut stats.reserved_bytes,
            &mut stats.active_bytes,
            &mut stats.inactive_split_bytes,
            &mut stats.requested_bytes,
        ] {
            for stat in [&mut pools.all, &mut pools.small_pool, &mut pools.large_pool] {
                act(stat);
            }
        }
        act(&mut stats.oversize_allocations);
        act(&mut stats.oversize_segments);
    }
}

/// An allocation on its way.
struct Request {
    bytes: usize,
    rounded: usize,
    stream: usize,
    pool: usize,
    kind: Kind,
}
