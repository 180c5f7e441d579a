//! Generators and fills through the C API: states, seeds, threads, what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{own_stream, pooled};
use testkit::simulated::{self, Memory, generator, state};
use testkit::{in_child, last_message};

const SIM: (&str, &str) = ("SCONCE_BACKEND", "sim");
const NOWHERE: (&str, &str) = ("SCONCE_LIBCUDA", "libcuda-that-is-not-there.so.1");

fn default_generator(device: i32) -> Result<*mut sconce_generator, sconce_status> {
    let mut generator = null_mut();
    // SAFETY: a writable place.
    match unsafe { sconce_generator_get_default(device, &mut generator) } {
        SCONCE_OK => Ok(generator),
        status => Err(status),
    }
}

fn seed_of(generator: *mut sconce_generator) -> u64 {
    let mut seed = 0;
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_generator_get_initial_seed(generator, &mut seed) }, SCONCE_OK);
    seed
}

fn offset_of(generator: *mut sconce_generator) -> u64 {
    let mut offset = 0;
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_generator_get_offset(generator, &mut offset) }, SCONCE_OK);
    offset
}

fn reserve(generator: *mut sconce_generator, increment: u64) -> (u64, u64) {
    let (mut seed, mut offset) = (0, 0);
    // SAFETY: writable places.
    let status =
        unsafe { sconce_generator_reserve_philox(generator, increment, &mut seed, &mut offset) };
    assert_eq!(status, SCONCE_OK);
    (seed, offset)
}

fn set_state(generator: *mut sconce_generator, bytes: &[u8]) -> sconce_status {
    // SAFETY: so many readable bytes.
    unsafe { sconce_generator_set_state(generator, bytes.as_ptr(), bytes.len()) }
}

#[test]
fn states_are_seed_and_offset_and_travel_between_generators() {
    let first = generator(0x0123_4567_89ab_cdef);
    assert_eq!(sconce_generator_set_offset(first, 0x40), SCONCE_OK);
    let bytes = state(first);
    assert_eq!(bytes[..8], 0x0123_4567_89ab_cdef_u64.to_le_bytes());
    assert_eq!(bytes[8..], 0x40_u64.to_le_bytes());
    let second = generator(1);
    assert_eq!(set_state(second, &bytes), SCONCE_OK);
    assert_eq!(reserve(second, 1), (0x0123_4567_89ab_cdef, 0x40));
    assert_eq!(set_state(second, &bytes[..8]), SCONCE_OK);
    assert_eq!((seed_of(second), offset_of(second)), (0x0123_4567_89ab_cdef, 0));
    for length in [0, 7, 9, 15] {
        assert_eq!(set_state(second, &bytes[..length]), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().contains("RNG state is wrong size"), "{}", last_message());
    }
    assert_eq!(set_state(second, &[0; 816]), SCONCE_ERROR_INVALID_ARGUMENT);
    let mut odd = bytes;
    odd[8] = 0x41;
    assert_eq!(set_state(second, &odd), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("offset must be a multiple of 4"), "{}", last_message());
    assert_eq!(sconce_generator_set_offset(second, 2), SCONCE_ERROR_INVALID_ARGUMENT);
    assert_eq!(offset_of(second), 0, "a refused call changes nothing");
}

#[test]
fn generators_are_made_cloned_and_destroyed() {
    let mut made = null_mut();
    simulated::runtime();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_generator_create(1, &mut made) }, SCONCE_OK);
    assert_eq!((seed_of(made), offset_of(made)), (67_280_421_310_721, 0));
    assert_eq!(reserve(made, 5), (67_280_421_310_721, 0));
    assert_eq!(offset_of(made), 8, "rounded up to a multiple of 4");
    let mut clone = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_generator_clone(made, &mut clone) }, SCONCE_OK);
    assert_eq!(state(clone), state(made));
    reserve(clone, 4);
    assert_ne!(state(clone), state(made));
    assert_eq!(sconce_generator_destroy(made), SCONCE_OK);
    assert_eq!(sconce_generator_destroy(made), SCONCE_ERROR_INVALID_HANDLE);
    assert_eq!(sconce_generator_set_seed(made, 1), SCONCE_ERROR_INVALID_HANDLE);
    assert_eq!(offset_of(clone), 12);
    assert_eq!(sconce_generator_destroy(clone), SCONCE_OK);
    assert_eq!(sconce_generator_destroy(null_mut()), SCONCE_OK);
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_generator_create(9, &mut made) }, SCONCE_ERROR_INVALID_DEVICE);
    let default = default_generator(1).unwrap();
    assert_eq!(sconce_generator_destroy(default), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("default generator of device 1"), "{}", last_message());
    assert_eq!(default_generator(1), Ok(default));
}

#[test]
fn the_offset_wraps_as_a_number_of_64_bits() {
    let generator = generator(0);
    assert_eq!(sconce_generator_set_offset(generator, u64::MAX - 3), SCONCE_OK);
    assert_eq!(reserve(generator, 8), (0, u64::MAX - 3));
    assert_eq!(offset_of(generator), 4);
}

