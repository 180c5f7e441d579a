//! Memory shared by two real processes, on simulated devices.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::panic, reason = "a test fails by panicking")]

mod captures;
mod deaths;
mod device;
mod failures;
mod lifetimes;
mod misuse;
mod pages;
mod races;
mod remote;
mod sharing;
mod uncached;
mod virtual_memory;

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use sconce_runtime::memory;

static ALONE: Mutex<()> = Mutex::new(());

/// The allocator is the process': one test at a time, each from the beginning.
fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    device::runtime();
    sconce_runtime::ipc::collect().unwrap();
    memory::empty_cache().unwrap();
    memory::check::walk().unwrap();
    alone
}

/// Bytes of blocks that were freed and cannot be used again yet.
fn waiting_bytes() -> i64 {
    let stats = memory::stats(0).unwrap();
    stats.active_bytes.all.current - stats.allocated_bytes.all.current
}

/// Waits for what happens by itself, soon.
#[track_caller]
fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "has not happened: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
