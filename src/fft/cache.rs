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
    /// With how often each had been found again when it left.
    places: Vec<(Shared<Slot<P>>, u64)>,
    /// How many plans.
    pub(super) count: usize,
}

impl<P> Drop for Left<'_, P> {
    fn drop(&mut self) {
        for (slot, hits) in self.places.drain(..) {
            let plan = slot.retire();
            // Others used it until now.
            let late = slot.hits() - hits;
            if late > 0 {
                self.cache.inner.lock().hits += late;
            }
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
    /// All but those that places count themselves.
    hits: u64,
    /// How many of all hits are no more to be told.
    forgotten_hits: u64,
    misses: u64,
    evictions: u64,
}

impl<P> Inner<P> {
    /// How often plans were found since the cache was made.
    fn all_hits(&self) -> u64 {
        self.hits + self.places.values().map(|entry| entry.slot.hits()).sum::<u64>()
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
            let hits = slot.hits();
            inner.hits += hits;
            if let Some(cost) = cost {
                inner.cost.plan -= cost.plan;
                inner.cost.workspace -= cost.workspace;
                places.push((slot, hits));
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
            inner.hits += 1;
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
            _ => return Left { cache: self, places: vec![(slot.clone(), slot.hits())], count: 0 },
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

#[cfg(all(test, loom))]
mod loom_models {
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
        /// A bit for each plan.
        dropped_plans: AtomicUsize,
    }

    impl Counts {
        fn dropped(&self) -> usize {
            self.dropped_plans.load(Ordering::Relaxed).count_ones() as usize
        }
    }

    /// A plan that is executed by one at a time and dropped once.
    struct Plan {
        counts: Shared<Counts>,
        bit: usize,
        executions: AtomicUsize,
    }

    impl Drop for Plan {
        fn drop(&mut self) {
            let before = self.counts.dropped_plans.fetch_or(self.bit, Ordering::Relaxed);
            assert_eq!(before & self.bit, 0, "dropped twice");
        }
    }

    const COST: Cost = Cost { plan: 5, workspace: 2 };

    /// Not atomic: two at once would lose one.
    fn execute(plan: &mut Plan) {
        assert_eq!(
            plan.counts.dropped_plans.load(Ordering::Relaxed) & plan.bit,
            0,
            "after its end"
        );
        let before = plan.executions.load(Ordering::Relaxed);
        plan.executions.store(before + 1, Ordering::Relaxed);
    }

    /// What a transform does the long way; the first `failures` plans cannot be made.
    fn transform(
        cache: &Cache<Plan>,
        key: &Key,
        counts: &Shared<Counts>,
        failures: usize,
    ) -> Result<Shared<Slot<Plan>>> {
        loop {
            let (slot, left) = cache.find(key);
            drop(left);
            let held = Slot::hold(&slot, || {
                let tried = counts.tried.fetch_add(1, Ordering::Relaxed);
                if tried < failures {
                    return Err(Error::invalid_state("on purpose"));
                }
                counts.made.fetch_add(1, Ordering::Relaxed);
                let plan = Plan {
                    counts: counts.clone(),
                    bit: 1 << tried,
                    executions: AtomicUsize::new(0),
                };
                Ok((plan, 2, COST))
            });
            match held {
                Ok(None) => {}
                Ok(Some((held, cost))) => {
                    if let Some(cost) = cost {
                        drop(cache.made(key, &slot, cost));
                    }
                    assert_eq!(slot.workspace(), 2);
                    held.with(|plan| {
                        execute(plan);
                        Ok(())
                    })?;
                    return Ok(slot);
                }
                Err(error) => {
                    cache.failed(key, &slot);
                    return Err(error);
                }
            }
        }
    }

    fn bounded() -> loom::model::Builder {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model
    }

    fn checked(failures: usize, change: fn(&Cache<Plan>) -> Left<'_, Plan>) {
        bounded().check(move || {
            let (cache, counts) = (Shared::new(Cache::new(4)), Shared::new(Counts::default()));
            let threads = [(); 2].map(|()| {
                let (cache, counts) = (cache.clone(), counts.clone());
                thread::spawn(move || transform(&cache, &key(8), &counts, failures).is_ok())
            });
            drop(change(&cache));
            let succeeded = threads.map(|thread| thread.join().unwrap());
            let (stats, made) = (cache.stats(), counts.made.load(Ordering::Relaxed));
            // What is kept has been made, and is counted once.
            assert!(stats.hits + stats.misses >= 2);
            assert_eq!(stats.plan_bytes, stats.size * COST.plan);
            assert_eq!(stats.workspace_bytes, stats.size * COST.workspace);
            assert!(stats.size <= 1 && made <= stats.misses as usize);
            if failures == 0 {
                assert_eq!(succeeded, [true; 2]);
                assert_eq!(made, stats.misses as usize);
            }
            assert_eq!(counts.dropped(), made - stats.size as usize);
            drop(cache.clear());
            assert_eq!(counts.dropped(), made);
            assert_eq!((cache.stats().plan_bytes, cache.stats().size), (0, 0));
        });
    }

    /// A thread that uses a place again, while another changes the cache.
    fn used_again(change: fn(&Cache<Plan>) -> Left<'_, Plan>) {
        bounded().check(move || {
            let (cache, counts) = (Shared::new(Cache::new(4)), Shared::new(Counts::default()));
            let slot = transform(&cache, &key(8), &counts, 0).unwrap();
            let thread = {
                let (cache, counts) = (cache.clone(), counts.clone());
                thread::spawn(move || {
                    let again = slot.again(execute).is_some();
                    if !again {
                        drop(transform(&cache, &key(8), &counts, 0).unwrap());
                    }
                    (again, slot)
                })
            };
            drop(change(&cache));
            let (again, slot) = thread.join().unwrap();
            let (stats, made) = (cache.stats(), counts.made.load(Ordering::Relaxed));
            assert_eq!((stats.hits, stats.misses), (u64::from(again), made as u64));
            assert_eq!(counts.dropped(), made - stats.size as usize);
            // The place is kept by the thread; its plan is not.
            drop(cache.clear());
            assert_eq!(counts.dropped(), made);
            assert!(slot.again(execute).is_none());
            assert_eq!(cache.stats().hits, stats.hits);
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
        checked(1, |cache| cache.take_oldest(0));
        checked(1, |cache| cache.take_oldest(1));
    }

    #[test]
    fn a_place_that_is_used_again_without_the_cache_is_used_or_has_left() {
        used_again(Cache::clear);
        used_again(|cache| cache.set_most(0));
        used_again(|cache| cache.take_oldest(1));
    }
}
