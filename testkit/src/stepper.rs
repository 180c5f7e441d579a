//! In manual mode a call that waits for the device waits for ever unless somebody steps. This thread
//! does, once a call that may wait has been made.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Driver calls that wait for queued work.
const WAITING: [&str; 6] = [
    "event_synchronize",
    "stream_synchronize",
    "device_synchronize",
    "memory_free",
    "host_free",
    "host_unregister",
];

const IDLE: u8 = 0;
const WATCHING: u8 = 1;
const STOPPING: u8 = 2;

#[derive(Default)]
struct Shared {
    state: AtomicU8,
    /// How many waiting calls there were before the one that is watched.
    before: AtomicU64,
}

pub struct Stepper {
    shared: Arc<Shared>,
    thread: std::thread::Thread,
}

fn calls() -> u64 {
    WAITING.iter().map(|call| sconce::sim_controls::call_count(call).unwrap()).sum()
}

impl Stepper {
    pub fn start() -> Stepper {
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        let handle = std::thread::spawn(move || {
            loop {
                match seen.state.load(Ordering::Acquire) {
                    IDLE => std::thread::park(),
                    STOPPING => seen.state.store(IDLE, Ordering::Release),
                    _ if calls() > seen.before.load(Ordering::Relaxed) => {
                        sconce::sim_controls::run_until_idle().unwrap();
                    }
                    _ => std::thread::yield_now(),
                }
            }
        });
        Stepper { shared, thread: handle.thread().clone() }
    }

    /// Makes a call that may wait for the device; if it does, everything queued completes.
    pub fn during<T>(&self, pending: bool, call: impl FnOnce() -> T) -> T {
        if !pending {
            return call();
        }
        self.shared.before.store(calls(), Ordering::Relaxed);
        self.shared.state.store(WATCHING, Ordering::Release);
        self.thread.unpark();
        let result = call();
        self.shared.state.store(STOPPING, Ordering::Release);
        self.thread.unpark();
        while self.shared.state.load(Ordering::Acquire) != IDLE {
            std::thread::yield_now();
        }
        result
    }
}
