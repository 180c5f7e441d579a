//! The place of a plan: the first that needs it makes it, the others wait for that one only, and one
//! at a time executes it.
//!
//! A place is found with the cache's lock held and used without. Whoever holds it keeps its plan
//! alive, also when the cache has let it go; the last one drops the plan, with no lock held.

#[cfg(loom)]
pub(super) use loom::sync::Arc;
#[cfg(not(loom))]
pub(super) use std::sync::Arc;

use crate::error::{Error, Result};
use crate::sync::{AtomicUsize, Mutex, Ordering};

/// See the module.
pub(super) struct Slot<P> {
    /// No other slot has or had it.
    id: u64,
    /// The workspace of the plan; [`NOT_MADE`] before.
    workspace: AtomicUsize,
    state: Mutex<State<P>>,
}

enum State<P> {
    Empty,
    Made(P),
    /// Why it could not be made. The place is on its way out of the cache, and of no use.
    Failed(Error),
}

const NOT_MADE: usize = usize::MAX;

/// 0 is no slot's. Not part of any model.
static NEXT_ID: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

/// What came of making a plan: it is there now, or it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready<T> {
    /// Made by this call, which learnt so much.
    Now(T),
    /// There already.
    Before,
}

impl<P> Slot<P> {
    pub(super) fn new() -> Slot<P> {
        Slot {
            id: NEXT_ID.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            workspace: AtomicUsize::new(NOT_MADE),
            state: Mutex::new(State::Empty),
        }
    }

    /// What tells it from all others, also from those that are gone.
    #[inline]
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The workspace of a plan that is there.
    #[inline]
    pub(super) fn workspace(&self) -> Option<usize> {
        Some(self.workspace.load(Ordering::Acquire)).filter(|bytes| *bytes != NOT_MADE)
    }

    /// Makes the plan unless it is there. `make` gives it with its workspace and what the caller is
    /// to learn; a failure is everybody's who has this place.
    #[cold]
    #[inline(never)]
    pub(super) fn make<T>(&self, make: impl FnOnce() -> Result<(P, usize, T)>) -> Result<Ready<T>> {
        let mut state = self.state.lock();
        match &*state {
            State::Made(_) => return Ok(Ready::Before),
            State::Failed(error) => return Err(error.clone()),
            State::Empty => {}
        }
        match make() {
            Ok((plan, workspace, learnt)) => {
                *state = State::Made(plan);
                self.workspace.store(workspace, Ordering::Release);
                Ok(Ready::Now(learnt))
            }
            Err(error) => {
                *state = State::Failed(error.clone());
                Err(error)
            }
        }
    }

    /// Uses the plan, alone.
    #[inline]
    pub(super) fn with<R>(&self, action: impl FnOnce(&mut P) -> Result<R>) -> Result<R> {
        match &mut *self.state.lock() {
            State::Made(plan) => action(plan),
            State::Failed(error) => Err(error.clone()),
            State::Empty => Err(Error::new(
                crate::error::Status::Internal,
                "a plan was used before it was made",
            )),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_makes_it_and_others_find_it() {
        let slot = Slot::new();
        assert_eq!(slot.workspace(), None);
        assert!(slot.with(|_| Ok(())).is_err());
        assert_eq!(slot.make(|| Ok(("plan", 7, "bytes"))), Ok(Ready::Now("bytes")));
        assert_eq!(slot.workspace(), Some(7));
        assert_eq!(slot.make::<()>(|| panic!("made twice")), Ok(Ready::Before));
        assert_eq!(slot.with(|plan| Ok(*plan)), Ok("plan"));
    }

    #[test]
    fn a_failure_is_everybodys() {
        let slot = Slot::<()>::new();
        let failure = Error::invalid_state("on purpose");
        assert_eq!(slot.make::<()>(|| Err(failure.clone())), Err(failure.clone()));
        assert_eq!(slot.make::<()>(|| panic!("made again")), Err(failure.clone()));
        assert_eq!(slot.with(|()| Ok(())), Err(failure));
        assert_eq!(slot.workspace(), None);
    }
}
