//! Device memory of streams that somebody else made, and has destroyed since.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/simulated.rs"]
mod simulated;

use std::sync::{Mutex, MutexGuard};

use sconce::driver::{StreamFlags, StreamRef};
use sconce::memory;
use sconce::stream::{self, Stream};
use sconce::types::DeviceIndex;
use simulated::runtime;

static ALONE: Mutex<()> = Mutex::new(());

/// The figures are the process': one test at a time, each from the beginning.
fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    runtime();
    memory::empty_cache().unwrap();
    assert_eq!(reserved(), 0);
    alone
}

fn reserved() -> i64 {
    memory::stats(0).unwrap().reserved_bytes.all.current
}

fn outside_stream() -> (StreamRef, Stream) {
    let flags = StreamFlags { non_blocking: true };
    let handle = runtime().driver().stream_create(DeviceIndex::ZERO, flags, 0).unwrap();
    let made = StreamRef { device: DeviceIndex::ZERO, handle };
    (made, stream::from_external(handle.0, 0).unwrap())
}

#[test]
fn memory_outlives_the_stream_it_was_allocated_for() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let address = memory::alloc_on(1000, stream).unwrap();
    let kept = memory::alloc_on(1000, stream).unwrap();
    runtime().driver().stream_destroy(made).unwrap();
    assert_eq!(memory::usable_bytes(address).unwrap(), 1024);
    memory::free(address).unwrap();
    assert_eq!(memory::snapshot().unwrap().segments.len(), 1);
    memory::empty_cache().unwrap();
    assert_eq!(reserved(), 2 << 20);
    memory::free(kept).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(reserved(), 0);
}

#[test]
fn what_waits_for_a_stream_is_free_once_its_work_has_finished_though_it_is_gone() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let address = memory::alloc(1000).unwrap();
    stream::sleep(runtime(), stream, 20_000_000).unwrap();
    memory::record_stream(address, stream).unwrap();
    memory::free(address).unwrap();
    assert_eq!(memory::stats(0).unwrap().active.all.current, 1);
    runtime().driver().stream_destroy(made).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(memory::stats(0).unwrap().active.all.current, 0);
    assert_eq!(reserved(), 0);
}

#[test]
fn native_handles_share_the_memory_of_their_stream() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let address = memory::alloc_native(1000, 0, made.handle.0).unwrap();
    memory::free(address).unwrap();
    assert_eq!(memory::alloc_on(1000, stream).unwrap(), address);
    assert!(memory::usable_bytes(address).is_ok());
    memory::free(address).unwrap();
    assert!(memory::usable_bytes(address).is_err());
    runtime().driver().stream_destroy(made).unwrap();
}

#[test]
fn a_noted_stream_that_is_gone_holds_no_memory_for_ever() {
    let _alone = alone();
    let (made, stream) = outside_stream();
    let address = memory::alloc(1000).unwrap();
    memory::record_stream(address, stream).unwrap();
    runtime().driver().stream_destroy(made).unwrap();
    memory::free(address).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(memory::stats(0).unwrap().active.all.current, 0);
    assert_eq!(reserved(), 0);
}
