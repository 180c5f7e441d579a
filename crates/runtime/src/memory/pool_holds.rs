//! Graphs that use the memory of a pool. The nodes of a graph name addresses, and a launch may use any memory that the
//! pool had during the capture, whether it is allocated now or not. So while a graph holds a pool, none of the pool's
//! memory goes back to the driver: a trim gives nothing back, and a pool that is destroyed keeps its memory until the
//! last graph lets go. A pool that sleeps keeps its addresses, and its graphs must not be launched meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::collections::slab::Key;
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;

/// Waits until no thread is launching a graph.
pub type AwaitLaunch = fn(Key);

/// The held pools, by their numbers.
static HELD: Mutex<rank::PoolHolds, BTreeMap<u64, HeldPool>> = Mutex::new(BTreeMap::new());

#[derive(Default)]
struct HeldPool {
    /// The graphs that hold it, and how to wait for their launches.
    graphs: Vec<(Key, AwaitLaunch)>,
    /// The devices on which it is asleep, a bit each, for launches.
    asleep: Arc<AtomicU64>,
    /// The pool was destroyed, and its memory goes back when no graph holds it.
    is_destroyed: bool,
}

impl HeldPool {
    fn is_awake(&self) -> bool {
        self.asleep.load(Ordering::Relaxed) == 0
    }
}

fn bit(device: DeviceIndex) -> u64 {
    1 << device.as_usize()
}

/// The devices on which a pool is asleep.
#[derive(Clone)]
pub(super) struct SleepFlags(Arc<AtomicU64>);

impl SleepFlags {
    /// Whether the pool is asleep on a device.
    #[inline]
    pub(super) fn is_set(&self, device: DeviceIndex) -> bool {
        self.0.load(Ordering::Relaxed) & bit(device) != 0
    }
}

/// Adds a graph that holds the pool. Its launches look at the result, with the lock held that `await_launch` waits for.
pub(super) fn add(number: u64, graph: Key, await_launch: AwaitLaunch) -> SleepFlags {
    let mut held = HELD.lock();
    let pool = held.entry(number).or_default();
    pool.graphs.push((graph, await_launch));
    SleepFlags(Arc::clone(&pool.asleep))
}

/// Takes a graph away. Returns whether the memory of the pool goes back now: it was destroyed, and this was the last
/// graph.
pub(super) fn remove(number: u64, graph: Key) -> bool {
    let mut held = HELD.lock();
    let Some(pool) = held.get_mut(&number) else { return false };
    if let Some(place) = pool.graphs.iter().position(|(key, _)| *key == graph) {
        pool.graphs.swap_remove(place);
    }
    if !pool.graphs.is_empty() {
        return false;
    }
    let is_destroyed = pool.is_destroyed;
    if is_destroyed || pool.is_awake() {
        held.remove(&number);
    }
    is_destroyed
}

/// Whether a graph holds the pool.
pub(super) fn is_held(number: u64) -> bool {
    HELD.lock().get(&number).is_some_and(|pool| !pool.graphs.is_empty())
}

/// Notes that a pool was destroyed; `false` if no graph holds it, so that its memory goes back now.
pub(super) fn outlives(number: u64) -> bool {
    let mut held = HELD.lock();
    let Some(pool) = held.get_mut(&number) else { return false };
    if pool.graphs.is_empty() {
        held.remove(&number);
        return false;
    }
    pool.is_destroyed = true;
    true
}

/// From now on no graph is launched on a device that holds the pool. Waits for launches that have begun.
pub(super) fn forbid_launches(number: u64, device: DeviceIndex) {
    let graphs = {
        let mut held = HELD.lock();
        let pool = held.entry(number).or_default();
        pool.asleep.fetch_or(bit(device), Ordering::Relaxed);
        pool.graphs.clone()
    };
    // A launch whose turn comes later sees the bit.
    graphs.iter().for_each(|(graph, await_launch)| await_launch(*graph));
}

/// Graphs that hold the pool may be launched on the device again.
pub(super) fn allow_launches(number: u64, device: DeviceIndex) {
    let mut held = HELD.lock();
    let Some(pool) = held.get(&number) else { return };
    pool.asleep.fetch_and(!bit(device), Ordering::Relaxed);
    if pool.graphs.is_empty() && pool.is_awake() {
        held.remove(&number);
    }
}
