//! Hazard pointers for driver events: which events threads are using without a lock.
//!
//! `record` and `query` pass the driver a handle that they read without a lock. If another thread destroys
//! the event meanwhile, the driver's event must neither be destroyed nor be given to another owner. So a
//! thread announces the event: it writes the address of the event's slot into a word of its own before it
//! reads the handle, and clears the word after the driver's call. A destroyed event is *retired*: its
//! driver's event goes to the recycler, or is destroyed, when no word contains the slot's address.
//!
//! The announcement is a plain store, after which the thread checks the event's generation. Without a fence
//! between the two the processor may swap them. The fence is executed by the other side: `retire` runs
//! after the generation was changed and calls `membarrier`, which makes every running thread of the process
//! execute a full fence. A thread that saw the old generation wrote its word before that fence, so `retire`
//! reads it; a thread that writes its word later sees the new generation. Many retired events share one
//! such call.
//!
//! Without `membarrier` in the kernel, and on a thread that is ending, there is no word: records and queries
//! take the event's lock.

use std::sync::Arc;

use sconce_base::announcements::{announced, others};
use sconce_base::lock::{Mutex, rank};

use super::native::NativeEvent;

pub(super) use sconce_base::announcements::announce;

/// How many retired events share one `membarrier`.
const BATCH: usize = 64;

/// The driver's event of a destroyed event, and the address of the event's slot.
struct RetiredEvent {
    slot: usize,
    /// Held only to be dropped.
    _native: Arc<NativeEvent>,
}

static RETIRED: Mutex<rank::EventsRetired, Vec<RetiredEvent>> = Mutex::new(Vec::new());

/// Drops the driver's event of a destroyed event once no thread uses the event's slot. Called after the
/// generation has changed. `at_once`: do not wait for a batch to fill.
pub(super) fn retire(slot: usize, native: Arc<NativeEvent>, at_once: bool) {
    // A thread that gets its first word later sees the new generation.
    let others = others();
    let mut retired = RETIRED.lock();
    if others == 0 && retired.is_empty() {
        drop(retired);
        drop(native);
        return;
    }
    retired.push(RetiredEvent { slot, _native: native });
    if retired.len() < BATCH && others != 0 && !at_once {
        return;
    }
    let unused = take_unused(&mut retired);
    drop(retired);
    // Outside of the lock, since this calls the driver.
    drop(unused);
}

/// Takes out the retired events whose slots no thread uses.
fn take_unused(retired: &mut Vec<RetiredEvent>) -> Vec<RetiredEvent> {
    let used = announced();
    let (kept, unused) =
        std::mem::take(retired).into_iter().partition(|one| used.contains(&one.slot));
    *retired = kept;
    unused
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::atomic::Ordering;
    use std::sync::mpsc::channel;

    use sconce_base::collections::slab::Key;
    use sconce_base::types::DeviceIndex;
    use sconce_driver::{EventFlags, EventHandle};
    use sconce_sim::Simulator;

    use super::super::operations::{create, destroy, record};
    use super::super::slots;
    use super::*;
    use crate::context::Runtime;
    use crate::stream::Stream;
    use crate::testing;

    fn simulated() -> (&'static Runtime, Stream) {
        let runtime = testing::simulated();
        (runtime, Stream::from_parts(runtime, 0, DeviceIndex::ZERO.as_i32()).unwrap())
    }

    fn recorded(runtime: &Runtime, stream: Stream, flags: EventFlags) -> (Key, EventHandle) {
        let key = create(flags).unwrap();
        record(runtime, key, stream).unwrap();
        let handle = slots::slot(key, "event").unwrap().handle.load(Ordering::Relaxed).unwrap();
        (key, handle)
    }

    /// Destroys an event while another thread uses it, and calls `then` with the handle of its driver's event.
    fn destroyed_in_use(flags: EventFlags, then: impl FnOnce(EventHandle)) {
        let (runtime, stream) = simulated();
        let (key, handle) = recorded(runtime, stream, flags);
        let slot = slots::slot(key, "event").unwrap().address();
        let (announced, wait) = channel();
        let (release, released) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let announcement = announce(slot).unwrap();
                announced.send(()).unwrap();
                let _ = released.recv();
                drop(announcement);
            });
            wait.recv().unwrap();
            destroy(key).unwrap();
            then(handle);
            drop(release);
        });
    }

    #[test]
    fn a_driver_event_in_use_gets_no_other_owner() {
        let (runtime, stream) = simulated();
        // Kinds that no other test of this program uses.
        let flags = EventFlags { timing: true, blocking_sync: true, interprocess: false };
        let takes = |count: usize, wanted: EventHandle| {
            let events: Vec<_> = (0..count).map(|_| recorded(runtime, stream, flags)).collect();
            let found = events.iter().any(|(_, handle)| *handle == wanted);
            events.into_iter().for_each(|(key, _)| destroy(key).unwrap());
            found
        };
        let mut used = None;
        destroyed_in_use(flags, |handle| {
            used = Some(handle);
            for _ in 0..4 {
                assert!(!takes(BATCH, handle), "another owner got an event that is in use");
            }
        });
        assert!(
            (0..4).any(|_| takes(8 * BATCH, used.unwrap())),
            "an event that is not in use is lost"
        );
    }

    #[test]
    fn a_driver_event_in_use_is_not_destroyed() {
        let (runtime, stream) = simulated();
        let flags = EventFlags { interprocess: true, ..EventFlags::default() };
        let mut used = None;
        destroyed_in_use(flags, |handle| {
            used = Some(handle);
            let (other, _) = recorded(runtime, stream, flags);
            destroy(other).unwrap();
            runtime.driver().event_query(handle).unwrap();
        });
        let (other, _) = recorded(runtime, stream, flags);
        destroy(other).unwrap();
        assert!(
            !Simulator::opened().unwrap().has_event(used.unwrap()),
            "the event is kept for ever"
        );
    }
}
