//! What is known of a pool that sleeps.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;

use super::{lock, mark};
use crate::memory::source::pages;
use crate::memory::streams::cache::StreamCache;
use crate::memory::streams::live_blocks;
use crate::memory::streams::sleepers::{self, SleepMode, SleepPhase};

/// A pool that is asleep on a device, or falls asleep or wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepState {
    /// Where its bytes are.
    pub mode: SleepMode,
    /// Bytes of its pages whose memory is the driver's now.
    pub sleeping_bytes: u64,
    /// Bytes that were saved.
    pub saved_bytes: u64,
}

/// The state of a pool on a device; `None` if it is awake. Waits for no thread that puts a pool to sleep or wakes it.
pub fn state(device: DeviceIndex, number: u64) -> Option<SleepState> {
    let pool = sleepers::of(device, number)?;
    let runs = mark::survey(device, number).runs;
    let pages = pages::lock(device);
    let without = runs.iter().flat_map(|run| pages.without_memory(run.address, run.end()));
    let sleeping_bytes = without.map(|(_, bytes)| bytes).sum();
    Some(SleepState { mode: pool.mode, sleeping_bytes, saved_bytes: pool.saved_bytes })
}

/// Bytes of a device's pages whose memory is the driver's now.
#[inline]
pub fn sleeping_bytes(device: DeviceIndex) -> u64 {
    if sleepers::any() { pages::lock(device).sleeping_bytes() } else { 0 }
}

/// The pool in whose runs that are asleep an address lies.
fn asleep_at(address: u64) -> Option<(DeviceIndex, u64)> {
    if !sleepers::any() {
        return None;
    }
    let owner = live_blocks::owner_of(address)?;
    let heap = &owner.visit().heap;
    let run = live_blocks::segment_in(heap, address)?;
    let number = heap.pools[usize::from(run.pool)].number;
    heap.is_asleep(run.pool).then_some((owner.device(), number))
}

/// The device on which an address lies in memory that is asleep.
#[inline]
pub(crate) fn device_asleep_at(address: usize) -> Option<DeviceIndex> {
    asleep_at(address as u64).map(|(device, _)| device)
}

/// Why work must not use an address: it is asleep. `what` names the argument.
#[inline]
pub fn refusal(address: usize, what: &str) -> Option<Error> {
    if sleepers::any() { refusal_of(address, what) } else { None }
}

/// Refuses work that uses these addresses if one of them is asleep.
#[inline]
pub fn refuse_asleep(addresses: impl IntoIterator<Item = usize>, what: &str) -> Result<()> {
    if sleepers::any() {
        addresses.into_iter().try_for_each(|at| refusal_of(at, what).map_or(Ok(()), Err))
    } else {
        Ok(())
    }
}

#[cold]
#[inline(never)]
fn refusal_of(address: usize, what: &str) -> Option<Error> {
    let (device, number) = asleep_at(address as u64)?;
    let name = sleepers::name(device, number);
    Some(Error::invalid_state(format!(
        "{what} {address:#x} is memory of {name}, which is asleep (sconce_memory_pool_sleep); call \
         sconce_memory_pool_wake before the memory is used"
    )))
}

/// Where the byte of an address in a live block is in memory of the host while the block's pool sleeps. `number` is the
/// pool.
pub(crate) fn saved_at(number: u64, address: usize) -> Result<usize> {
    let (_, block, owner) = live_blocks::live(address)?;
    let device = owner.device();
    let name = || sleepers::name(device, number);
    match asleep_at(address as u64) {
        Some((_, found)) if found == number => {}
        Some((_, found)) => {
            return Err(Error::invalid_argument(format!(
                "ptr {address:#x} is memory of {}, not of {}; pass the pool that it was allocated from",
                sleepers::name(device, found),
                name()
            )));
        }
        None => {
            return Err(Error::invalid_state(format!(
                "ptr {address:#x} is not asleep, so its bytes are where they were; call sconce_memory_pool_sleep first"
            )));
        }
    }
    let saved = lock(device);
    let place = saved.get(&number).and_then(|pool| {
        let was_saved = block.address + block.bytes <= pool.below;
        pool.bytes.as_ref().filter(|_| was_saved)?.place_of(address as u64)
    });
    place.ok_or_else(|| {
        Error::invalid_state(format!(
            "ptr {address:#x} sleeps with {}, whose bytes are not in memory of the host; put it to sleep with \
             SCONCE_SLEEP_HOST_PINNED or SCONCE_SLEEP_HOST_PAGEABLE",
            name()
        ))
    })
}

/// The pools that have memory on a device, asleep or awake, and the default pool.
pub(crate) fn pools_with_memory(device: DeviceIndex) -> Vec<u64> {
    let mut numbers = vec![0];
    for cache in StreamCache::all_of(device) {
        let inner = cache.visit();
        let pools = &inner.heap.pools;
        numbers.extend(
            inner.heap.segments.iter().map(|(_, segment)| pools[usize::from(segment.pool)].number),
        );
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Whether a pool whose runs on a device are set apart was destroyed.
pub(super) fn is_abandoned(device: DeviceIndex, number: u64) -> bool {
    let mut caches = StreamCache::all_of(device);
    caches.any(|cache| {
        let inner = cache.visit();
        let mut runs = inner.heap.sleeping_runs(number).into_iter();
        runs.any(|run| inner.heap.pools[usize::from(run.pool)].abandoned)
    })
}

/// Refuses a pool that is not asleep, or one that is.
pub(super) fn check(device: DeviceIndex, number: u64, asleep: bool) -> Result<()> {
    let name = || sleepers::name(device, number);
    match sleepers::of(device, number).map(|pool| pool.phase) {
        Some(SleepPhase::Asleep) if asleep => Ok(()),
        None if !asleep => Ok(()),
        None => Err(Error::invalid_state(format!("{} is not asleep", name()))),
        Some(_) => Err(Error::invalid_state(format!(
            "{} is asleep already; call sconce_memory_pool_wake first",
            name()
        ))),
    }
}
