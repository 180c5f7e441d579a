//! Setting the runs of a pool apart, and bringing them back: at one moment for all threads, with all caches of the
//! device locked.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;

use super::LiveBlock;
use crate::caching::size_class::PoolKind;
use crate::memory::addresses::address_map;
use crate::memory::heap::block::{BlockRecord, RecordState};
use crate::memory::heap::segment::SegmentRecord;
use crate::memory::miss::own_stream;
use crate::memory::pool_holds;
use crate::memory::source::pages;
use crate::memory::streams::all_caches;
use crate::memory::streams::cache::{LockedCache, StreamCache};
use crate::memory::streams::device::DeviceMemory;
use crate::memory::streams::sleepers::{self, SleepMode, SleepPhase, SleepingPool};

/// A run of a pool that is set apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolRun {
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) kind: PoolKind,
}

impl PoolRun {
    pub(super) fn end(&self) -> u64 {
        self.address + self.bytes
    }
}

/// The runs of a pool that are set apart and the live blocks in them, both in the order of addresses.
#[derive(Debug, Default)]
pub(super) struct PoolSurvey {
    pub(super) runs: Vec<PoolRun>,
    pub(super) live: Vec<LiveBlock>,
}

impl PoolSurvey {
    fn add(&mut self, inner: &LockedCache, number: u64) {
        for run in inner.heap.sleeping_runs(number) {
            let SegmentRecord { address, bytes, kind, .. } = run;
            self.runs.push(PoolRun { address, bytes, kind });
            let blocks = inner.heap.blocks_of(&run).map(|(_, block)| block);
            let live = blocks.filter(|block| {
                let is_claimed =
                    || address_map::look_up(block.address).is_none_or(|entry| entry.is_claimed());
                block.state == RecordState::Allocated && !is_claimed()
            });
            self.live
                .extend(live.map(|block| LiveBlock { address: block.address, bytes: block.bytes }));
        }
    }

    fn sorted(mut self) -> PoolSurvey {
        self.runs.sort_unstable_by_key(|run| run.address);
        self.live.sort_unstable_by_key(|block| block.address);
        self
    }
}

/// What of a pool is set apart.
pub(super) fn survey(device: DeviceIndex, number: u64) -> PoolSurvey {
    let mut survey = PoolSurvey::default();
    for cache in StreamCache::all_of(device) {
        survey.add(&cache.visit(), number);
    }
    survey.sorted()
}

/// Sets the runs of a pool apart: from now on it gives no memory, and graphs that use it are not launched. Its pages
/// stay where they are.
pub(super) fn set_apart(device: DeviceIndex, number: u64, mode: SleepMode) -> Result<PoolSurvey> {
    let survey = set_runs_apart(device, number, mode)?;
    // Waits for launches, which no lock of the allocator may be held for.
    pool_holds::forbid_launches(number, device);
    Ok(survey)
}

fn set_runs_apart(device: DeviceIndex, number: u64, mode: SleepMode) -> Result<PoolSurvey> {
    let home = DeviceMemory::of(device);
    let exclusive = home.gate.exclusive();
    let mut pages = pages::lock(device);
    let mut caches = all_caches::lock_all(device, &exclusive);
    refuse_plain(device, number, &caches)?;
    refuse_held(device, number, &caches)?;
    let mut survey = PoolSurvey::default();
    for (_, inner) in &mut caches {
        inner.heap.finished().set_asleep(number, true);
        survey.add(inner, number);
    }
    for run in &survey.runs {
        pages.set_asleep(run.address, run.end(), true, None);
    }
    if number == 0 {
        home.set_asleep(true);
    }
    let pool = SleepingPool { phase: SleepPhase::FallingAsleep, mode, saved_bytes: 0 };
    sleepers::enter(device, number, pool);
    Ok(survey.sorted())
}

/// Brings the runs of a pool back, all of whose pages have memory: it is awake.
pub(super) fn bring_back(device: DeviceIndex, number: u64) {
    let home = DeviceMemory::of(device);
    let exclusive = home.gate.exclusive();
    let mut pages = pages::lock(device);
    for (cache, mut inner) in all_caches::lock_all(device, &exclusive) {
        for run in inner.heap.sleeping_runs(number) {
            pages.set_asleep(run.address, run.address + run.bytes, false, own_stream(cache));
        }
        inner.heap.finished().set_asleep(number, false);
    }
    if number == 0 {
        home.set_asleep(false);
    }
    sleepers::leave(device, number);
    pool_holds::allow_launches(number, device);
}

/// Refuses a pool with memory in use that is not made of pages.
fn refuse_plain(
    device: DeviceIndex,
    number: u64,
    caches: &[(&'static StreamCache, LockedCache)],
) -> Result<()> {
    let (mut count, mut bytes, mut example) = (0, 0, None::<(u64, bool)>);
    for (_, inner) in caches {
        let heap = &inner.heap;
        for (_, segment) in heap.segments.iter() {
            let is_of_pool = heap.pools[usize::from(segment.pool)].number == number;
            if segment.paged || !is_of_pool || !heap.is_in_use(segment) {
                continue;
            }
            count += 1;
            bytes += segment.bytes;
            for (id, block) in heap.blocks_of(segment) {
                let is_shared = inner.uses.shared(id).is_some();
                if block.state != RecordState::Free
                    && example.is_none_or(|(_, shared)| is_shared && !shared)
                {
                    example = Some((block.address, is_shared));
                }
            }
        }
    }
    let Some((address, is_shared)) = example else { return Ok(()) };
    let name = sleepers::name(device, number);
    let why = match is_shared {
        true => format!(
            "the block at {address:#x} is one that other processes may use (sconce_ipc_get_memory_handle)"
        ),
        false => format!("the block at {address:#x} is in one of them"),
    };
    Err(Error::new(
        Status::NotSupported,
        format!(
            "{name} cannot sleep: {bytes} bytes of its memory in {count} segments are not made of pages, and {why}; set \
             policy:pages (expandable_segments:True) in SCONCE_ALLOC_CONF before the pool's first allocation"
        ),
    ))
}

/// Refuses a pool with a block that another process has open: it would go on using pages that the pool no longer has.
fn refuse_held(
    device: DeviceIndex,
    number: u64,
    caches: &[(&'static StreamCache, LockedCache)],
) -> Result<()> {
    for (_, inner) in caches {
        let heap = &inner.heap;
        let mut held = inner.uses.held().filter_map(|id| heap.blocks.get(id));
        let of_pool =
            |block: &&BlockRecord| heap.pools[usize::from(block.bins >> 1)].number == number;
        if let Some(block) = held.find(of_pool) {
            let freed = match block.state {
                RecordState::Allocated => "",
                _ => "freed here, but ",
            };
            return Err(Error::invalid_state(format!(
                "{} cannot sleep: the block at {:#x} is {freed}open in another process (sconce_ipc_open_memory); close \
                 it there first",
                sleepers::name(device, number),
                block.address
            )));
        }
    }
    Ok(())
}
