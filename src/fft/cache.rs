//! A device's places for plans, least recently used, with limits and figures.
//!
//! Everything here takes one short lock. Places that leave are handed to the caller, who drops them
//! when the lock is gone: that may destroy a plan.

use super::CacheStats;
use super::route::Key;
use super::slot::{Arc, Slot};
use crate::lru::Lru;
use crate::sync::Mutex;

/// No limit in bytes.
pub(super) const UNLIMITED: u64 = i64::MAX as u64;

/// What a plan makes a device hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// What the library took for itself.
    pub(super) plan: u64,
    /// What an execution takes.
    pub(super) workspace: u64,
}

impl Cost {
    /// Both, below [`UNLIMITED`].
    fn sum(self) -> u64 {
        self.plan.saturating_add(self.workspace).min(UNLIMITED)
    }
}

/// A place in the cache; nothing costs anything before it is made.
pub(super) struct Entry<P> {
    slot: Arc<Slot<P>>,
    cost: Cost,
}

/// See the module.
pub(super) struct Cache<P>(Mutex<Inner<P>>);

struct Inner<P> {
    places: Lru<Key, Entry<P>>,
    /// The sum of all costs, apart.
    cost: Cost,
    hits: u64,
    misses: u64,
    evictions: u64,
}

impl<P> Inner<P> {
    /// Notes that places have left.
    fn without(&mut self, left: Vec<Entry<P>>) -> Vec<Entry<P>> {
        for Entry { cost, .. } in &left {
            self.cost.plan -= cost.plan;
            self.cost.workspace -= cost.workspace;
        }
        left
    }

    /// The same because of a limit, or for want of memory.
    fn evicted(&mut self, left: Vec<Entry<P>>) -> Vec<Entry<P>> {
        self.evictions += left.len() as u64;
        self.without(left)
    }
}

impl<P> Cache<P> {
    pub(super) fn new(most: usize) -> Cache<P> {
        Cache(Mutex::new(Inner {
            places: Lru::new(most, UNLIMITED),
            cost: Cost::default(),
            hits: 0,
            misses: 0,
            evictions: 0,
        }))
    }

    /// The place of a shape, which is the newest from now on; with it what had to leave for a new
    /// one. `hint` is where it was before, and then where it is.
    #[inline]
    pub(super) fn find(&self, key: &Key, hint: &mut usize) -> (Arc<Slot<P>>, Vec<Entry<P>>) {
        let mut inner = self.0.lock();
        if let Some(entry) = inner.places.get_near(key, hint) {
            let slot = entry.slot.clone();
            inner.hits += 1;
            return (slot, Vec::new());
        }
        inner.misses += 1;
        let slot = Arc::new(Slot::new());
        if inner.places.most() == 0 {
            // Nothing is kept, and so nothing leaves.
            return (slot, Vec::new());
        }
        let entry = Entry { slot: slot.clone(), cost: Cost::default() };
        let left = inner.places.insert(*key, entry, 0);
        (slot, inner.evicted(left))
    }

    /// Notes what a plan costs that has been made, and gives what has to leave for it.
    pub(super) fn made(&self, key: &Key, slot: &Arc<Slot<P>>, cost: Cost) -> Vec<Entry<P>> {
        let mut inner = self.0.lock();
        // It may have left meanwhile, and another may have come.
        match inner.places.get(key) {
            Some(entry) if Arc::ptr_eq(&entry.slot, slot) => entry.cost = cost,
            _ => return Vec::new(),
        }
        inner.cost.plan += cost.plan;
        inner.cost.workspace += cost.workspace;
        let left = inner.places.set_cost(key, cost.sum());
        inner.evicted(left)
    }

    /// Takes a place out whose plan could not be made.
    pub(super) fn failed(&self, key: &Key, slot: &Arc<Slot<P>>) -> Option<Entry<P>> {
        let mut inner = self.0.lock();
        match inner.places.peek(key) {
            Some(entry) if Arc::ptr_eq(&entry.slot, slot) => inner.places.remove(key),
            _ => None,
        }
    }

    /// Takes up to `most` places out, the longest unused first, for want of memory.
    pub(super) fn take_oldest(&self, most: usize) -> Vec<Entry<P>> {
        let mut inner = self.0.lock();
        let left: Vec<Entry<P>> =
            std::iter::from_fn(|| inner.places.pop_oldest()).take(most).collect();
        inner.evicted(left)
    }

    pub(super) fn set_most(&self, most: usize) -> Vec<Entry<P>> {
        let mut inner = self.0.lock();
        let left = inner.places.set_most(most);
        inner.evicted(left)
    }

    pub(super) fn set_most_bytes(&self, most: u64) -> Vec<Entry<P>> {
        let mut inner = self.0.lock();
        let left = inner.places.set_most_cost(most);
        inner.evicted(left)
    }

    pub(super) fn clear(&self) -> Vec<Entry<P>> {
        let mut inner = self.0.lock();
        let left = inner.places.clear();
        inner.without(left)
    }

    pub(super) fn stats(&self) -> CacheStats {
        let inner = self.0.lock();
        CacheStats {
            size: inner.places.len() as u64,
            max_size: inner.places.most() as u64,
            plan_bytes: inner.cost.plan,
            workspace_bytes: inner.cost.workspace,
            max_bytes: inner.places.most_cost(),
            hits: inner.hits,
            misses: inner.misses,
            evictions: inner.evictions,
        }
    }

    pub(super) fn reset_stats(&self) {
        let mut inner = self.0.lock();
        (inner.hits, inner.misses, inner.evictions) = (0, 0, 0);
    }
}
