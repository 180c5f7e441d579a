//! What a launch does, and which are refused.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::pooled;
use testkit::simulated::Memory;

use crate::support::{self, desc, fill_values, filler, launch, launch_fill, numbers, ptx};

#[test]
fn a_launch_runs_in_stream_order_with_values_that_were_copied() {
    let (_, kernel) = filler();
    let memory = Memory::new(4096);
    let stream = pooled(0);
    assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
    for value in 0..3 {
        // Each set of values is gone long before its launch runs.
        assert_eq!(
            launch_fill(kernel, &memory, 1000 - u64::from(value) * 300, value, Some(stream)),
            SCONCE_OK
        );
    }
    let mut pending = 0;
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_sim_get_pending(stream, &mut pending) }, SCONCE_OK);
    assert_eq!(pending, 3, "launches are queued");
    assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    let found = numbers(&memory, 1024);
    let expected = [(400, 2), (300, 1), (300, 0), (24, u32::MAX)];
    let expected: Vec<u32> = expected.iter().flat_map(|(n, value)| vec![*value; *n]).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_launch_goes_to_the_current_stream_and_device() {
    let (_, kernel) = filler();
    let memory = Memory::new(4096);
    let stream = pooled(0);
    assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
    assert_eq!(sconce_stream_sleep(stream, 300_000_000), SCONCE_OK);
    assert_eq!(launch_fill(kernel, &memory, 1, 7, None), SCONCE_OK);
    let mut idle = true;
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_stream_query(stream, &mut idle) }, SCONCE_OK);
    assert!(!idle);
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    assert_eq!(numbers(&memory, 1), [7]);
    // On the other device the same kernel is loaded once more, and sees that device's memory only.
    assert_eq!(sconce_device_set_current(1), SCONCE_OK);
    let mut other = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_sim_memory_alloc(1, 4096, &mut other) }, SCONCE_OK);
    let values = fill_values(other as u64, 3, 9);
    assert_eq!(launch(kernel, &desc(1, 256), &values, None), SCONCE_OK, "{}", last_message());
    let mut found = [0_u32; 3];
    // SAFETY: so many bytes.
    let read = unsafe { sconce_sim_memory_read(other, 12, found.as_mut_ptr().cast()) };
    assert_eq!((read, found), (SCONCE_OK, [9; 3]));
}

#[test]
fn values_that_are_not_the_kernels_are_refused_by_number_and_size() {
    let (_, kernel) = filler();
    let memory = Memory::new(64);
    let good = fill_values(memory.as_ptr() as u64, 1, 5);
    let one = desc(1, 1);
    for (values, words) in [
        (good[..2].to_vec(), "argument_count is 2; kernel test_fill has 3 parameters"),
        (Vec::new(), "argument_count is 0; kernel test_fill has 3"),
        ([&good[..], &good[..1]].concat(), "argument_count is 4;"),
        (vec![good[0].clone(), good[1][..4].to_vec(), good[2].clone()], "argument_bytes[1] is 4;"),
        (vec![good[0].clone(), good[1].clone(), good[1].clone()], "argument_bytes[2] is 8;"),
    ] {
        assert_eq!(launch(kernel, &one, &values, None), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().starts_with(words), "{}", last_message());
    }
    let value = 0_u64;
    let place: *const c_void = std::ptr::from_ref(&value).cast();
    let (addresses, bytes) = ([place, std::ptr::null(), place], [8, 8, 4]);
    // SAFETY: NULL is refused.
    let status =
        unsafe { sconce_kernel_launch(kernel, &one, addresses.as_ptr(), bytes.as_ptr(), 3) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("arguments[1] is NULL"), "{}", last_message());
    // SAFETY: more than any kernel has, which are not read.
    let status =
        unsafe { sconce_kernel_launch(kernel, &one, addresses.as_ptr(), bytes.as_ptr(), 4097) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK, "nothing ran");
    assert_eq!(numbers(&memory, 1), [u32::MAX]);
}

#[test]
fn configurations_that_no_device_accepts_are_refused_with_the_kernels_name() {
    let (_, kernel) = filler();
    let memory = Memory::new(64);
    let values = fill_values(memory.as_ptr() as u64, 0, 5);
    let with = |change: &dyn Fn(&mut sconce_launch_desc)| {
        let mut desc = desc(4, 32);
        change(&mut desc);
        launch(kernel, &desc, &values, None)
    };
    type Change = dyn Fn(&mut sconce_launch_desc);
    let refused: [(&Change, [&str; 2]); 7] = [
        (&|desc| desc.grid[0] = 0, ["desc.grid 0 x 1 x 1,", "must not be empty"]),
        (&|desc| desc.block[0] = 0, ["desc.block 0 x 1 x 1,", "must not be empty"]),
        (&|desc| desc.block = [1025, 1, 1], ["desc.block 1025 x 1 x 1,", "1024 threads, not 1025"]),
        (&|desc| desc.block = [32, 32, 2], ["desc.block 32 x 32 x 2,", "1024 threads, not 2048"]),
        (&|desc| desc.cluster = [3, 1, 1], ["desc.cluster 3 x 1 x 1,", "not a multiple of the"]),
        (
            &|desc| (desc.grid, desc.cluster) = ([16, 1, 1], [16, 1, 1]),
            ["desc.cluster 16 x 1 x 1,", "at most 8 blocks, not 16"],
        ),
        (&|desc| desc.shared_bytes = 227 << 10, ["shared_bytes", "bytes of dynamic shared memory"]),
    ];
    for (at, (change, words)) in refused.into_iter().enumerate() {
        assert_eq!(with(change), SCONCE_ERROR_INVALID_ARGUMENT, "{at}");
        let why = last_message();
        assert_eq!(why.matches("test_fill").count(), 1, "{at}: {why}");
        assert!(words.iter().all(|words| why.contains(words)), "{at}: {why}");
        assert!(!why.contains(['{', '}']), "{at} prints the fields of a struct: {why}");
    }
    let accepted: [&dyn Fn(&mut sconce_launch_desc); 6] = [
        &|_| (),
        &|desc| (desc.grid, desc.block) = ([4, 0, 0], [32, 0, 0]),
        &|desc| desc.cluster = [2, 0, 0],
        &|desc| desc.cooperative = CBool::TRUE,
        &|desc| desc.shared_bytes = 48 << 10,
        &|desc| desc.shared_bytes = 226 << 10,
    ];
    for (at, change) in accepted.into_iter().enumerate() {
        assert_eq!(with(change), SCONCE_OK, "{at}: {}", last_message());
    }
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
}

