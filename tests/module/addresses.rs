//! Addresses that a kernel may not use.

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::simulated::Memory;

use crate::support::{
    desc, fill_values, filler, get, launch, launch_fill, load, numbers, ptx, register,
};

fn backend_code() -> i32 {
    sconce_last_error_backend_code()
}

#[test]
fn a_bad_address_fails_the_device_with_the_kernels_name_and_the_block_it_missed() {
    let (_, kernel) = filler();
    let memory = Memory::new(4096);
    // 1024 numbers fit; the fifth block writes the next.
    assert_eq!(launch_fill(kernel, &memory, 1300, 5, None), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_ERROR_DRIVER);
    assert_eq!(backend_code(), 700);
    let end = memory.as_ptr() as u64 + 4096;
    let words = format!(
        "kernel test_fill, block [4, 0, 0], thread [0, 0, 0]: it writes 4 bytes at {end:#x}"
    );
    assert!(last_message().contains(&words), "{}", last_message());
    // It sticks, and the other device goes on.
    assert_eq!(launch_fill(kernel, &memory, 1, 5, None), SCONCE_ERROR_DRIVER);
    assert!(last_message().contains("kernel test_fill"), "{}", last_message());
    assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
    assert_eq!(sconce_sim_clear_device_error(0), SCONCE_OK);
    assert_eq!(numbers(&memory, 1024), [5; 1024]);
    assert_eq!(launch_fill(kernel, &memory, 1, 6, None), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
}

#[test]
fn memory_of_the_host_and_of_other_devices_is_as_bad() {
    let (_, kernel) = filler();
    let host = 0_u32;
    let mut other: *mut c_void = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_sim_memory_alloc(1, 64, &mut other) }, SCONCE_OK);
    for address in [std::ptr::from_ref(&host) as u64, other as u64, 0, 8, u64::MAX] {
        let values = fill_values(address, 1, 5);
        assert_eq!(launch(kernel, &desc(1, 1), &values, None), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(0), SCONCE_ERROR_DRIVER, "{address:#x}");
        assert_eq!(backend_code(), 700);
        assert_eq!(sconce_sim_clear_device_error(0), SCONCE_OK);
    }
    assert_eq!(host, 0);
    assert_eq!(sconce_device_enable_peer_access(0, 1), SCONCE_OK);
    assert_eq!(launch(kernel, &desc(1, 1), &fill_values(other as u64, 1, 5), None), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK, "{}", last_message());
}

#[test]
fn memory_that_is_freed_before_the_launch_runs_is_missed() {
    let (_, kernel) = filler();
    let memory = Memory::new(4096);
    assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
    assert_eq!(launch_fill(kernel, &memory, 1, 5, None), SCONCE_OK);
    // Freeing waits for the device in manual mode as well, so another thread takes the step.
    std::thread::scope(|scope| {
        scope.spawn(|| drop(memory));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
    });
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK, "freeing waits for the launch");
    let values = fill_values(memory_that_was(), 1, 5);
    assert_eq!(launch(kernel, &desc(1, 1), &values, None), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_ERROR_DRIVER);
}

fn memory_that_was() -> u64 {
    Memory::new(4096).as_ptr() as u64
}

unsafe extern "C" fn asserts(launch: *mut sconce_sim_launch, _: *mut c_void) {
    // SAFETY: the simulator's launch.
    unsafe { (*launch).block_index = [1, 2, 3] };
    // SAFETY: a text.
    unsafe {
        assert_eq!(sconce_sim_kernel_fail(0, c"none".as_ptr()), SCONCE_ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: a text.
    assert_eq!(unsafe { sconce_sim_kernel_fail(710, c"n is odd".as_ptr()) }, SCONCE_OK);
    let mut data = 0_u32;
    let place: *mut c_void = std::ptr::from_mut(&mut data).cast();
    // SAFETY: four bytes.
    let read = unsafe { sconce_sim_kernel_read(0, 4, place) };
    assert_eq!(read, SCONCE_ERROR_INVALID_STATE, "the launch has failed");
}

#[test]
fn a_function_may_fail_its_launch() {
    testkit::simulated::runtime();
    assert_eq!(register("asserts", &[], Some(asserts), null_mut(), None), SCONCE_OK);
    let kernel = get(load(ptx(&["asserts"]).as_bytes()).unwrap(), "asserts").unwrap();
    assert_eq!(launch(kernel, &desc(1, 1), &[], None), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_ERROR_DRIVER);
    assert_eq!(backend_code(), 710);
    let words = "kernel asserts, block [1, 2, 3], thread [0, 0, 0]: n is odd";
    assert!(last_message().contains(words), "{}", last_message());
}

#[test]
fn only_the_function_of_a_launch_reaches_device_memory() {
    let memory = Memory::new(64);
    let mut data = [0_u8; 4];
    let (address, place) = (memory.as_ptr() as u64, data.as_mut_ptr().cast::<c_void>());
    // SAFETY: four bytes.
    assert_eq!(unsafe { sconce_sim_kernel_read(address, 4, place) }, SCONCE_ERROR_INVALID_STATE);
    // SAFETY: four bytes.
    assert_eq!(unsafe { sconce_sim_kernel_write(address, 4, place) }, SCONCE_ERROR_INVALID_STATE);
    // SAFETY: a text.
    let failed = unsafe { sconce_sim_kernel_fail(1, c"why".as_ptr()) };
    assert_eq!(failed, SCONCE_ERROR_INVALID_STATE);
    assert!(last_message().contains("no function that stands for a kernel"), "{}", last_message());
}
