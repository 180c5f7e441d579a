//! An entry of the plan cache: made by the first thread that needs it, executed by one thread at a time.
//!
//! A thread that found the entry through the cache *holds* the plan ([`PlanHold`]) until it has executed
//! it, so that the plan stays even if the entry is evicted meanwhile. An entry that has left the cache is
//! *retired*: its plan is destroyed when the last hold ends. The descriptor memos of threads refer to
//! entries, not to plans: [`CachedPlan::execute_if_cached`] finds nothing in a retired entry.

use std::mem;

use sconce_base::collections::lru::{Age, UseClock};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::rank;
use sconce_base::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, Shared};

/// A plan with its place in the order of uses, its hits and its lock.
pub(super) struct CachedPlan<P> {
    /// The workspace that the plan needs; 0 until the plan is made.
    workspace: AtomicUsize,
    /// How many transforms found the plan. Written with the state locked.
    hits: AtomicU64,
    /// The hits that the cache has added to its own count. Written with the cache locked.
    reported_hits: AtomicU64,
    age: Age,
    clock: UseClock,
    /// Held by the thread that makes the plan, without the state: it may empty caches and evict other plans.
    making: Mutex<rank::FftMaking, ()>,
    state: Mutex<rank::FftPlan, PlanState<P>>,
}

struct PlanState<P> {
    content: PlanContent<P>,
    /// How many [`PlanHold`]s there are.
    holds: usize,
    /// The entry has left the cache, or was never in it.
    retired: bool,
}

enum PlanContent<P> {
    /// Not made yet, or destroyed; in the second case the entry is retired.
    None,
    Plan(P),
    /// Why the plan could not be made. The entry is about to be removed from the cache.
    Failed(Error),
}

impl<P> PlanState<P> {
    /// Takes the plan out of a retired entry without holds, to be dropped with nothing locked.
    fn take_unused(&mut self) -> Option<P> {
        if !self.retired || self.holds > 0 {
            return None;
        }
        match mem::replace(&mut self.content, PlanContent::None) {
            PlanContent::Plan(plan) => Some(plan),
            PlanContent::None | PlanContent::Failed(_) => None,
        }
    }
}

/// Keeps an entry's plan from being destroyed.
pub(super) struct PlanHold<P>(Shared<CachedPlan<P>>);

impl<P> CachedPlan<P> {
    pub(super) fn new(clock: &UseClock) -> CachedPlan<P> {
        CachedPlan {
            workspace: AtomicUsize::new(0),
            hits: AtomicU64::new(0),
            reported_hits: AtomicU64::new(0),
            age: Age::default(),
            clock: clock.clone(),
            making: Mutex::new(()),
            state: Mutex::new(PlanState { content: PlanContent::None, holds: 0, retired: false }),
        }
    }

    /// The time of the last use.
    pub(super) fn age(&self) -> &Age {
        &self.age
    }

    /// The workspace that the plan needs; 0 until the plan is made.
    #[inline]
    pub(super) fn workspace(&self) -> usize {
        self.workspace.load(Ordering::Relaxed)
    }

    fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// The hits that the cache has not added to its own count. The cache is locked.
    pub(super) fn unreported_hits(&self) -> u64 {
        self.hits() - self.reported_hits.load(Ordering::Relaxed)
    }

    /// Returns the unreported hits, which are reported from now on. The cache is locked.
    pub(super) fn report_hits(&self) -> u64 {
        let hits = self.hits();
        hits - self.reported_hits.swap(hits, Ordering::Relaxed)
    }

    /// Holds the plan. Returns `None` if the entry is retired. The first thread makes the plan by `make`,
    /// which returns it with its workspace and a value. This function returns the value to that thread, and
    /// `None` to all others. If `make` fails, every thread that waited for it gets its error.
    pub(super) fn hold<T>(
        entry: &Shared<CachedPlan<P>>,
        make: impl FnOnce() -> Result<(P, usize, T)>,
    ) -> Result<Option<(PlanHold<P>, Option<T>)>> {
        if let Some(held) = CachedPlan::hold_made(entry) {
            return held.map(|hold| hold.map(|hold| (hold, None)));
        }
        let _making = entry.making.lock();
        // Another thread may have made it meanwhile.
        if let Some(held) = CachedPlan::hold_made(entry) {
            return held.map(|hold| hold.map(|hold| (hold, None)));
        }
        let made = make();
        let mut state = entry.state.lock();
        let (plan, workspace, value) = match made {
            Ok(made) => made,
            Err(error) => {
                state.content = PlanContent::Failed(error.clone());
                return Err(error);
            }
        };
        state.content = PlanContent::Plan(plan);
        entry.workspace.store(workspace, Ordering::Relaxed);
        state.holds += 1;
        Ok(Some((PlanHold(entry.clone()), Some(value))))
    }

    /// [`CachedPlan::hold`] for a plan that was made, or could not be; `None` for another one.
    fn hold_made(entry: &Shared<CachedPlan<P>>) -> Option<Result<Option<PlanHold<P>>>> {
        let mut state = entry.state.lock();
        if state.retired {
            return Some(Ok(None));
        }
        match &state.content {
            PlanContent::Plan(_) => entry.count_hit(),
            PlanContent::Failed(error) => return Some(Err(error.clone())),
            PlanContent::None => return None,
        }
        state.holds += 1;
        Some(Ok(Some(PlanHold(entry.clone()))))
    }

