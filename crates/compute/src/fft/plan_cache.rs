//! The plan cache of a device: a least-recently-used map with limits in plans and in bytes, and figures.
//!
//! All functions take one short lock. Transforms that a thread repeats do not take it
//! ([`CachedPlan::execute_if_cached`]): the map sees their uses when an entry has to leave, and their hits
//! are summed up when a caller reads the figures. Entries that leave are returned to the caller, which
//! drops them without the lock, since dropping one may destroy a plan.

use sconce_base::collections::lru::{Age, Aged, Lru};
use sconce_base::lock::rank;
use sconce_base::sync::{Mutex, Shared};

use super::CacheStats;
use super::cached_plan::CachedPlan;
use super::plan_cost::PlanCost;
use super::route::FftKey;

/// The value of `max_bytes` that means no limit.
pub(super) const UNLIMITED: u64 = i64::MAX as u64;

impl PlanCost {
    /// The sum of both parts, at most [`UNLIMITED`].
    pub(super) fn sum(self) -> u64 {
        self.plan.saturating_add(self.workspace).min(UNLIMITED)
    }
}

/// A value of the map.
struct PlanMapEntry<P> {
    entry: Shared<CachedPlan<P>>,
    /// `None` until the plan is made. An entry that leaves before is retired by the thread that makes the
    /// plan: to retire it at once would wait for that thread.
    cost: Option<PlanCost>,
}

impl<P> Aged for PlanMapEntry<P> {
    #[inline]
    fn age(&self) -> &Age {
        self.entry.age()
    }
}

/// Entries that have left the map. They are retired when this is dropped, which must be with nothing
/// locked.
#[must_use]
pub(super) struct RemovedPlans<'a, P> {
    cache: &'a PlanCache<P>,
    entries: Vec<Shared<CachedPlan<P>>>,
    /// How many left the map, those included whose plan is still being made.
    pub(super) count: usize,
}

impl<P> Drop for RemovedPlans<'_, P> {
    fn drop(&mut self) {
        for entry in self.entries.drain(..) {
            let plan = entry.retire();
            // Threads may have used the entry between its removal and its retirement.
            let mut inner = self.cache.inner.lock();
            inner.hits += entry.report_hits();
            drop(inner);
            drop(plan);
        }
    }
}

/// The plan cache of a device.
pub(super) struct PlanCache<P> {
    inner: Mutex<rank::FftCache, CacheInner<P>>,
}

struct CacheInner<P> {
    map: Lru<FftKey, PlanMapEntry<P>>,
    /// The sums of all costs.
    cost: PlanCost,
    /// The limit in bytes, of the map and of plans outside of it together.
    max_bytes: u64,
    /// The hits that entries have reported.
    hits: u64,
    /// The hits before figures were last reset.
    hits_at_reset: u64,
    misses: u64,
    evictions: u64,
}

impl<P> CacheInner<P> {
    /// Leaves the map what plans outside of it leave of the limit. Returns what has to go.
    fn bound(&mut self, outside: PlanCost) -> Vec<PlanMapEntry<P>> {
        match self.max_bytes {
            UNLIMITED => self.map.set_most_cost(UNLIMITED),
            limit => self.map.set_most_cost(limit.saturating_sub(outside.sum())),
        }
    }

    /// All hits since the cache was made.
    fn all_hits(&self) -> u64 {
        self.hits + self.map.values().map(|value| value.entry.unreported_hits()).sum::<u64>()
    }
}

impl<P> PlanCache<P> {
    pub(super) fn new(max_size: usize) -> PlanCache<P> {
        PlanCache {
            inner: Mutex::new(CacheInner {
                map: Lru::new(max_size, UNLIMITED),
                cost: PlanCost::default(),
                max_bytes: UNLIMITED,
                hits: 0,
                hits_at_reset: 0,
                misses: 0,
                evictions: 0,
            }),
        }
    }

