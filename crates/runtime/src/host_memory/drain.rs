//! The background thread that polls events, when the configuration asks for one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use sconce_base::lock::{OnceCell, park, rank};
use sconce_base::log;

use super::cache::PinnedCache;
use crate::context::{Runtime, runtime};

/// The time between two polls while blocks wait.
const PERIOD: Duration = Duration::from_micros(100);

static THREAD: OnceCell<rank::DrainThread, Thread> = OnceCell::new();
static STARTED: AtomicBool = AtomicBool::new(false);

/// A function that polls the events of a cache.
type Poll = fn(&Runtime, &PinnedCache) -> bool;

/// Starts the thread, once. Without it allocations poll themselves.
pub(super) fn start(poll: Poll) {
    if STARTED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Never joined: it ends with the process, and holds nothing that other threads wait for.
    match std::thread::Builder::new().name("sconce-pinned".to_owned()).spawn(move || run(poll)) {
        Ok(handle) => {
            let _ = THREAD.set(handle.thread().clone());
            // A thread that added a block before could not wake this one.
            wake();
        }
        Err(error) => log::warn(format_args!(
            "pinned_use_background_threads: no thread could be started ({error})"
        )),
    }
}

/// A block has begun to wait.
pub(super) fn wake() {
    if let Some(thread) = THREAD.get() {
        thread.unpark();
    }
}

fn run(poll: Poll) {
    let cache = PinnedCache::get();
    loop {
        if !cache.delays.has_waiting() {
            park::<rank::Idle>();
            continue;
        }
        if let Ok(runtime) = runtime() {
            poll(runtime, cache);
        }
        std::thread::sleep(PERIOD);
    }
}
