//! A library's plan that graphs may use after its owner has done with it.
//!
//! The kernels of a graph read the tables of the plan whenever the graph is launched. So whoever keeps the graph keeps
//! a share of the plan, and the plan is dropped with its owner or with the last share, whichever is last. Only the
//! owner uses the plan, and pays nothing for shares that nobody has.

use std::any::Any;
use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};

/// Keeps a value that graphs use. Dropping the last share may drop the value, which is done with no lock held.
pub type Share = Arc<dyn Any + Send + Sync>;

/// Where a value waits for its last share once its owner has gone.
type Heir<T> = Mutex<rank::GraphShared, Option<T>>;

/// The owner of a value that graphs share.
pub struct GraphShared<T: Send + 'static> {
    /// `None` only while this is dropped.
    value: Option<T>,
    heir: Option<Arc<Heir<T>>>,
}

impl<T: Send + 'static> GraphShared<T> {
    pub fn new(value: T) -> Self {
        GraphShared { value: Some(value), heir: None }
    }

    /// The value, for one use.
    #[inline]
    pub fn get(&mut self) -> Result<&mut T> {
        self.value.as_mut().ok_or_else(gone)
    }

    /// A share, for the graph that the last use became part of.
    pub fn share(&mut self) -> Share {
        let heir = self.heir.get_or_insert_with(|| Arc::new(Mutex::new(None)));
        Arc::clone(heir) as Share
    }

    /// Whether somebody has a share.
    pub fn is_shared(&self) -> bool {
        self.heir.as_ref().is_some_and(|heir| Arc::strong_count(heir) > 1)
    }
}

#[cold]
fn gone() -> Error {
    Error::new(Status::Internal, "a plan was used after its end")
}

impl<T: Send + 'static> Drop for GraphShared<T> {
    fn drop(&mut self) {
        // The value is dropped with the last reference to its heir, which may be this one.
        if let Some(heir) = &self.heir {
            *heir.lock() = self.value.take();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct CountsDrop(Arc<AtomicU32>);

    impl Drop for CountsDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_value_goes_with_its_owner_or_its_last_share() {
        let drops = Arc::new(AtomicU32::new(0));
        let dropped = || drops.swap(0, Ordering::Relaxed);
        let made = || GraphShared::new(CountsDrop(Arc::clone(&drops)));
        let mut plain = made();
        assert!(plain.get().is_ok() && !plain.is_shared());
        drop(plain);
        assert_eq!(dropped(), 1);

        let mut shared = made();
        let shares = [shared.share(), shared.share()];
        assert!(shared.get().is_ok() && shared.is_shared());
        drop(shared);
        let [first, last] = shares;
        drop(first);
        assert_eq!(dropped(), 0, "a graph has it");
        drop(last);
        assert_eq!(dropped(), 1);

        let mut left = made();
        drop(left.share());
        assert!(!left.is_shared() && left.get().is_ok());
        assert_eq!(dropped(), 0, "its owner has it");
        let share = left.share();
        assert!(left.is_shared());
        drop(share);
        drop(left);
        assert_eq!(dropped(), 1);
    }
}
