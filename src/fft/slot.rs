//! The place of a plan: the first that needs it makes it, the others wait for that one only, and one
//! at a time executes it.
//!
//! Whoever comes by the cache holds the plan ([`Held`]) from when it is made or found until it has been
//! executed, so that it stays, also when its place leaves the cache meanwhile. A place that has left is
//! *retired*: its plan goes with the last that holds it. Threads may keep places that they used
//! ([`Slot::again`]); that keeps no plan.

use std::mem;

use crate::error::{Error, Result, Status};
use crate::lru::{Age, Clock};
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, Shared};

/// See the module.
pub(super) struct Slot<P> {
    /// The workspace of the plan, once it is made.
    workspace: AtomicUsize,
    /// How often the plan was found. Written with the state locked.
    hits: AtomicU64,
    /// How many of those the cache has counted as its own. Written with the cache locked.
    told: AtomicU64,
    age: Age,
    clock: Clock,
    state: Mutex<State<P>>,
}

struct State<P> {
    plan: Made<P>,
    /// How many hold the plan.
    holders: usize,
    /// The place has left the cache, or was never in it.
    retired: bool,
}

enum Made<P> {
    /// Or it has gone with its last holder; then the place is retired.
    NotYet,
    Plan(P),
    /// Why it could not be made. The place is on its way out of the cache, and of no use.
    Failed(Error),
}

impl<P> State<P> {
    /// Takes the plan out if nobody needs it any more; it is to be dropped with nothing locked.
    fn leave(&mut self) -> Option<P> {
        if !self.retired || self.holders > 0 {
            return None;
        }
        match mem::replace(&mut self.plan, Made::NotYet) {
            Made::Plan(plan) => Some(plan),
            Made::NotYet | Made::Failed(_) => None,
        }
    }
}

/// A place's plan, which stays while this is held.
pub(super) struct Held<P>(Shared<Slot<P>>);

impl<P> Slot<P> {
    pub(super) fn new(clock: &Clock) -> Slot<P> {
        Slot {
            workspace: AtomicUsize::new(0),
            hits: AtomicU64::new(0),
            told: AtomicU64::new(0),
            age: Age::default(),
            clock: clock.clone(),
            state: Mutex::new(State { plan: Made::NotYet, holders: 0, retired: false }),
        }
    }

    /// When it was last used.
    pub(super) fn age(&self) -> &Age {
        &self.age
    }

    /// The workspace that the plan needs; 0 before it is made.
    #[inline]
    pub(super) fn workspace(&self) -> usize {
        self.workspace.load(Ordering::Relaxed)
    }

    /// How often the plan was found.
    fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// How many of those the cache has not counted as its own. The cache is locked.
    pub(super) fn untold_hits(&self) -> u64 {
        self.hits() - self.told.load(Ordering::Relaxed)
    }

    /// Gives them to the cache, which is locked.
    pub(super) fn tell_hits(&self) -> u64 {
        let hits = self.hits();
        hits - self.told.swap(hits, Ordering::Relaxed)
    }

    /// Holds the plan, which is made if it was not; `None` where the place has left the cache. `make`
    /// gives it with its workspace and what the caller is to learn, `None` if it was there; a failure is
    /// everybody's who has this place.
    pub(super) fn hold<T>(
        slot: &Shared<Slot<P>>,
        make: impl FnOnce() -> Result<(P, usize, T)>,
    ) -> Result<Option<(Held<P>, Option<T>)>> {
        let mut state = slot.state.lock();
        if state.retired {
            return Ok(None);
        }
        let mut news = None;
        match &state.plan {
            Made::Plan(_) => slot.count_hit(),
            Made::Failed(error) => return Err(error.clone()),
            Made::NotYet => match make() {
                Ok((plan, workspace, learnt)) => {
                    state.plan = Made::Plan(plan);
                    slot.workspace.store(workspace, Ordering::Relaxed);
                    news = Some(learnt);
                }
                Err(error) => {
                    state.plan = Made::Failed(error.clone());
                    return Err(error);
                }
            },
        }
        state.holders += 1;
        Ok(Some((Held(slot.clone()), news)))
    }

