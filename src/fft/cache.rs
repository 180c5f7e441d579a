//! A device's places for plans, least recently used, with limits and figures.
//!
//! Everything here takes one short lock. Transforms that a thread repeats do without it
//! ([`Slot::again`]): their uses are seen when something has to leave, and counted when somebody asks.
//! Places that leave are handed to the caller, who drops them when the lock is gone: that may destroy a
//! plan.

use super::CacheStats;
use super::route::Key;
use super::slot::Slot;
use crate::lru::{Age, Aged, Lru};
use crate::sync::{Mutex, Shared};

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

/// A place in the cache.
struct Entry<P> {
    slot: Shared<Slot<P>>,
    /// Known once the plan is made. Until then retiring the place is up to who makes it: that would
    /// wait.
    cost: Option<Cost>,
}

impl<P> Aged for Entry<P> {
    #[inline]
    fn age(&self) -> &Age {
        self.slot.age()
    }
}

/// Places that have left a cache. Dropped with nothing locked.
#[must_use]
pub(super) struct Left<'a, P> {
    cache: &'a Cache<P>,
    places: Vec<Shared<Slot<P>>>,
    /// How many plans.
    pub(super) count: usize,
}

impl<P> Drop for Left<'_, P> {
    fn drop(&mut self) {
        for slot in self.places.drain(..) {
            let plan = slot.retire();
            // It was used until now.
            let mut inner = self.cache.inner.lock();
            inner.hits += slot.tell_hits();
            drop(inner);
            drop(plan);
        }
    }
}

/// See the module.
pub(super) struct Cache<P> {
    inner: Mutex<Inner<P>>,
}

struct Inner<P> {
    places: Lru<Key, Entry<P>>,
    /// The sum of all costs, apart.
    cost: Cost,
    /// Those that places which have left told of.
    hits: u64,
    /// How many of all hits are no more to be told.
    forgotten_hits: u64,
    misses: u64,
    evictions: u64,
}

impl<P> Inner<P> {
    /// How often plans were found since the cache was made.
    fn all_hits(&self) -> u64 {
        self.hits + self.places.values().map(|entry| entry.slot.untold_hits()).sum::<u64>()
    }
}

impl<P> Cache<P> {
    pub(super) fn new(most: usize) -> Cache<P> {
        Cache {
            inner: Mutex::new(Inner {
                places: Lru::new(most, UNLIMITED),
                cost: Cost::default(),
                hits: 0,
                forgotten_hits: 0,
                misses: 0,
                evictions: 0,
            }),
        }
    }