    /// Takes entries that have left the map out of the sums.
    fn removed(
        &self,
        inner: &mut CacheInner<P>,
        left: Vec<PlanMapEntry<P>>,
    ) -> RemovedPlans<'_, P> {
        let count = left.len();
        let mut entries = Vec::with_capacity(count);
        for PlanMapEntry { entry, cost } in left {
            inner.hits += entry.report_hits();
            if let Some(cost) = cost {
                inner.cost.plan -= cost.plan;
                inner.cost.workspace -= cost.workspace;
                entries.push(entry);
            }
        }
        RemovedPlans { cache: self, entries, count }
    }

    /// [`PlanCache::removed`] for entries that left because of a limit or for want of memory.
    fn evicted(
        &self,
        inner: &mut CacheInner<P>,
        left: Vec<PlanMapEntry<P>>,
    ) -> RemovedPlans<'_, P> {
        inner.evictions += left.len() as u64;
        self.removed(inner, left)
    }

    /// Returns the entry of a key, which becomes the most recently used, and the entries that were evicted
    /// for a new one.
    pub(super) fn find_or_insert(
        &self,
        key: &FftKey,
    ) -> (Shared<CachedPlan<P>>, RemovedPlans<'_, P>) {
        let mut inner = self.inner.lock();
        if let Some(found) = inner.map.get(key) {
            let entry = found.entry.clone();
            return (entry, self.removed(&mut inner, Vec::new()));
        }
        inner.misses += 1;
        let entry = Shared::new(CachedPlan::new(inner.map.clock()));
        // With `max_size` 0 nothing is inserted, so that nothing counts as evicted.
        let left = if inner.map.most() > 0 {
            inner.map.insert(*key, PlanMapEntry { entry: entry.clone(), cost: None }, 0)
        } else {
            Vec::new()
        };
        let evicted = self.evicted(&mut inner, left);
        (entry, evicted)
    }

    /// Records the cost of a new plan. Returns the entries that are evicted for it, and the plan's own
    /// entry if that is not in the map (any more). `outside`: plans that have left the map and that graphs keep.
    pub(super) fn record_cost(
        &self,
        key: &FftKey,
        entry: &Shared<CachedPlan<P>>,
        cost: PlanCost,
        outside: PlanCost,
    ) -> RemovedPlans<'_, P> {
        let mut inner = self.inner.lock();
        match inner.map.peek(key) {
            Some(found) if Shared::ptr_eq(&found.entry, entry) => found.cost = Some(cost),
            // Another thread may have inserted the key again.
            _ => return RemovedPlans { cache: self, entries: vec![entry.clone()], count: 0 },
        }
        inner.cost.plan += cost.plan;
        inner.cost.workspace += cost.workspace;
        let mut left = inner.bound(outside);
        left.append(&mut inner.map.set_cost(key, cost.sum()));
        self.evicted(&mut inner, left)
    }

    /// Removes an entry whose plan could not be made.
    pub(super) fn remove_failed(&self, key: &FftKey, entry: &Shared<CachedPlan<P>>) {
        let mut inner = self.inner.lock();
        if inner.map.peek(key).is_some_and(|found| Shared::ptr_eq(&found.entry, entry)) {
            inner.map.remove(key);
        }
    }

    /// Evicts up to `count` entries, the least recently used first.
    pub(super) fn evict_oldest(&self, count: usize) -> RemovedPlans<'_, P> {
        let mut inner = self.inner.lock();
        let left: Vec<PlanMapEntry<P>> =
            std::iter::from_fn(|| inner.map.pop_oldest()).take(count).collect();
        self.evicted(&mut inner, left)
    }

    pub(super) fn set_max_size(&self, max_size: usize) -> RemovedPlans<'_, P> {
        let mut inner = self.inner.lock();
        let left = inner.map.set_most(max_size);
        self.evicted(&mut inner, left)
    }

    pub(super) fn set_max_bytes(&self, max_bytes: u64, outside: PlanCost) -> RemovedPlans<'_, P> {
        let mut inner = self.inner.lock();
        inner.max_bytes = max_bytes;
        let left = inner.bound(outside);
        self.evicted(&mut inner, left)
    }

    /// Removes all entries, which does not count as evicting them.
    pub(super) fn clear(&self) -> RemovedPlans<'_, P> {
        let mut inner = self.inner.lock();
        let left = inner.map.clear();
        self.removed(&mut inner, left)
    }

    /// The number of entries, and its limit.
    pub(super) fn size(&self) -> (usize, usize) {
        let inner = self.inner.lock();
        (inner.map.len(), inner.map.most())
    }

    /// The limit in bytes.
    pub(super) fn max_bytes(&self) -> u64 {
        self.inner.lock().max_bytes
    }

    /// All figures. Visits each entry.
    pub(super) fn stats(&self) -> CacheStats {
        let inner = self.inner.lock();
        CacheStats {
            size: inner.map.len() as u64,
            max_size: inner.map.most() as u64,
            plan_bytes: inner.cost.plan,
            workspace_bytes: inner.cost.workspace,
            max_bytes: inner.max_bytes,
            hits: inner.all_hits() - inner.hits_at_reset,
            misses: inner.misses,
            evictions: inner.evictions,
        }
    }

    /// Sets hits, misses and evictions to 0.
    pub(super) fn reset_stats(&self) {
        let mut inner = self.inner.lock();
        inner.hits_at_reset = inner.all_hits();
        (inner.misses, inner.evictions) = (0, 0);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_driver::{FftKind, FftLayout, FftShape};

    use super::*;

    #[test]
    fn hits_of_an_entry_that_leaves_while_its_plan_is_made_are_counted() {
        let layout = FftLayout { embed: [8, 1, 1], stride: 1, distance: 8 };
        let key = FftKey(FftShape {
            kind: FftKind::C2C,
            element: Dtype::F32,
            rank: 1,
            sizes: [8, 1, 1],
            batch: 1,
            input: layout,
            output: layout,
        });
        let cache = PlanCache::new(4);
        let (entry, evicted) = cache.find_or_insert(&key);
        drop(evicted);
        let hold = CachedPlan::hold(&entry, || Ok(("plan", 0, ()))).unwrap().unwrap().0;
        // Another thread finds it before its maker has recorded its cost.
        assert!(entry.execute_if_cached(|_| ()).is_some());
        assert_eq!(cache.stats().hits, 1);
        drop(cache.clear());
        assert_eq!(cache.stats().hits, 1);
        assert!(entry.execute_if_cached(|_| ()).is_some());
        drop(cache.record_cost(&key, &entry, PlanCost::default(), PlanCost::default()));
        assert_eq!((cache.stats().hits, cache.stats().misses), (2, 1));
        assert!(entry.execute_if_cached(|_| ()).is_none());
        drop(hold);
        assert_eq!((cache.stats().hits, cache.stats().size), (2, 0));
    }
}