    /// Uses the plan alone, without a way through the cache; `None` if it has left that.
    #[inline(always)]
    pub(super) fn again<R>(&self, action: impl FnOnce(&mut P) -> R) -> Option<R> {
        let mut state = self.state.lock();
        if state.retired {
            return None;
        }
        let Made::Plan(plan) = &mut state.plan else { return None };
        self.clock.note_use(&self.age);
        self.count_hit();
        Some(action(plan))
    }

    /// Counts that the plan was found. The state is locked, and the place is not retired: nothing is
    /// counted any more once it is.
    #[inline(always)]
    fn count_hit(&self) {
        self.hits.store(self.hits() + 1, Ordering::Relaxed);
    }

    /// The place has left the cache. Gives its plan, unless somebody holds it, to be dropped with
    /// nothing locked.
    #[must_use]
    pub(super) fn retire(&self) -> Option<P> {
        let mut state = self.state.lock();
        state.retired = true;
        state.leave()
    }
}

impl<P> Held<P> {
    /// The place.
    pub(super) fn slot(&self) -> &Shared<Slot<P>> {
        &self.0
    }

    /// Uses the plan, alone.
    pub(super) fn with<R>(&self, action: impl FnOnce(&mut P) -> Result<R>) -> Result<R> {
        match &mut self.0.state.lock().plan {
            Made::Plan(plan) => action(plan),
            _ => Err(Error::new(Status::Internal, "a plan that is held has gone")),
        }
    }
}

impl<P> Drop for Held<P> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.holders -= 1;
        let plan = state.leave();
        drop(state);
        drop(plan);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::lru::{Aged, Lru};
    use std::sync::Arc;

    impl Aged for () {
        fn age(&self) -> &Age {
            unreachable!("nothing is put in")
        }
    }

    fn slot<P>() -> Shared<Slot<P>> {
        Shared::new(Slot::new(Lru::<u8, ()>::new(1, 1).clock()))
    }

    #[test]
    fn the_first_makes_it_and_others_find_it() {
        let slot = slot();
        assert!(slot.again(|_| ()).is_none());
        let (first, news) = Slot::hold(&slot, || Ok(("plan", 7, "bytes"))).unwrap().unwrap();
        assert_eq!((news, slot.workspace()), (Some("bytes"), 7));
        let (second, news) = Slot::hold::<&str>(&slot, || panic!("made twice")).unwrap().unwrap();
        assert_eq!(news, None);
        assert_eq!(
            (first.with(|plan| Ok(*plan)), second.with(|plan| Ok(*plan))),
            (Ok("plan"), Ok("plan"))
        );
        assert_eq!((slot.again(|plan| *plan), slot.hits()), (Some("plan"), 2));
    }

    #[test]
    fn a_failure_is_everybodys() {
        let slot = slot::<()>();
        let failure = Error::invalid_state("on purpose");
        assert_eq!(Slot::hold::<()>(&slot, || Err(failure.clone())).err(), Some(failure.clone()));
        assert_eq!(Slot::hold::<()>(&slot, || panic!("made again")).err(), Some(failure));
        assert!(slot.again(|()| ()).is_none());
        assert!(slot.retire().is_none());
    }

    #[test]
    fn a_retired_plan_goes_with_its_last_holder() {
        let alive = Arc::new(());
        let slot = slot();
        let first = Slot::hold(&slot, || Ok((alive.clone(), 0, ()))).unwrap().unwrap().0;
        let second = Slot::hold::<()>(&slot, || panic!("made twice")).unwrap().unwrap().0;
        assert!(slot.retire().is_none());
        assert!(slot.again(|_| ()).is_none(), "it is not the cache's any more");
        drop(first);
        assert_eq!(Arc::strong_count(&alive), 2);
        assert_eq!(second.with(|_| Ok(())), Ok(()));
        drop(second);
        assert_eq!(Arc::strong_count(&alive), 1);
        assert!(Slot::hold::<()>(&slot, || panic!("made again")).unwrap().is_none());
        assert!(slot.retire().is_none());
    }

    #[test]
    fn a_plan_that_nobody_holds_goes_when_its_place_is_retired() {
        let slot = slot();
        drop(Slot::hold(&slot, || Ok(("plan", 0, ()))).unwrap());
        assert_eq!(slot.again(|plan| *plan), Some("plan"));
        assert_eq!(slot.retire(), Some("plan"));
        assert!(slot.again(|_| ()).is_none());
    }
}