    /// Notes that entries have left.
    fn without(&self, inner: &mut Inner<P>, left: Vec<Entry<P>>) -> Left<'_, P> {
        let count = left.len();
        let mut places = Vec::with_capacity(count);
        for Entry { slot, cost } in left {
            inner.hits += slot.tell_hits();
            if let Some(cost) = cost {
                inner.cost.plan -= cost.plan;
                inner.cost.workspace -= cost.workspace;
                places.push(slot);
            }
        }
        Left { cache: self, places, count }
    }

    /// The same because of a limit, or for want of memory.
    fn evicted(&self, inner: &mut Inner<P>, left: Vec<Entry<P>>) -> Left<'_, P> {
        inner.evictions += left.len() as u64;
        self.without(inner, left)
    }

    /// The place of a shape, which is the newest from now on; with it what had to leave for a new
    /// one.
    pub(super) fn find(&self, key: &Key) -> (Shared<Slot<P>>, Left<'_, P>) {
        let mut inner = self.inner.lock();
        if let Some(entry) = inner.places.get(key) {
            let slot = entry.slot.clone();
            return (slot, self.without(&mut inner, Vec::new()));
        }
        inner.misses += 1;
        let slot = Shared::new(Slot::new(inner.places.clock()));
        // What is not kept cannot leave.
        let left = if inner.places.most() > 0 {
            inner.places.insert(*key, Entry { slot: slot.clone(), cost: None }, 0)
        } else {
            Vec::new()
        };
        let left = self.evicted(&mut inner, left);
        (slot, left)
    }

    /// Notes what a plan costs that has been made, and gives what has to leave for it: its own place
    /// too, if that is not in the cache any more.
    pub(super) fn made(&self, key: &Key, slot: &Shared<Slot<P>>, cost: Cost) -> Left<'_, P> {
        let mut inner = self.inner.lock();
        match inner.places.peek(key) {
            Some(entry) if Shared::ptr_eq(&entry.slot, slot) => entry.cost = Some(cost),
            // It has left meanwhile, or was never in, and another may have come.
            _ => return Left { cache: self, places: vec![slot.clone()], count: 0 },
        }
        inner.cost.plan += cost.plan;
        inner.cost.workspace += cost.workspace;
        let left = inner.places.set_cost(key, cost.sum());
        self.evicted(&mut inner, left)
    }

    /// Takes a place out whose plan could not be made.
    pub(super) fn failed(&self, key: &Key, slot: &Shared<Slot<P>>) {
        let mut inner = self.inner.lock();
        if inner.places.peek(key).is_some_and(|entry| Shared::ptr_eq(&entry.slot, slot)) {
            inner.places.remove(key);
        }
    }

    /// Takes up to `most` places out, the longest unused first, for want of memory.
    pub(super) fn take_oldest(&self, most: usize) -> Left<'_, P> {
        let mut inner = self.inner.lock();
        let left: Vec<Entry<P>> =
            std::iter::from_fn(|| inner.places.pop_oldest()).take(most).collect();
        self.evicted(&mut inner, left)
    }

    pub(super) fn set_most(&self, most: usize) -> Left<'_, P> {
        let mut inner = self.inner.lock();
        let left = inner.places.set_most(most);
        self.evicted(&mut inner, left)
    }

    pub(super) fn set_most_bytes(&self, most: u64) -> Left<'_, P> {
        let mut inner = self.inner.lock();
        let left = inner.places.set_most_cost(most);
        self.evicted(&mut inner, left)
    }

    pub(super) fn clear(&self) -> Left<'_, P> {
        let mut inner = self.inner.lock();
        let left = inner.places.clear();
        self.without(&mut inner, left)
    }

    /// How many places there are, and the most there may be.
    pub(super) fn size(&self) -> (usize, usize) {
        let inner = self.inner.lock();
        (inner.places.len(), inner.places.most())
    }

    pub(super) fn most_bytes(&self) -> u64 {
        self.inner.lock().places.most_cost()
    }

    /// All figures. Looks at each place.
    pub(super) fn stats(&self) -> CacheStats {
        let inner = self.inner.lock();
        CacheStats {
            size: inner.places.len() as u64,
            max_size: inner.places.most() as u64,
            plan_bytes: inner.cost.plan,
            workspace_bytes: inner.cost.workspace,
            max_bytes: inner.places.most_cost(),
            hits: inner.all_hits() - inner.forgotten_hits,
            misses: inner.misses,
            evictions: inner.evictions,
        }
    }

    pub(super) fn reset_stats(&self) {
        let mut inner = self.inner.lock();
        inner.forgotten_hits = inner.all_hits();
        (inner.misses, inner.evictions) = (0, 0);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::driver::{FftKind, FftLayout, FftShape};
    use crate::element::Dtype;

    #[test]
    fn uses_of_a_plan_that_leaves_while_it_is_made_are_counted() {
        let layout = FftLayout { embed: [8, 1, 1], stride: 1, distance: 8 };
        let key = Key(FftShape {
            kind: FftKind::C2C,
            element: Dtype::F32,
            rank: 1,
            sizes: [8, 1, 1],
            batch: 1,
            input: layout,
            output: layout,
        });
        let cache = Cache::new(4);
        let (slot, left) = cache.find(&key);
        drop(left);
        let held = Slot::hold(&slot, || Ok(("plan", 0, ()))).unwrap().unwrap().0;
        // Another thread finds it before its maker has told what it costs.
        assert!(slot.again(|_| ()).is_some());
        assert_eq!(cache.stats().hits, 1);
        drop(cache.clear());
        assert_eq!(cache.stats().hits, 1);
        assert!(slot.again(|_| ()).is_some());
        drop(cache.made(&key, &slot, Cost::default()));
        assert_eq!((cache.stats().hits, cache.stats().misses), (2, 1));
        assert!(slot.again(|_| ()).is_none());
        drop(held);
        assert_eq!((cache.stats().hits, cache.stats().size), (2, 0));
    }
}
