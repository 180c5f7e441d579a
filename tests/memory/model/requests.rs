//! What callers hold and have given back, as plainly as it can be written: it knows no segments, no pages and no
//! addresses, so it is the same for memory of every kind.

use std::collections::BTreeMap;

use sconce_runtime::memory::{MemoryStats, PoolStats, Stat};

use super::oracle::{Kind, Rules};

/// A block that a caller holds, or that waits for other streams.
#[derive(Clone, Copy, Debug)]
struct Block {
    requested: i64,
    bytes: i64,
    kind: Kind,
}

/// A block that was freed while other streams used it.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    block: Block,
    /// How far the streams were.
    since: u64,
    /// All work has ended since.
    complete: bool,
}

/// What a block adds to a figure.
type Figure = fn(&Block) -> i64;

/// The requests of a script under some policy.
pub struct Requests {
    pub rules: Rules,
    held: BTreeMap<usize, Block>,
    waiting: Vec<Waiting>,
    allocation: PoolStats,
    allocated_bytes: PoolStats,
    /// Counts whenever a stream has gone on.
    progress: u64,
}

fn parts(pools: &mut PoolStats, kind: Kind) -> [&mut Stat; 2] {
    match kind {
        Kind::Small => [&mut pools.all, &mut pools.small_pool],
        Kind::Large => [&mut pools.all, &mut pools.large_pool],
    }
}

fn change(pools: &mut PoolStats, kind: Kind, by: i64) {
    for stat in parts(pools, kind) {
        stat.current += by;
        stat.peak = stat.peak.max(stat.current);
        if by > 0 {
            stat.allocated += by;
        } else {
            stat.freed -= by;
        }
    }
}

impl Requests {
    pub fn new(rules: Rules) -> Requests {
        Requests {
            rules,
            held: BTreeMap::new(),
            waiting: Vec::new(),
            allocation: PoolStats::default(),
            allocated_bytes: PoolStats::default(),
            progress: 0,
        }
    }

    /// What a request counts as.
    pub fn kind(&self, requested: usize) -> Kind {
        self.rules.kind(self.rules.rounded(requested))
    }

    /// A caller has got a block of so many bytes.
    pub fn alloc(&mut self, id: usize, requested: usize, bytes: usize, kind: Kind) {
        let block = Block { requested: requested as i64, bytes: bytes as i64, kind };
        self.held.insert(id, block);
        change(&mut self.allocation, kind, 1);
        change(&mut self.allocated_bytes, kind, block.bytes);
    }

    /// A caller gives a block back; `waits` if another stream uses it.
    pub fn free(&mut self, id: usize, waits: bool) {
        let block = self.held.remove(&id).expect("a block that is held");
        change(&mut self.allocation, block.kind, -1);
        change(&mut self.allocated_bytes, block.kind, -block.bytes);
        if waits {
            self.waiting.push(Waiting { block, since: self.progress, complete: false });
        }
    }

    /// Some work of some stream may have ended.
    pub fn go_on(&mut self) {
        self.progress += 1;
    }

    /// All work has ended.
    pub fn finish_all(&mut self) {
        self.progress += 1;
        self.waiting.iter_mut().for_each(|it| it.complete = true);
    }

    /// A call has looked at what waits: what is complete waits no more.
    pub fn take_up(&mut self) {
        self.waiting.retain(|it| !it.complete);
    }

    pub fn reset_peaks(&mut self) {
        self.each(|stat| stat.peak = stat.current);
    }

    pub fn reset_accumulated(&mut self) {
        self.each(|stat| (stat.allocated, stat.freed) = (0, 0));
    }

    fn each(&mut self, act: impl Fn(&mut Stat)) {
        for pools in [&mut self.allocation, &mut self.allocated_bytes] {
            [&mut pools.all, &mut pools.small_pool, &mut pools.large_pool]
                .into_iter()
                .for_each(&act);
        }
    }

    /// The figures that are the same under every policy.
    pub fn allocation(&self) -> PoolStats {
        self.allocation
    }

    /// What is wrong with the figures of the allocator.
    pub fn compare(&self, stats: &MemoryStats) -> Result<(), String> {
        for (name, ours, theirs) in [
            ("allocation", stats.allocation, self.allocation),
            ("allocated_bytes", stats.allocated_bytes, self.allocated_bytes),
        ] {
            if ours != theirs {
                return Err(format!("{name} is {ours:?}, not {theirs:?}"));
            }
        }
        let figures: [(&str, PoolStats, Figure); 3] = [
            ("active", stats.active, |_| 1),
            ("active_bytes", stats.active_bytes, |block| block.bytes),
            ("requested_bytes", stats.requested_bytes, |block| block.requested),
        ];
        for (name, ours, of) in figures {
            let kinds = [
                ("small_pool", ours.small_pool, Some(Kind::Small)),
                ("large_pool", ours.large_pool, Some(Kind::Large)),
                ("all", ours.all, None),
            ];
            for (part, stat, kind) in kinds {
                let is_it = |block: &&Block| kind.is_none_or(|kind| block.kind == kind);
                let held: i64 = self.held.values().filter(is_it).map(of).sum();
                let waits = |wanted: &dyn Fn(&Waiting) -> bool| -> i64 {
                    let them = self.waiting.iter().filter(|it| wanted(it)).map(|it| &it.block);
                    them.filter(is_it).map(of).sum()
                };
                // Between what must wait still, and what may.
                let least = held + waits(&|it| it.since == self.progress);
                let most = held + waits(&|_| true);
                if !(least..=most).contains(&stat.current) {
                    let now = stat.current;
                    return Err(format!("{name}.{part} is {now}, not {least} to {most}"));
                }
            }
        }
        Ok(())
    }
}
