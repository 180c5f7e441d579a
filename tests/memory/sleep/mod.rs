//! Pools that sleep: what programs see of it, that no byte is lost, and that no failure leaves anything behind.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod faults;
mod file_faults;
mod fixed;
mod model;
mod rules;
mod threads;
mod work;

use std::path::PathBuf;

use sconce_base::error::{Error, Result};
use sconce_runtime::memory::pool::{self, Key};
use sconce_runtime::memory::{self, SleepState};
use sconce_runtime::sleep::{self, SleepPlace};

use crate::paged::{MIB, alloc, reserved, with_pages};
use crate::queued::pool_stream;

/// All places where bytes can be kept.
fn places() -> [SleepPlace; 3] {
    [SleepPlace::HostPinned, SleepPlace::HostPageable, SleepPlace::File(folder())]
}

fn folder() -> PathBuf {
    std::env::temp_dir()
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

fn allocated() -> i64 {
    memory::stats(0).unwrap().allocated_bytes.all.current
}

fn free_bytes() -> usize {
    sconce_runtime::device::memory_info(0).unwrap().free_bytes
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
