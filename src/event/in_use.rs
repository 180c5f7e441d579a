//! Hazard pointers for driver events: which events threads are using without a lock.
//!
//! `record` and `query` call the driver with a handle that they read without a lock. Another thread
//! may destroy the event meanwhile, and neither may the driver's event be destroyed then nor may
//! another owner get it. So a thread announces the event's cell in a word of its own before it reads
//! the handle, and clears the word after the driver's call. A destroyed event is *retired*: its driver
//! event goes on to the recycler, or is destroyed, once no word names its cell any more.
//!
//! The announcement is a plain store, and the user of the event checks the generation after it.
//! Without a fence between the two the processor may swap them. The fence is on the other side:
//! `retire` runs after the generation was changed and calls `membarrier`, which makes every running
//! thread of the process execute a full fence. A thread that saw the old generation announced itself
//! before that fence, and its word is seen; a thread that announces itself later sees the new
//! generation. Many retired events share one such call.
//!
//! A kernel without `membarrier`, and a thread that is ending, get no word: their records and
//! queries take the event's lock.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

use once_cell::race::OnceBool;
use rustix::thread::{MembarrierCommand, membarrier};

use super::NativeEvent;
use crate::lock::Mutex;
use crate::thread_state;

/// How many retired events share one `membarrier`.
const BATCH: usize = 64;