#[test]
fn threads_reserve_pieces_that_do_not_overlap() {
    let shared = generator(5) as usize;
    let mut pieces: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(move || {
                    let generator = shared as *mut sconce_generator;
                    (0..2000).map(|_| reserve(generator, 4).1).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    pieces.sort_unstable();
    let expected: Vec<u64> = (0..16_000).map(|i| 4 * i).collect();
    assert_eq!(pieces, expected);
}

#[test]
fn seeds_of_the_process_wait_for_a_device() {
    in_child("seeds_of_the_process_wait_for_a_device", &[SIM], || {
        assert_eq!(sconce_random_manual_seed_all(11), SCONCE_OK);
        assert_eq!(sconce_random_manual_seed(12), SCONCE_OK);
        assert!(!sconce_is_initialized(), "seeding initialises nothing");
        assert_eq!(seed_of(default_generator(0).unwrap()), 12);
        assert_eq!(seed_of(default_generator(1).unwrap()), 11);
        assert_eq!(sconce_random_manual_seed_all(13), SCONCE_OK);
        let mut seed = 0;
        // SAFETY: a writable place.
        assert_eq!(unsafe { sconce_random_get_initial_seed(&mut seed) }, SCONCE_OK);
        assert_eq!(seed, 13);
        assert_eq!(sconce_device_set_current(1), SCONCE_OK);
        assert_eq!(sconce_random_manual_seed(14), SCONCE_OK);
        let seeds = [0, 1].map(|device| seed_of(default_generator(device).unwrap()));
        assert_eq!(seeds, [13, 14]);
        // SAFETY: a writable place.
        assert_eq!(unsafe { sconce_random_seed(&mut seed) }, SCONCE_OK);
        let seeds = [0, 1].map(|device| seed_of(default_generator(device).unwrap()));
        assert_eq!(seeds, [13, seed]);
        // SAFETY: a writable place.
        assert_eq!(unsafe { sconce_random_seed_all(&mut seed) }, SCONCE_OK);
        let seeds = [0, 1].map(|device| seed_of(default_generator(device).unwrap()));
        assert_eq!(seeds, [seed, seed]);
        assert!(seed < 1 << 53);
    });
}

#[test]
fn without_a_device_seeding_succeeds_and_drawing_says_why_not() {
    in_child("without_a_device_seeding_succeeds_and_drawing_says_why_not", &[NOWHERE], || {
        assert_eq!(sconce_random_manual_seed(1), SCONCE_OK);
        assert_eq!(sconce_random_manual_seed_all(2), SCONCE_OK);
        assert_eq!(default_generator(0), Err(SCONCE_ERROR_NO_DEVICE));
        let mut seed = 0;
        // SAFETY: a writable place.
        assert_eq!(unsafe { sconce_random_seed(&mut seed) }, SCONCE_OK);
        assert_ne!(seed, 0, "the seed that was chosen");
        let status = sconce_random_full_range(null_mut(), 0, SCONCE_DTYPE_U8, null_mut());
        assert_eq!(status, SCONCE_ERROR_NO_DEVICE);
    });
}

#[test]
fn a_fill_without_a_generator_uses_the_default_one() {
    in_child("a_fill_without_a_generator_uses_the_default_one", &[], || {
        simulated::runtime();
        assert_eq!(sconce_random_manual_seed(21), SCONCE_OK);
        let memory = Memory::new(4096);
        let own = generator(21);
        let mut results = Vec::new();
        for generator in [null_mut(), own, default_generator(0).unwrap(), own] {
            let status =
                sconce_random_uniform(memory.as_ptr(), 1000, SCONCE_DTYPE_F32, 0.0, 1.0, generator);
            assert_eq!(status, SCONCE_OK, "{}", last_message());
            results.push(memory.read(4000));
        }
        assert_eq!(results[0], results[1]);
        assert_eq!(results[2], results[3]);
        assert_ne!(results[0], results[2]);
        assert_eq!(offset_of(default_generator(0).unwrap()), 8);
    });
}

#[test]
fn complex_numbers_are_pairs() {
    let (first, second) = (generator(33), generator(33));
    let memory = Memory::new(16 * 600);
    let std = 2.0 / std::f64::consts::SQRT_2;
    for (complex, real) in
        [(SCONCE_DTYPE_C64, SCONCE_DTYPE_F32), (SCONCE_DTYPE_C128, SCONCE_DTYPE_F64)]
    {
        let ptr = memory.as_ptr();
        let bytes = if complex == SCONCE_DTYPE_C64 { 8 } else { 16 } * 600;
        assert_eq!(sconce_random_normal(ptr, 600, complex, 1.0, 2.0, first), SCONCE_OK);
        let pairs = memory.read(bytes);
        assert_eq!(sconce_random_normal(ptr, 1200, real, 1.0, std, second), SCONCE_OK);
        assert!(pairs == memory.read(bytes));
        assert_eq!(state(first), state(second));
    }
}

#[test]
fn nothing_to_fill_reserves_nothing() {
    let generator = generator(1);
    let fill = |n, ptr| sconce_random_uniform(ptr, n, SCONCE_DTYPE_F32, 0.0, 1.0, generator);
    assert_eq!(fill(0, null_mut()), SCONCE_OK);
    assert_eq!(offset_of(generator), 0);
    assert_eq!(fill(1, null_mut()), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("ptr is NULL"), "{}", last_message());
    assert_eq!(offset_of(generator), 0, "a refused fill reserves nothing");
}

#[test]
fn what_cannot_be_filled_is_refused_by_name() {
    simulated::runtime();
    let generator = generator(1);
    let memory = Memory::new(4096);
    let ptr = memory.as_ptr();
    let uniform = |ptr, n, dtype| sconce_random_uniform(ptr, n, dtype, 0.0, 1.0, generator);
    let inside = std::ptr::without_provenance_mut(ptr as usize + 2);
    let mut host = [0_u32; 4];
    let host = host.as_mut_ptr().cast();
    for (ptr, n, dtype, expected, words) in [
        (ptr, 4, 22, SCONCE_ERROR_INVALID_ARGUMENT, "dtype is 22"),
        (
            ptr,
            4,
            SCONCE_DTYPE_I32,
            SCONCE_ERROR_NOT_SUPPORTED,
            "uniform is not supported for dtype SCONCE_DTYPE_I32",
        ),
        (
            inside,
            4,
            SCONCE_DTYPE_F32,
            SCONCE_ERROR_INVALID_ARGUMENT,
            "not aligned for SCONCE_DTYPE_F32",
        ),
        (host, 4, SCONCE_DTYPE_F32, SCONCE_ERROR_INVALID_ARGUMENT, "no device can write"),
        (ptr, usize::MAX / 2, SCONCE_DTYPE_F32, SCONCE_ERROR_INVALID_ARGUMENT, "n is"),
        // Past the end of the memory: as a launch it would have ended the device.
        (
            ptr,
            1 << 20,
            SCONCE_DTYPE_F32,
            SCONCE_ERROR_INVALID_ARGUMENT,
            "has less than 4194304 bytes",
        ),
    ] {
        assert_eq!(uniform(ptr, n, dtype), expected, "{words}");
        assert!(last_message().contains(words), "{}", last_message());
    }
    let mut there = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_generator_create(1, &mut there) }, SCONCE_OK);
    assert_eq!(sconce_random_full_range(ptr, 4, SCONCE_DTYPE_U8, there), SCONCE_ERROR_CROSS_DEVICE);
    assert!(last_message().contains("generator belongs to device 1"), "{}", last_message());
    assert_eq!(offset_of(generator), 0);
    assert_eq!(uniform(ptr, 1024, SCONCE_DTYPE_F32), SCONCE_OK, "all of it, on a device unharmed");
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
}

