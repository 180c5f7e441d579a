//! Pools that sleep: what programs see of it, that no byte is lost, and that no failure leaves anything behind.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod faults;
mod model;
mod rules;
mod threads;
mod work;

use std::path::PathBuf;

use sconce::error::{Error, Result};
use sconce::memory::pool::{self, Key};
use sconce::memory::{self, SleepState};
use sconce::sleep::{self, SleepPlace};
use sconce::stream::Stream;

use crate::queued::pool_stream;

const MIB: usize = 1 << 20;

/// A test in a process of its own, with pages.
#[track_caller]
fn with_pages(test: &str, memory: &str, body: impl FnOnce()) {
    let environment = [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_LOG", "off"),
        ("SCONCE_SIM_MEMORY", memory),
        ("SCONCE_ALLOC_CONF", "policy:pages"),
        ("RUST_BACKTRACE", "0"),
    ];
    testkit::in_child(test, &environment, body);
}

/// All places where bytes can be kept.
fn places() -> [SleepPlace; 3] {
    [SleepPlace::HostPinned, SleepPlace::HostPageable, SleepPlace::File(folder())]
}

fn folder() -> PathBuf {
    std::env::temp_dir()
}

fn alloc(bytes: usize, on: Stream) -> usize {
    memory::alloc_on(bytes, on).unwrap()
}

/// Runs `body` with allocations from a pool.
fn inside<R>(pool: Key, body: impl FnOnce() -> R) -> R {
    pool::begin(pool, 0).unwrap();
    let result = body();
    pool::end(pool, 0).unwrap();
    result
}

fn state(pool: Option<Key>) -> Option<SleepState> {
    sleep::state(pool, 0).unwrap()
}

fn reserved() -> i64 {
    memory::stats(0).unwrap().reserved_bytes.all.current
}

fn allocated() -> i64 {
    memory::stats(0).unwrap().allocated_bytes.all.current
}

fn free_bytes() -> usize {
    sconce::device::memory_info(0).unwrap().free_bytes
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>, words: &str) -> Error {
    let error = result.unwrap_err();
    assert!(error.message().contains(words), "{error}\nlacks: {words}");
    error
}

/// Whether every byte is `value`; quick without optimisation.
fn holds(data: &[u8], value: u8) -> bool {
    data.first() == Some(&value) && data[1..] == data[..data.len() - 1]
}
