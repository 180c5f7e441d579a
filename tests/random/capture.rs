//! Fills amid captures, through the C API, on simulated devices. A capture holds back all threads of a
//! process, so this is one test; replays are `random_graph`'s, on a GPU.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::simulated::{Memory, generator, runtime, state};

const N: usize = 1000;
const BYTES: usize = 4 * N;

/// A stream of the current device, now current.
fn current_stream_from_pool() -> sconce_stream {
    let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &mut stream) }, SCONCE_OK);
    assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
    stream
}

fn fill(memory: &Memory, generator: *mut sconce_generator) -> sconce_status {
    sconce_random_uniform(memory.as_ptr(), N, SCONCE_DTYPE_F32, 0.0, 1.0, generator)
}

fn filled(memory: &Memory, generator: *mut sconce_generator) -> Vec<u8> {
    assert_eq!(fill(memory, generator), SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    memory.read(BYTES)
}

fn allocations() -> u64 {
    let mut count = 0;
    // SAFETY: a NUL-terminated name and a writable place.
    let status = unsafe { sconce_sim_get_call_count(c"memory_alloc".as_ptr(), &mut count) };
    assert_eq!(status, SCONCE_OK);
    count
}

#[test]
fn the_first_fill_of_a_device_may_be_captured() {
    runtime();
    let memory = Memory::new(BYTES);
    let (captured, plain) = (generator(42), generator(42));
    let stream = current_stream_from_pool();

    // Without memory for it the fill is refused; the capture and the generator are as before.
    // SAFETY: a NUL-terminated name.
    let injected = unsafe { sconce_sim_inject_fault(c"memory_alloc".as_ptr(), 1, 2) };
    assert_eq!(injected, SCONCE_OK);
    assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
    assert_eq!(fill(&memory, captured), SCONCE_ERROR_OUT_OF_MEMORY);
    assert!(last_message().contains("captured fill"), "{}", last_message());
    assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK);
    assert_eq!(state(captured), state(plain));

    let before = (memory.read(BYTES), allocations());
    assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
    assert_eq!(fill(&memory, captured), SCONCE_OK, "{}", last_message());
    assert_eq!(allocations(), before.1 + 1);
    assert_eq!(fill(&memory, captured), SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_generator_prepare_capture(captured), SCONCE_OK);
    assert_eq!(allocations(), before.1 + 1, "the store lasts for many fills");
    // The state is refused, and the capture survives the question.
    let mut offset = 0;
    // SAFETY: a writable place.
    let asked = unsafe { sconce_generator_get_offset(captured, &mut offset) };
    assert_eq!(asked, SCONCE_ERROR_INVALID_STATE);
    assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "{}", last_message());
    assert_eq!(memory.read(BYTES), before.0, "captured fills do not run");

    // From now on the truth is on the device, and ordinary fills go on from it.
    assert_eq!(state(captured), state(plain));
    for _ in 0..2 {
        assert_eq!(filled(&memory, captured), filled(&memory, plain));
        assert_eq!(state(captured), state(plain));
    }

    // The capture holds back other threads; their first fill on another device does not mind.
    let mut there = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_sim_memory_alloc(1, BYTES, &mut there) }, SCONCE_OK);
    let there = there.addr();
    assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
    let before = allocations();
    std::thread::spawn(move || first_fill_of_device_one(there)).join().unwrap();
    assert_eq!(allocations(), before + 1);
    assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "{}", last_message());
}

fn first_fill_of_device_one(address: usize) {
    assert_eq!(sconce_device_set_current(1), SCONCE_OK);
    let mut own = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_generator_create(1, &mut own) }, SCONCE_OK);
    let there = std::ptr::without_provenance_mut(address);
    let status = sconce_random_uniform(there, N, SCONCE_DTYPE_F32, 0.0, 1.0, own);
    assert_eq!(status, SCONCE_OK, "{}", last_message());
}
