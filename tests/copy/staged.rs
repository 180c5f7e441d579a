//! Large copies of ordinary memory by the C API, on simulated devices.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard};

use sconce::sconce_status::SCONCE_OK;
use sconce::*;
use testkit::simulated::{Memory, runtime};

static ALONE: Mutex<()> = Mutex::new(());

/// From here on copies are made of pieces.
const LEAST: usize = 512 << 10;

/// Time and counters are the process': one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    runtime();
    alone
}

fn pattern(seed: usize, bytes: usize) -> Vec<u8> {
    let mut state = seed as u32 | 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

fn to_device(memory: &Memory, offset: usize, from: &[u8], non_blocking: bool) {
    let dst = memory.as_ptr().wrapping_byte_add(offset);
    // SAFETY: the source is read before the call returns.
    let status = unsafe { sconce_copy(dst, from.as_ptr().cast(), from.len(), non_blocking.into()) };
    assert_eq!(status, SCONCE_OK);
}

fn to_host(to: &mut [u8], memory: &Memory, offset: usize) {
    let src: *const c_void = memory.as_ptr().wrapping_byte_add(offset);
    // SAFETY: the destination is written before the call returns, however it is asked for.
    let status = unsafe { sconce_copy(to.as_mut_ptr().cast(), src, to.len(), true.into()) };
    assert_eq!(status, SCONCE_OK);
}

fn calls(name: &std::ffi::CStr) -> u64 {
    let mut count = 0;
    // SAFETY: a string and a writable place.
    assert_eq!(unsafe { sconce_sim_get_call_count(name.as_ptr(), &mut count) }, SCONCE_OK);
    count
}

#[test]
fn bytes_arrive_on_both_sides_of_the_threshold() {
    let _alone = alone();
    for bytes in [LEAST - 1, LEAST, LEAST + 1, (33 << 20) + 7] {
        for (host, device) in [(0, 0), (3, 1)] {
            let memory = Memory::new(device + bytes);
            let source = pattern(bytes, host + bytes);
            to_device(&memory, device, &source[host..], false);
            assert!(memory.read(device + bytes)[device..] == source[host..], "{bytes} there");
            let mut back = vec![0xA5; host + bytes + 9];
            to_host(&mut back[host..host + bytes], &memory, device);
            assert!(back[host..host + bytes] == source[host..], "{bytes} back");
            assert!(back[..host].iter().chain(&back[host + bytes..]).all(|byte| *byte == 0xA5));
        }
    }
}

#[test]
fn from_the_threshold_on_a_copy_is_made_of_pieces() {
    let _alone = alone();
    let (memory, source) = (Memory::new(LEAST), pattern(1, LEAST));
    for (bytes, pieces) in [(LEAST - 1, 1..2), (LEAST, 2..100)] {
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        to_device(&memory, 0, &source[..bytes], true);
        assert!(pieces.contains(&calls(c"copy_async")), "{bytes}: {}", calls(c"copy_async"));
    }
}

#[test]
fn the_source_may_be_changed_once_the_call_has_returned() {
    let _alone = alone();
    let (memory, mut source) = (Memory::new(5 << 20), pattern(2, 5 << 20));
    let wanted = source.clone();
    assert_eq!(sconce_sim_set_latency_ns(300_000), SCONCE_OK);
    to_device(&memory, 0, &source, true);
    source.fill(0xEE);
    assert_eq!(sconce_sim_set_latency_ns(0), SCONCE_OK);
    assert!(memory.read(5 << 20) == wanted);
}

#[test]
fn a_copy_to_ordinary_memory_is_done_when_it_returns_behind_slow_work_too() {
    let _alone = alone();
    let bytes = 3 << 20;
    let memory = Memory::new(bytes);
    assert_eq!(sconce_sim_set_latency_ns(1_000_000), SCONCE_OK);
    // SAFETY: memory of the device.
    assert_eq!(unsafe { sconce_memory_set(memory.as_ptr(), 7, bytes) }, SCONCE_OK);
    let mut got = vec![0; bytes];
    to_host(&mut got, &memory, 0);
    assert_eq!(sconce_sim_set_latency_ns(0), SCONCE_OK);
    assert!(got.iter().all(|byte| *byte == 7));
}

#[test]
fn pinned_memory_of_copies_is_in_the_cache_between_them() {
    let _alone = alone();
    let (memory, source) = (Memory::new(LEAST), pattern(3, LEAST));
    to_device(&memory, 0, &source, false);
    let stats = sconce_runtime::host_memory::stats().unwrap();
    assert!(stats.allocated_bytes.current > 0, "nothing was pinned");
    sconce_runtime::host_memory::empty_cache().unwrap();
    assert_eq!(sconce_runtime::host_memory::stats().unwrap().allocated_bytes.current, 0);
    to_device(&memory, 0, &source, false);
    assert!(memory.read(LEAST) == source);
}
