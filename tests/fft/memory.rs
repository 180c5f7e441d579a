//! Memory that is short on either side: a plan takes the allocator's cache and the oldest plans, an
//! allocation the oldest plans.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::fft::{desc, free_bytes, rows, run, stats};
use testkit::{in_child, last_message};

const MIB: usize = 1 << 20;

fn allocated(bytes: usize) -> (sconce_status, *mut std::ffi::c_void) {
    let mut ptr = std::ptr::null_mut();
    // SAFETY: a good place.
    let status = unsafe { sconce_memory_alloc(bytes, &raw mut ptr) };
    if status == sconce_status::SCONCE_OK {
        // SAFETY: memory of a device is checked.
        assert_eq!(unsafe { sconce_memory_set(ptr, 0, bytes) }, status);
    }
    (status, ptr)
}

/// Lengths whose plans take half a MiB for themselves and as much to run, without large factors.
const LENGTHS: [i64; 16] = [
    57_600, 57_624, 58_320, 58_800, 59_049, 60_000, 60_025, 60_750, 61_250, 61_440, 62_208, 62_500,
    63_000, 64_000, 64_512, 65_536,
];
const PLAN: usize = MIB / 2;
const MOST: usize = LENGTHS.len();
const DATA: usize = 16 * MIB;

fn large(which: usize) -> sconce_fft_desc {
    rows(LENGTHS[which], 1)
}

/// Leaves so much of the device.
fn leave(bytes: usize) -> *mut std::ffi::c_void {
    assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
    let (status, ptr) = allocated((free_bytes(0) - bytes) / MIB * MIB);
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    ptr
}

#[test]
fn a_plan_that_finds_no_memory_empties_the_allocators_cache_and_then_ours() {
    let test = "a_plan_that_finds_no_memory_empties_the_allocators_cache_and_then_ours";
    in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_SIM_MEMORY", "64M")], || {
        let (status, data) = allocated(DATA);
        assert_eq!(status, SCONCE_OK);
        let cached = leave(PLAN / 2);
        assert_eq!(sconce_memory_free(cached), SCONCE_OK);
        assert!(free_bytes(0) < PLAN + MIB);
        assert_eq!(run(&large(0), data, data), SCONCE_OK, "{}", last_message());
        assert_eq!(stats(0).plan_bytes as usize, PLAN);
        // Others fill the rest, and the oldest go when there is no more.
        let _rest = leave(5 * MIB);
        let mut made = 1;
        while stats(0).evictions == 0 {
            assert!(made < MOST, "{:?}", stats(0));
            assert_eq!(run(&large(made), data, data), SCONCE_OK, "{}", last_message());
            assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
            made += 1;
        }
        let full = stats(0);
        assert_eq!((full.misses, full.evictions, full.size), (made as u64, 1, made as u64 - 1));
        // The first was the oldest, and the second is the oldest now.
        assert_eq!(run(&large(made - 1), data, data), SCONCE_OK);
        assert_eq!(run(&large(2), data, data), SCONCE_OK);
        assert_eq!((stats(0).misses, stats(0).hits), (full.misses, full.hits + 2));
        assert_eq!(run(&large(0), data, data), SCONCE_OK, "{}", last_message());
        assert_eq!((stats(0).misses, stats(0).evictions), (full.misses + 1, 2));
        assert_eq!(run(&large(2), data, data), SCONCE_OK, "{}", last_message());
        assert_eq!(stats(0).hits, full.hits + 3);
        // One that fits nowhere says so when all others have gone, and takes no place.
        let huge = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F64, &[1 << 19], 1);
        assert_eq!(run(&huge, data, data), SCONCE_ERROR_OUT_OF_MEMORY);
        assert!(last_message().contains("CUFFT_ALLOC_FAILED"), "{}", last_message());
        assert_eq!((stats(0).size, stats(0).bytes), (0, 0));
    });
}

