//! Driver's events without an owner, kept for the next event that needs one.
//!
//! Making a driver's event costs microseconds, taking one from a recycler a lock. An event may be returned
//! while its last record is pending: its next owner records it before any query, and waits that are bound
//! to the old record stay bound to it.

use sconce_base::lock::rank;
use sconce_base::sync::Mutex;
use sconce_driver::EventHandle;

/// The most events that are kept for one device and kind.
const CAPACITY: usize = 512;

/// The events without an owner of one device and kind.
pub(super) struct Recycler {
    spare: Mutex<rank::EventsSpare, Vec<EventHandle>>,
}

impl Recycler {
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Recycler { spare: Mutex::new(Vec::new()) }
    }

    #[cfg(loom)]
    pub(super) fn new() -> Self {
        Recycler { spare: Mutex::new(Vec::new()) }
    }

    /// A spare event, if there is one.
    pub(super) fn take(&self) -> Option<EventHandle> {
        self.spare.lock().pop()
    }

    /// Keeps an event. Returns it if there are enough, for the caller to destroy.
    pub(super) fn put(&self, event: EventHandle) -> Option<EventHandle> {
        let mut spare = self.spare.lock();
        if spare.len() >= CAPACITY {
            return Some(event);
        }
        spare.push(event);
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_until_there_are_enough() {
        let recycler = Recycler::new();
        assert_eq!(recycler.take(), None);
        for handle in 1..=CAPACITY {
            assert_eq!(
                recycler.put(EventHandle::from_driver(crate::testing::FORGED, handle)),
                None
            );
        }
        assert_eq!(
            recycler.put(EventHandle::from_driver(crate::testing::FORGED, 9999)),
            Some(EventHandle::from_driver(crate::testing::FORGED, 9999))
        );
        assert_eq!(
            recycler.take(),
            Some(EventHandle::from_driver(crate::testing::FORGED, CAPACITY))
        );
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::Arc;

    use super::*;

    #[test]
    fn two_takers_never_get_the_same_event() {
        loom::model(|| {
            let recycler = Arc::new(Recycler::new());
            recycler.put(EventHandle::from_driver(crate::testing::FORGED, 1));
            let other = recycler.clone();
            let taker = loom::thread::spawn(move || {
                other.put(EventHandle::from_driver(crate::testing::FORGED, 2));
                other.take()
            });
            let mine = recycler.take();
            let theirs = taker.join().unwrap();
            assert!(mine.is_some() && theirs.is_some());
            assert_ne!(mine, theirs);
            assert_eq!(recycler.take(), None);
        });
    }
}
