//! The lock that serialises the rescues of a device: waiting for its pending blocks, and returning its segments.
//! Without it a second thread would find the memory neither in the caches nor in the driver, and fail.
//!
//! A rescue gives memory back, and so keeps captures from beginning. The thread asks for that before it takes this
//! lock: a thread that had this lock and waited for a capture to begin would keep another one waiting that gives back
//! already and wants this lock, and the capture waits for that one.

use sconce_base::lock::rank;
use sconce_base::sync::{Mutex, MutexGuard};

use crate::stream::GivingBack;

/// The lock. The value counts the rescues.
pub(crate) struct RescueLock(Mutex<rank::Rescue, u64>);

/// A rescue, as long as it is held. The value counts the rescues, this one included.
pub(crate) type Rescue<'a> = MutexGuard<'a, rank::Rescue, u64>;

impl RescueLock {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> RescueLock {
        RescueLock(Mutex::new(0))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> RescueLock {
        RescueLock(Mutex::new(0))
    }

    /// Begins a rescue, once no other thread is in one. The thread has asked whether it may give back before, and must
    /// not ask for the first time while it holds the lock.
    pub(crate) fn begin(&self, _asked_before: Option<&GivingBack<'_>>) -> Rescue<'_> {
        let mut rescues = self.0.lock();
        *rescues += 1;
        rescues
    }

    /// The number of rescues so far; `None` while one is going on.
    pub(crate) fn count(&self) -> Option<u64> {
        self.0.try_lock().map(|rescues| *rescues)
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use loom::sync::Arc;

    use super::*;
    use crate::stream::CaptureStarts;

    /// What threads out of memory, threads that empty caches and threads that capture have in common.
    struct Contended {
        starts: CaptureStarts,
        rescue: RescueLock,
    }

    impl Contended {
        /// A thread out of memory. What it returns gives back, too.
        fn rescue(&self) {
            let begun = self.starts.hold_back();
            let _rescue = self.rescue.begin(Some(&begun));
            drop(self.starts.hold_back());
        }

        /// A thread that empties caches.
        fn empty(&self) {
            let begun = self.starts.hold_back();
            let _rescue = self.rescue.begin(Some(&begun));
        }

        fn capture(&self) {
            drop(self.starts.begin());
        }
    }

    fn check(threads: &'static [fn(&Contended)]) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let contended =
                Arc::new(Contended { starts: CaptureStarts::new(), rescue: RescueLock::new() });
            let spawned: Vec<_> = threads
                .iter()
                .map(|thread| {
                    let contended = contended.clone();
                    loom::thread::spawn(move || thread(&contended))
                })
                .collect();
            spawned.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }

    #[test]
    fn a_rescue_an_emptying_and_a_capture_all_end() {
        check(&[Contended::rescue, Contended::empty, Contended::capture]);
    }

    #[test]
    fn two_rescues_and_a_capture_all_end() {
        check(&[Contended::rescue, Contended::rescue, Contended::capture]);
    }

    #[test]
    fn a_rescue_and_two_captures_all_end() {
        check(&[Contended::rescue, Contended::capture, Contended::capture]);
    }
}
