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

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

use once_cell::race::OnceBool;
use rustix::thread::{MembarrierCommand, membarrier};

use super::native::NativeEvent;
use crate::lock::Mutex;
use crate::thread_state;

/// How many retired events share one `membarrier`.
const BATCH: usize = 64;

/// The announcement of a slot, until it is dropped.
pub(super) struct Announcement(&'static AtomicUsize);

impl Drop for Announcement {
    #[inline]
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Announces that the calling thread uses a slot, given by its address. The caller must check the event's
/// generation afterwards. Returns `None` if the caller must take the event's lock instead.
#[inline]
pub(super) fn announce(slot: usize) -> Option<Announcement> {
    let word = match thread_state::announcement() {
        Some(word) => word,
        None => first_use()?,
    };
    word.store(slot, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    Some(Announcement(word))
}

/// The words of all threads, and the retired events.
struct HazardTable {
    words: Vec<&'static AtomicUsize>,
    /// Words of threads that have ended.
    spare: Vec<&'static AtomicUsize>,
    retired: Vec<RetiredEvent>,
}

/// The driver's event of a destroyed event, and the address of the event's slot.
struct RetiredEvent {
    slot: usize,
    /// Held only to be dropped.
    _native: Arc<NativeEvent>,
}

static TABLE: Mutex<HazardTable> =
    Mutex::new(HazardTable { words: Vec::new(), spare: Vec::new(), retired: Vec::new() });

/// Owns the calling thread's word, and returns it to the table when the thread ends.
struct WordOwner(Cell<Option<&'static AtomicUsize>>);

impl Drop for WordOwner {
    fn drop(&mut self) {
        thread_state::set_announcement(None);
        // Not in a forked child, where the lock may be held for ever and no other thread reads the word.
        if !crate::process::in_child()
            && let Some(word) = self.0.take()
        {
            TABLE.lock().spare.push(word);
        }
    }
}

thread_local! {
    static OWNER: WordOwner = const { WordOwner(Cell::new(None)) };
}

/// Assigns a word to the calling thread.
#[cold]
#[inline(never)]
fn first_use() -> Option<&'static AtomicUsize> {
    static HAS_FENCE: OnceBool = OnceBool::new();
    if !HAS_FENCE.get_or_init(|| membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()) {
        return None;
    }
    OWNER
        .try_with(|owner| {
            let mut table = TABLE.lock();
            let word = table.spare.pop().unwrap_or_else(|| {
                let word: &'static AtomicUsize = Box::leak(Box::default());
                table.words.push(word);
                word
            });
            drop(table);
            owner.0.set(Some(word));
            thread_state::set_announcement(Some(word));
            word
        })
        .ok()
}

/// Drops the driver's event of a destroyed event once no thread uses the event's slot. Called after the
/// generation has changed. `at_once`: do not wait for a batch to fill.
pub(super) fn retire(slot: usize, native: Arc<NativeEvent>, at_once: bool) {
    let mine = thread_state::announcement();
    let mut table = TABLE.lock();
    // A thread that gets its first word later takes this lock, and so sees the new generation.
    let others = table.words.len() - table.spare.len() - usize::from(mine.is_some());
    if others == 0 && table.retired.is_empty() {
        drop(table);
        drop(native);
        return;
    }
    table.retired.push(RetiredEvent { slot, _native: native });
    if table.retired.len() < BATCH && others != 0 && !at_once {
        return;
    }
    let unused = table.take_unused();
    drop(table);
    // Outside of the lock, since this calls the driver.
    drop(unused);
}

impl HazardTable {
    /// Takes out the retired events whose slots no thread uses.
    fn take_unused(&mut self) -> Vec<RetiredEvent> {
        if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            return Vec::new();
        }
        let used: Vec<usize> = self.words.iter().map(|word| word.load(Ordering::Acquire)).collect();
        let (kept, unused) =
            std::mem::take(&mut self.retired).into_iter().partition(|one| used.contains(&one.slot));
        self.retired = kept;
        unused
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::mpsc::channel;

    use super::super::operations::{create, destroy, record};
    use super::super::slots;
    use super::*;
    use crate::collections::slab::Key;
    use crate::config::{BackendChoice, SimConfig};
    use crate::context::{self, Options, Runtime};
    use crate::driver::{EventFlags, EventHandle};
    use crate::stream::Stream;
    use crate::types::DeviceIndex;

    fn simulated() -> (&'static Runtime, Stream) {
        let options = Options { backend: BackendChoice::Sim, sim: SimConfig::default() };
        let runtime = context::initialize_with(options).unwrap();
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
            !runtime.simulator().unwrap().has_event(used.unwrap()),
            "the event is kept for ever"
        );
    }
}