#[test]
fn reserving_for_a_launch_gives_numbers_outside_captures() {
    let generator = generator(9);
    let mut drawn = sconce_philox_state { seed: 1, offset: 1, device_state: std::ptr::dangling() };
    for offset in [0, 12] {
        // SAFETY: a writable place.
        let status = unsafe { sconce_generator_reserve_philox_state(generator, 10, &mut drawn) };
        assert_eq!(status, SCONCE_OK);
        assert_eq!((drawn.seed, drawn.offset, drawn.device_state.is_null()), (9, offset, true));
    }
    assert_eq!(sconce_generator_prepare_capture(generator), SCONCE_OK);
}

/// A kernel's numbers depend on whether the stream of its launch is captured, and not on the current stream.
#[test]
fn reserving_for_a_launch_on_a_stream_follows_the_stream() {
    let test = "reserving_for_a_launch_on_a_stream_follows_the_stream";
    in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off")], || {
        let (mine, named) = (own_stream(0), pooled(0));
        let reserve = |generator, stream| {
            let mut drawn = sconce_philox_state { seed: 1, offset: 1, device_state: null_mut() };
            // SAFETY: a writable place.
            let status = unsafe {
                sconce_generator_reserve_philox_state_on(generator, 10, stream, &mut drawn)
            };
            (status, drawn.seed, drawn.offset, !drawn.device_state.is_null())
        };
        let untouched = (1, 1, false);
        for (captured, in_capture) in [(mine, false), (named, true)] {
            let generator = generator(9);
            assert_eq!(reserve(generator, named), (SCONCE_OK, 9, 0, false));
            assert_eq!(sconce_sim_begin_capture(captured, SCONCE_CAPTURE_RELAXED), SCONCE_OK);
            let (status, seed, offset, is_on_device) = reserve(generator, named);
            assert_eq!((status, is_on_device), (SCONCE_OK, in_capture), "{}", last_message());
            assert_eq!((seed, offset), if in_capture { (0, 0) } else { (9, 12) });
            assert_eq!(sconce_sim_end_capture(captured), SCONCE_OK, "{}", last_message());
            let (status, seed, offset, is_on_device) = reserve(generator, pooled(1));
            assert_eq!(status, SCONCE_ERROR_CROSS_DEVICE);
            assert_eq!((seed, offset, is_on_device), untouched);
            assert!(last_message().contains("stream is of device 1"), "{}", last_message());
        }
    });
}
