//! Graphs that use the memory of a pool. The nodes of a graph name addresses, and a launch may use any memory that the
//! pool had during the capture, whether it is allocated now or not. So while a graph holds a pool, none of the pool's
//! memory goes back to the driver: a trim gives nothing back, and a pool that is destroyed keeps its memory until the
//! last graph lets go.

use std::collections::BTreeMap;

use crate::lock::Mutex;

/// The held pools, by their numbers.
static HELD: Mutex<BTreeMap<u64, HeldPool>> = Mutex::new(BTreeMap::new());

#[derive(Default)]
struct HeldPool {
    graphs: usize,
    /// The pool was destroyed, and its memory goes back when no graph holds it.
    is_destroyed: bool,
}

/// Adds a graph that holds the pool.
pub(super) fn add(number: u64) {
    HELD.lock().entry(number).or_default().graphs += 1;
}

/// Takes a graph away. Returns whether the memory of the pool goes back now: it was destroyed, and this was the last
/// graph.
pub(super) fn remove(number: u64) -> bool {
    let mut held = HELD.lock();
    let Some(pool) = held.get_mut(&number) else { return false };
    pool.graphs -= 1;
    if pool.graphs > 0 {
        return false;
    }
    held.remove(&number).is_some_and(|pool| pool.is_destroyed)
}

/// Whether a graph holds the pool.
pub(super) fn is_held(number: u64) -> bool {
    HELD.lock().contains_key(&number)
}

/// Notes that a pool was destroyed; `false` if no graph holds it, so that its memory goes back now.
pub(super) fn outlives(number: u64) -> bool {
    let mut held = HELD.lock();
    let Some(pool) = held.get_mut(&number) else { return false };
    pool.is_destroyed = true;
    true
}