#[test]
fn an_allocation_that_finds_no_memory_takes_the_oldest_plans() {
    let test = "an_allocation_that_finds_no_memory_takes_the_oldest_plans";
    in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_SIM_MEMORY", "64M")], || {
        let (status, data) = allocated(DATA);
        assert_eq!(status, SCONCE_OK);
        let _rest = leave(10 * MIB);
        for which in 0..MOST {
            assert_eq!(run(&large(which), data, data), SCONCE_OK, "{}", last_message());
        }
        assert_eq!((stats(0).size, stats(0).evictions), (MOST as u64, 0));
        // A segment has 2 MiB. The first is what the workspaces had, and there is less than another.
        assert!(free_bytes(0) < 2 * MIB);
        let taken = [(); 3].map(|()| {
            let (status, taken) = allocated(MIB);
            assert_eq!(status, SCONCE_OK, "{}", last_message());
            taken
        });
        // Four at least had to go; one, two and four did.
        let after = stats(0);
        assert_eq!((after.evictions, after.size), (7, MOST as u64 - 7));
        assert_eq!(after.plan_bytes as usize, (MOST - 7) * PLAN);
        for taken in taken {
            assert_eq!(sconce_memory_free(taken), SCONCE_OK);
        }
        for which in 7..MOST {
            assert_eq!(run(&large(which), data, data), SCONCE_OK, "{}", last_message());
        }
        assert_eq!(stats(0).hits, after.hits + MOST as u64 - 7);
        // More than the device has, or than is allowed, takes no plan.
        assert_eq!(allocated(100 * MIB).0, SCONCE_ERROR_OUT_OF_MEMORY);
        assert_eq!(sconce_memory_set_fraction(0.1, 0), SCONCE_OK, "{}", last_message());
        assert_eq!(allocated(12 * MIB).0, SCONCE_ERROR_OUT_OF_MEMORY);
        assert_eq!((stats(0).size, stats(0).evictions), (after.size, after.evictions));
        assert_eq!(sconce_memory_set_fraction(1.0, 0), SCONCE_OK, "{}", last_message());
        // What cannot be had in any way takes all, and fails.
        assert_eq!(allocated(63 * MIB).0, SCONCE_ERROR_OUT_OF_MEMORY);
        assert_eq!(stats(0).size, 0);
    });
}

#[test]
fn plans_that_left_during_a_capture_are_found_by_an_allocation() {
    let test = "plans_that_left_during_a_capture_are_found_by_an_allocation";
    in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_SIM_MEMORY", "64M")], || {
        let (status, data) = allocated(DATA);
        assert_eq!(status, SCONCE_OK);
        for which in 0..MOST {
            assert_eq!(run(&large(which), data, data), SCONCE_OK, "{}", last_message());
        }
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        let _rest = leave(2 * MIB);
        let mut stream = sconce_stream { id: -1, device: -1, reserved: -1 };
        // SAFETY: a good place.
        let status = unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) };
        assert_eq!(status, SCONCE_OK);
        assert_eq!(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_GLOBAL), SCONCE_OK);
        assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
        assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "{}", last_message());
        // A wait for the device would destroy them.
        let driver = sconce_runtime::context::runtime().unwrap().driver();
        let free = driver.memory_info(sconce_base::types::DeviceIndex::ZERO).unwrap().free_bytes;
        assert!(free < 4 * MIB, "they are not gone yet");
        // Two in each segment.
        for _ in 0..8 {
            assert_eq!(allocated(MIB).0, SCONCE_OK, "{}", last_message());
        }
    });
}

/// Memory for the observer, and how its transform went.
static OBSERVED: AtomicUsize = AtomicUsize::new(0);
static NESTED: AtomicI32 = AtomicI32::new(-1);

unsafe extern "C" fn transform(_: i32, _: usize, _: usize, _: usize, _: *mut std::ffi::c_void) {
    let at = std::ptr::with_exposed_provenance_mut(OBSERVED.load(Ordering::Relaxed));
    NESTED.store(run(&rows(8, 1), at, at) as i32, Ordering::Relaxed);
}

#[test]
fn an_observer_may_transform_while_a_transform_finds_no_memory() {
    let test = "an_observer_may_transform_while_a_transform_finds_no_memory";
    in_child(test, &[("SCONCE_BACKEND", "sim"), ("SCONCE_SIM_MEMORY", "64M")], || {
        let (status, data) = allocated(DATA);
        assert_eq!(status, SCONCE_OK);
        OBSERVED.store(data.expose_provenance(), Ordering::Relaxed);
        let mut id = 0;
        // SAFETY: a function of this type, and a good place.
        let status = unsafe {
            sconce_memory_attach_oom_observer(Some(transform), std::ptr::null_mut(), &raw mut id)
        };
        assert_eq!(status, SCONCE_OK);
        // The second finds what the thread remembers.
        for _ in 0..2 {
            assert_eq!(run(&large(0), data, data), SCONCE_OK, "{}", last_message());
        }
        let rest = leave(MIB);
        assert_eq!(run(&large(0), data, data), SCONCE_ERROR_OUT_OF_MEMORY);
        assert_eq!(NESTED.load(Ordering::Relaxed), SCONCE_OK as i32, "{}", last_message());
        assert_eq!(sconce_memory_free(rest), SCONCE_OK);
        assert_eq!(run(&large(0), data, data), SCONCE_OK, "{}", last_message());
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    });
}