/// A cell that is being used, until this is dropped.
pub(super) struct InUse(&'static AtomicUsize);

impl Drop for InUse {
    #[inline]
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Announces that the calling thread uses a cell. The caller must check the cell's generation
/// afterwards. `None`: use the event's lock instead.
#[inline]
pub(super) fn enter(cell: usize) -> Option<InUse> {
    let word = match thread_state::announcement() {
        Some(word) => word,
        None => first_use()?,
    };
    word.store(cell, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    Some(InUse(word))
}

/// The words of all threads, and the retired events.
struct Threads {
    words: Vec<&'static AtomicUsize>,
    /// Words of threads that have ended.
    spare: Vec<&'static AtomicUsize>,
    retired: Vec<Retired>,
}

/// A driver event that a destroyed event had, and the address of the event's cell.
struct Retired {
    cell: usize,
    /// Held only to be dropped.
    _native: Arc<NativeEvent>,
}

static THREADS: Mutex<Threads> =
    Mutex::new(Threads { words: Vec::new(), spare: Vec::new(), retired: Vec::new() });

/// Takes the calling thread's word back when the thread ends.
struct Owner(Cell<Option<&'static AtomicUsize>>);

impl Drop for Owner {
    fn drop(&mut self) {
        thread_state::set_announcement(None);
        // The lock is not free to take in a forked child, where no other thread is left to see the word.
        if !crate::process::in_child()
            && let Some(word) = self.0.take()
        {
            THREADS.lock().spare.push(word);
        }
    }
}

thread_local! {
    static OWNER: Owner = const { Owner(Cell::new(None)) };
}

/// Gives the calling thread a word.
#[cold]
#[inline(never)]
fn first_use() -> Option<&'static AtomicUsize> {
    static HAS_FENCE: OnceBool = OnceBool::new();
    if !HAS_FENCE.get_or_init(|| membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()) {
        return None;
    }
    OWNER
        .try_with(|owner| {
            let mut threads = THREADS.lock();
            let word = threads.spare.pop().unwrap_or_else(|| {
                let word: &'static AtomicUsize = Box::leak(Box::default());
                threads.words.push(word);
                word
            });
            drop(threads);
            owner.0.set(Some(word));
            thread_state::set_announcement(Some(word));
            word
        })
        .ok()
}

/// Lets go of the driver event of a destroyed event once no thread uses the event's cell. Called after
/// the cell's generation has changed. `at_once`: do not wait for a batch to fill.
pub(super) fn retire(cell: usize, native: Arc<NativeEvent>, at_once: bool) {
    let mine = thread_state::announcement();
    let mut threads = THREADS.lock();
    // A thread that takes its first word later takes this lock, and so sees the new generation.
    let others = threads.words.len() - threads.spare.len() - usize::from(mine.is_some());
    if others == 0 && threads.retired.is_empty() {
        drop(threads);
        drop(native);
        return;
    }
    threads.retired.push(Retired { cell, _native: native });
    if threads.retired.len() < BATCH && others != 0 && !at_once {
        return;
    }
    let unused = threads.take_unused();
    drop(threads);
    // Outside the lock: this calls the driver.
    drop(unused);
}

impl Threads {
    /// Takes the retired events whose cells no thread uses.
    fn take_unused(&mut self) -> Vec<Retired> {
        if membarrier(MembarrierCommand::PrivateExpedited).is_err() {
            return Vec::new();
        }
        let used: Vec<usize> = self.words.iter().map(|word| word.load(Ordering::Acquire)).collect();
        let (kept, unused) =
            std::mem::take(&mut self.retired).into_iter().partition(|one| used.contains(&one.cell));
        self.retired = kept;
        unused
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::mpsc::channel;

    use super::super::{EVENTS, Key, create, destroy, record};
    use super::*;
    use crate::config::{BackendChoice, SimConfig};
    use crate::context::{self, Options, Runtime};
    use crate::driver::EventFlags;
    use crate::stream::Stream;
    use crate::types::DeviceIndex;

    fn simulated() -> (&'static Runtime, Stream) {
        let options = Options { backend: BackendChoice::Sim, sim: SimConfig::default() };
        let runtime = context::initialize_with(options).unwrap();
        (runtime, Stream::from_parts(runtime, 0, DeviceIndex::ZERO.as_i32()).unwrap())
    }

    fn recorded(runtime: &Runtime, stream: Stream, flags: EventFlags) -> (Key, usize) {
        let key = create(flags).unwrap();
        record(runtime, key, stream).unwrap();
        let handle = EVENTS.get(key).unwrap().handle.load(Ordering::Relaxed);
        (key, handle)
    }

    /// Destroys an event while another thread uses it; gives the driver's handles that `then` finds
    /// in as many new events as are sure to make the library look for unused ones.
    fn destroyed_in_use(flags: EventFlags, then: impl FnOnce(usize)) {
        let (runtime, stream) = simulated();
        let (key, handle) = recorded(runtime, stream, flags);
        let cell = EVENTS.get(key).unwrap().address();
        let (announced, wait) = channel();
        let (release, released) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let in_use = enter(cell).unwrap();
                announced.send(()).unwrap();
                let _ = released.recv();
                drop(in_use);
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
        let takes = |count: usize, wanted: usize| {
            let events: Vec<_> = (0..count).map(|_| recorded(runtime, stream, flags)).collect();
            let found = events.iter().any(|(_, handle)| *handle == wanted);
            events.into_iter().for_each(|(key, _)| destroy(key).unwrap());
            found
        };
        let mut used = 0;
        destroyed_in_use(flags, |handle| {
            used = handle;
            for _ in 0..4 {
                assert!(!takes(BATCH, handle), "another owner got an event that is in use");
            }
        });
        assert!((0..4).any(|_| takes(8 * BATCH, used)), "an event that is not in use is lost");
    }

    #[test]
    fn a_driver_event_in_use_is_not_destroyed() {
        let (runtime, stream) = simulated();
        let flags = EventFlags { interprocess: true, ..EventFlags::default() };
        let mut used = 0;
        destroyed_in_use(flags, |handle| {
            used = handle;
            let (other, _) = recorded(runtime, stream, flags);
            destroy(other).unwrap();
            runtime.driver().event_query(crate::driver::EventHandle(handle)).unwrap();
        });
        let (other, _) = recorded(runtime, stream, flags);
        destroy(other).unwrap();
        let used = crate::driver::EventHandle(used);
        assert!(!runtime.simulator().unwrap().has_event(used), "the event is kept for ever");
    }
}