    /// Uses the plan exclusively, without a look-up in the cache. Returns `None` if the entry is retired.
    #[inline(always)]
    pub(super) fn execute_if_cached<R>(&self, action: impl FnOnce(&mut P) -> R) -> Option<R> {
        let mut state = self.state.lock();
        if state.retired {
            return None;
        }
        let PlanContent::Plan(plan) = &mut state.content else { return None };
        self.clock.note_use(&self.age);
        self.count_hit();
        Some(action(plan))
    }

    /// Counts a hit. The state is locked and the entry is not retired: the hits of a retired entry stay as
    /// they are, so that the cache's count is final.
    #[inline(always)]
    fn count_hit(&self) {
        self.hits.store(self.hits() + 1, Ordering::Relaxed);
    }

    /// Marks the entry as no longer in the cache. Returns its plan if it is not held, to be dropped with
    /// nothing locked.
    #[must_use]
    pub(super) fn retire(&self) -> Option<P> {
        let mut state = self.state.lock();
        state.retired = true;
        state.take_unused()
    }
}

impl<P> PlanHold<P> {
    /// The entry.
    pub(super) fn entry(&self) -> &Shared<CachedPlan<P>> {
        &self.0
    }

    /// Uses the plan exclusively.
    pub(super) fn execute<R>(&self, action: impl FnOnce(&mut P) -> Result<R>) -> Result<R> {
        match &mut self.0.state.lock().content {
            PlanContent::Plan(plan) => action(plan),
            _ => Err(Error::new(Status::Internal, "a plan was destroyed although it was held")),
        }
    }
}

impl<P> Drop for PlanHold<P> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.holds -= 1;
        let plan = state.take_unused();
        drop(state);
        drop(plan);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use sconce_base::collections::lru::{Aged, Lru};

    use super::*;

    struct Nothing;

    impl Aged for Nothing {
        fn age(&self) -> &Age {
            unreachable!("nothing is put in")
        }
    }

    fn entry<P>() -> Shared<CachedPlan<P>> {
        Shared::new(CachedPlan::new(Lru::<u8, Nothing>::new(1, 1).clock()))
    }

    #[test]
    fn the_first_makes_the_plan_and_others_find_it() {
        let entry = entry();
        assert!(entry.execute_if_cached(|_| ()).is_none());
        let (first, made) = CachedPlan::hold(&entry, || Ok(("plan", 7, "bytes"))).unwrap().unwrap();
        assert_eq!((made, entry.workspace()), (Some("bytes"), 7));
        let (second, made) =
            CachedPlan::hold::<&str>(&entry, || panic!("made twice")).unwrap().unwrap();
        assert_eq!(made, None);
        let plans = [first, second].map(|hold| hold.execute(|plan| Ok(*plan)));
        assert_eq!(plans, [Ok("plan"), Ok("plan")]);
        assert_eq!((entry.execute_if_cached(|plan| *plan), entry.hits()), (Some("plan"), 2));
    }

    #[test]
    fn every_waiting_thread_gets_the_error() {
        let entry = entry::<()>();
        let failure = Error::invalid_state("on purpose");
        let failed = CachedPlan::hold::<()>(&entry, || Err(failure.clone()));
        assert_eq!(failed.err(), Some(failure.clone()));
        let failed = CachedPlan::hold::<()>(&entry, || panic!("made again"));
        assert_eq!(failed.err(), Some(failure));
        assert!(entry.execute_if_cached(|()| ()).is_none());
        assert!(entry.retire().is_none());
    }

    #[test]
    fn a_retired_plan_is_destroyed_with_its_last_hold() {
        let alive = Arc::new(());
        let entry = entry();
        let first = CachedPlan::hold(&entry, || Ok((alive.clone(), 0, ()))).unwrap().unwrap().0;
        let second = CachedPlan::hold::<()>(&entry, || panic!("made twice")).unwrap().unwrap().0;
        assert!(entry.retire().is_none());
        assert!(entry.execute_if_cached(|_| ()).is_none(), "it is not the cache's any more");
        drop(first);
        assert_eq!(Arc::strong_count(&alive), 2);
        assert_eq!(second.execute(|_| Ok(())), Ok(()));
        drop(second);
        assert_eq!(Arc::strong_count(&alive), 1);
        assert!(CachedPlan::hold::<()>(&entry, || panic!("made again")).unwrap().is_none());
        assert!(entry.retire().is_none());
    }

    #[test]
    fn a_plan_without_holds_goes_when_its_entry_is_retired() {
        let entry = entry();
        drop(CachedPlan::hold(&entry, || Ok(("plan", 0, ()))).unwrap());
        assert_eq!(entry.execute_if_cached(|plan| *plan), Some("plan"));
        assert_eq!(entry.retire(), Some("plan"));
        assert!(entry.execute_if_cached(|_| ()).is_none());
    }
}
