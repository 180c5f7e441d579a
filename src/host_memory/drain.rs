//! The thread that looks for complete events, when the configuration asks for one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use once_cell::sync::OnceCell;

use super::cache::Cache;
use super::deferred_frees;
use crate::context::runtime;
use crate::log;

/// How often it looks while blocks wait.
const PERIOD: Duration = Duration::from_micros(100);

static THREAD: OnceCell<Thread> = OnceCell::new();
static STARTED: AtomicBool = AtomicBool::new(false);

/// Starts the thread, once. Without it allocations look for themselves.
pub(super) fn start() {
    if STARTED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Never joined: it ends with the process, and holds nothing that anyone waits for.
    match std::thread::Builder::new().name("sconce-pinned".to_owned()).spawn(run) {
        Ok(handle) => {
            let _ = THREAD.set(handle.thread().clone());
            // Whoever added a block before could not wake it.
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

fn run() {
    let cache = Cache::get();
    loop {
        if cache.waiting.load(Ordering::Relaxed) == 0 {
            std::thread::park();
            continue;
        }
        if let Ok(runtime) = runtime() {
            deferred_frees::poll(runtime, cache);
        }
        std::thread::sleep(PERIOD);
    }
}
