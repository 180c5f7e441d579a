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

/// Where a place was, and which one it was.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hint {
    at: usize,
    id: u64,
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

    /// The place that was found before, if it is still here; it is the newest from now on.
    #[inline]
    pub(super) fn find_again(&self, hint: &Hint) -> Option<Arc<Slot<P>>> {
        let mut inner = self.0.lock();
        let entry = inner.places.get_at(hint.at, |entry| entry.slot.id() == hint.id)?;
        let slot = entry.slot.clone();
        inner.hits += 1;
        Some(slot)
    }

    /// The place of a shape, which is the newest from now on; with it what had to leave for a new
    /// one. `hint` tells how it can be found again.
    pub(super) fn find(&self, key: &Key, hint: &mut Hint) -> (Arc<Slot<P>>, Vec<Entry<P>>) {
        let mut inner = self.0.lock();
        if let Some(entry) = inner.places.get(key) {
            let slot = entry.slot.clone();
            inner.hits += 1;
            *hint = Hint { at: inner.places.newest_at(), id: slot.id() };
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
        *hint = Hint { at: inner.places.newest_at(), id: slot.id() };
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

#[cfg(all(test, loom))]
mod loom_models {
    use super::super::slot::Ready;
    use super::*;
    use crate::driver::{Element, FftKind, FftLayout, FftShape};
    use crate::error::{Error, Result};
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    fn key(n: i64) -> Key {
        let sizes = [n, 1, 1];
        let layout = FftLayout { embed: sizes, stride: 1, distance: n };
        Key(FftShape {
            kind: FftKind::C2C,
            element: Element::F32,
            rank: 1,
            sizes,
            batch: 1,
            input: layout,
            output: layout,
        })
    }

    #[derive(Default)]
    struct Counts {
        made: AtomicUsize,
        tried: AtomicUsize,
        dropped: AtomicUsize,
    }

    /// A plan that is executed by one at a time and dropped once.
    struct Plan {
        counts: Arc<Counts>,
        executions: AtomicUsize,
    }

    impl Drop for Plan {
        fn drop(&mut self) {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    const COST: Cost = Cost { plan: 5, workspace: 2 };

    /// What a transform does; the first `failures` plans cannot be made.
    fn transform(
        cache: &Cache<Plan>,
        key: &Key,
        counts: &Arc<Counts>,
        failures: usize,
    ) -> Result<()> {
        let mut hint = Hint::default();
        let (slot, left) = cache.find(key, &mut hint);
        drop(left);
        if slot.workspace().is_none() {
            let made = slot.make(|| {
                if counts.tried.fetch_add(1, Ordering::Relaxed) < failures {
                    return Err(Error::invalid_state("on purpose"));
                }
                counts.made.fetch_add(1, Ordering::Relaxed);
                let plan = Plan { counts: counts.clone(), executions: AtomicUsize::new(0) };
                Ok((plan, 2, COST))
            });
            match made {
                Ok(Ready::Before) => {}
                Ok(Ready::Now(cost)) => drop(cache.made(key, &slot, cost)),
                Err(error) => {
                    drop(cache.failed(key, &slot));
                    return Err(error);
                }
            }
        }
        assert_eq!(slot.workspace(), Some(2));
        slot.with(|plan| {
            // Not atomic: two at once would lose one.
            let before = plan.executions.load(Ordering::Relaxed);
            plan.executions.store(before + 1, Ordering::Relaxed);
            Ok(())
        })
    }

    fn checked(failures: usize, change: fn(&Cache<Plan>) -> Vec<Entry<Plan>>) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let (cache, counts) = (Arc::new(Cache::new(4)), Arc::new(Counts::default()));
            let threads = [(); 2].map(|()| {
                let (cache, counts) = (cache.clone(), counts.clone());
                thread::spawn(move || transform(&cache, &key(8), &counts, failures).is_ok())
            });
            drop(change(&cache));
            let succeeded = threads.map(|thread| thread.join().unwrap());
            let (stats, made) = (cache.stats(), counts.made.load(Ordering::Relaxed));
            // What is kept has been made, and is counted once.
            assert_eq!(stats.hits + stats.misses, 2);
            assert_eq!(stats.plan_bytes, stats.size * COST.plan);
            assert_eq!(stats.workspace_bytes, stats.size * COST.workspace);
            assert!(stats.size <= 1 && made <= stats.misses as usize);
            if failures == 0 {
                assert_eq!(succeeded, [true; 2]);
                assert_eq!(made, stats.misses as usize);
            }
            assert_eq!(counts.dropped.load(Ordering::Relaxed), made - stats.size as usize);
            drop(cache.clear());
            assert_eq!(counts.dropped.load(Ordering::Relaxed), made);
            assert_eq!((cache.stats().plan_bytes, cache.stats().size), (0, 0));
        });
    }

    #[test]
    fn one_makes_it_and_a_cache_that_is_emptied_meanwhile_drops_it_once() {
        checked(0, Cache::clear);
    }

    #[test]
    fn a_limit_that_is_set_meanwhile_holds_whoever_makes_the_plan() {
        checked(0, |cache| cache.set_most_bytes(6));
        checked(0, |cache| cache.set_most(0));
    }

    #[test]
    fn a_plan_that_cannot_be_made_leaves_no_place() {
        checked(1, |_| Vec::new());
        checked(1, |cache| cache.take_oldest(1));
    }
}