static SEEN: [AtomicU64; 12] = [const { AtomicU64::new(0) }; 12];

unsafe extern "C" fn note(launch: *mut sconce_sim_launch, _: *mut c_void) {
    // SAFETY: the simulator's launch.
    let launch = unsafe { &*launch };
    let numbers = [launch.grid, launch.block, launch.cluster].concat();
    let others = [launch.shared_bytes, launch.device as u32, launch.argument_count as u32];
    for (place, number) in SEEN.iter().zip(numbers.iter().chain(&others)) {
        place.store(u64::from(*number), Ordering::SeqCst);
    }
}

#[test]
fn the_function_sees_the_configuration() {
    testkit::simulated::runtime();
    assert_eq!(support::register("note", &[], Some(note), null_mut(), None), SCONCE_OK);
    let module = support::load(ptx(&["note"]).as_bytes()).unwrap();
    let kernel = support::get(module, "note").unwrap();
    let mut desc = desc(6, 7);
    (desc.grid, desc.block, desc.cluster) = ([6, 4, 2], [7, 3, 5], [3, 2, 1]);
    desc.shared_bytes = 100;
    let stream = sconce_stream { id: 0, device: 1, reserved: 0 };
    assert_eq!(launch(kernel, &desc, &[], Some(stream)), SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    let seen: Vec<u64> = SEEN.iter().map(|place| place.load(Ordering::SeqCst)).collect();
    assert_eq!(seen, [6, 4, 2, 7, 3, 5, 3, 2, 1, 100, 1, 0]);
}

#[test]
fn attributes_and_occupancy_follow_what_was_registered() {
    let (_, kernel) = filler();
    let mut found = sconce_kernel_attributes {
        struct_size: size_of::<sconce_kernel_attributes>() as u32,
        registers: 0,
        static_shared_bytes: 0,
        local_bytes: 9,
        constant_bytes: 9,
        max_threads_per_block: 0,
        dynamic_shared_bytes: 0,
        most_dynamic_shared_bytes: 0,
    };
    let mut attributes = |device| {
        // SAFETY: a struct of this version.
        assert_eq!(unsafe { sconce_kernel_get_attributes(kernel, device, &mut found) }, SCONCE_OK);
        found
    };
    let found = attributes(0);
    assert_eq!((found.registers, found.static_shared_bytes), (32, 1024));
    assert_eq!(
        (found.local_bytes, found.constant_bytes, found.max_threads_per_block),
        (0, 0, 1024)
    );
    assert_eq!(found.dynamic_shared_bytes, 47 << 10);
    assert_eq!(found.most_dynamic_shared_bytes, 226 << 10);
    assert_eq!(sconce_kernel_allow_shared(kernel, 0, 100 << 10), SCONCE_OK);
    assert_eq!(attributes(0).dynamic_shared_bytes, 100 << 10);
    assert_eq!(attributes(1).dynamic_shared_bytes, 47 << 10, "each device for itself");
    assert_eq!(sconce_kernel_allow_shared(kernel, 0, 8), SCONCE_OK, "less changes nothing");
    assert_eq!(attributes(0).dynamic_shared_bytes, 100 << 10);
    let status = sconce_kernel_allow_shared(kernel, 0, (226 << 10) + 1);
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("at most 231424 bytes"), "{}", last_message());

    let (mut blocks, mut threads, mut min_blocks) = (0, 0, 0);
    // SAFETY: writable places.
    let mut occupancy = |threads, shared| unsafe {
        (sconce_kernel_get_occupancy(kernel, 0, threads, shared, &mut blocks), blocks)
    };
    assert_eq!(occupancy(256, 0), (SCONCE_OK, 8));
    assert_eq!(occupancy(256, 112 << 10), (SCONCE_OK, 2));
    assert_eq!(occupancy(2000, 0), (SCONCE_OK, 0));
    assert_eq!(occupancy(0, 0).0, SCONCE_ERROR_INVALID_ARGUMENT);
    // SAFETY: writable places.
    let status =
        unsafe { sconce_kernel_get_best_block(kernel, 0, 0, 300, &mut threads, &mut min_blocks) };
    assert_eq!((status, threads, min_blocks), (SCONCE_OK, 256, 8 * 132));
}
