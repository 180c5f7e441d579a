//! Models of a plan cache and its entries: threads that make, find, use and remove plans at once.

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::sync::Shared;
use sconce_driver::{FftKind, FftLayout, FftShape};

use super::cached_plan::CachedPlan;
use super::plan_cache::{PlanCache, RemovedPlans};
use super::plan_cost::PlanCost;
use super::route::FftKey;

fn key(n: i64) -> FftKey {
    let sizes = [n, 1, 1];
    let layout = FftLayout { embed: sizes, stride: 1, distance: n };
    FftKey(FftShape {
        kind: FftKind::C2C,
        element: Dtype::F32,
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

/// A plan that must be executed by one thread at a time and dropped once.
struct ModelPlan {
    counts: Shared<Counts>,
    bit: usize,
    executions: AtomicUsize,
}

impl Drop for ModelPlan {
    fn drop(&mut self) {
        let before = self.counts.dropped_plans.fetch_or(self.bit, Ordering::Relaxed);
        assert_eq!(before & self.bit, 0, "dropped twice");
    }
}

const COST: PlanCost = PlanCost { plan: 5, workspace: 2 };

/// Not atomic: two at once would lose one.
fn execute(plan: &mut ModelPlan) {
    assert_eq!(plan.counts.dropped_plans.load(Ordering::Relaxed) & plan.bit, 0, "after its end");
    let before = plan.executions.load(Ordering::Relaxed);
    plan.executions.store(before + 1, Ordering::Relaxed);
}

/// A transform that is not known to its thread; the first `failures` plans cannot be made.
fn transform(
    cache: &PlanCache<ModelPlan>,
    key: &FftKey,
    counts: &Shared<Counts>,
    failures: usize,
) -> Result<Shared<CachedPlan<ModelPlan>>> {
    loop {
        let (entry, evicted) = cache.find_or_insert(key);
        drop(evicted);
        let held = CachedPlan::hold(&entry, || {
            let tried = counts.tried.fetch_add(1, Ordering::Relaxed);
            if tried < failures {
                return Err(Error::invalid_state("on purpose"));
            }
            counts.made.fetch_add(1, Ordering::Relaxed);
            let plan = ModelPlan {
                counts: counts.clone(),
                bit: 1 << tried,
                executions: AtomicUsize::new(0),
            };
            Ok((plan, 2, COST))
        });
        match held {
            Ok(None) => {}
            Ok(Some((hold, cost))) => {
                if let Some(cost) = cost {
                    drop(cache.record_cost(key, &entry, cost, PlanCost::default()));
                }
                assert_eq!(entry.workspace(), 2);
                hold.execute(|plan| {
                    execute(plan);
                    Ok(())
                })?;
                return Ok(entry);
            }
            Err(error) => {
                cache.remove_failed(key, &entry);
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

fn checked(failures: usize, change: fn(&PlanCache<ModelPlan>) -> RemovedPlans<'_, ModelPlan>) {
    bounded().check(move || {
        let (cache, counts) = (Shared::new(PlanCache::new(4)), Shared::new(Counts::default()));
        let threads = [(); 2].map(|()| {
            let (cache, counts) = (cache.clone(), counts.clone());
            thread::spawn(move || transform(&cache, &key(8), &counts, failures).is_ok())
        });
        drop(change(&cache));
        let succeeded = threads.map(|thread| thread.join().unwrap());
        let (stats, made) = (cache.stats(), counts.made.load(Ordering::Relaxed));
        // What is kept has been made, and is counted once.
        assert!(stats.hits + stats.misses <= 2);
        assert_eq!(stats.plan_bytes, stats.size * COST.plan);
        assert_eq!(stats.workspace_bytes, stats.size * COST.workspace);
        assert!(stats.size <= 1 && made <= stats.misses as usize);
        if failures == 0 {
            assert_eq!(succeeded, [true; 2]);
            assert_eq!((stats.hits + stats.misses, made), (2, stats.misses as usize));
        }
        assert_eq!(counts.dropped(), made - stats.size as usize);
        drop(cache.clear());
        assert_eq!(counts.dropped(), made);
        assert_eq!((cache.stats().plan_bytes, cache.stats().size), (0, 0));
    });
}

/// A thread that uses an entry without the cache while another changes the cache.
fn used_again(change: fn(&PlanCache<ModelPlan>) -> RemovedPlans<'_, ModelPlan>) {
    bounded().check(move || {
        let (cache, counts) = (Shared::new(PlanCache::new(4)), Shared::new(Counts::default()));
        let entry = transform(&cache, &key(8), &counts, 0).unwrap();
        let thread = {
            let (cache, counts) = (cache.clone(), counts.clone());
            thread::spawn(move || {
                let again = entry.execute_if_cached(execute).is_some();
                if !again {
                    drop(transform(&cache, &key(8), &counts, 0).unwrap());
                }
                (again, entry)
            })
        };
        drop(change(&cache));
        let (again, entry) = thread.join().unwrap();
        let (stats, made) = (cache.stats(), counts.made.load(Ordering::Relaxed));
        assert_eq!((stats.hits, stats.misses), (u64::from(again), made as u64));
        assert_eq!(counts.dropped(), made - stats.size as usize);
        // The thread keeps the entry, but not its plan.
        drop(cache.clear());
        assert_eq!(counts.dropped(), made);
        assert!(entry.execute_if_cached(execute).is_none());
        assert_eq!(cache.stats().hits, stats.hits);
    });
}

#[test]
fn one_makes_it_and_a_cache_that_is_emptied_meanwhile_drops_it_once() {
    checked(0, PlanCache::clear);
}

#[test]
fn a_limit_that_is_set_meanwhile_holds() {
    checked(0, |cache| cache.set_max_bytes(6, PlanCost::default()));
    checked(0, |cache| cache.set_max_size(0));
}

#[test]
fn a_plan_that_cannot_be_made_leaves_no_entry() {
    checked(1, |cache| cache.evict_oldest(0));
    checked(1, |cache| cache.evict_oldest(1));
}

#[test]
fn an_entry_that_is_used_without_the_cache_is_used_or_retired() {
    used_again(PlanCache::clear);
    used_again(|cache| cache.set_max_size(0));
    used_again(|cache| cache.evict_oldest(1));
}
