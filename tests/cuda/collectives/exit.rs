//! Processes that end while a call of NCCL, which was given up, still runs.

use std::ptr::null_mut;
use std::time::Duration;

use sconce::*;
use testkit::fake_cuda::Built;

use super::fake::open;
use sconce_driver::CommOptions;
use sconce_driver::prelude::*;

#[test]
fn calls_that_nobody_waits_for_any_more_count_until_they_end() {
    let nccl = open(&[]);
    let pending = || nccl.cuda.driver.comm_pending();
    assert_eq!(pending(), 0);
    nccl.set("hold", 1);
    let ends = nccl.begin(&CommOptions::default()).unwrap();
    drop(ends);
    assert_eq!(pending(), 1);
    nccl.set("hold", 0);
    let start = std::time::Instant::now();
    while pending() != 0 {
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_process_ends_only_once_a_call_that_was_given_up_has_ended() {
    const TEST: &str = "a_process_ends_only_once_a_call_that_was_given_up_has_ended";
    // The child finds the libraries that its parent built.
    let built = |variable: &str, source: &str, file: &str, defines: &[&str]| {
        let known = std::env::var(variable).ok().filter(|_| testkit::is_child());
        let built = known.is_none().then(|| Built::new(source, file, defines));
        let path = built.as_ref().map_or_else(|| known.unwrap_or_default(), Built::path);
        (built, path)
    };
    let (_cuda, cuda) = built("SCONCE_LIBCUDA", "fake_cuda.c", "libcuda.so.1", &["DEVICE_COUNT=2"]);
    let (_nccl, nccl) = built("SCONCE_LIBNCCL", "fake_nccl.c", "libnccl.so.2", &["CRASH"]);
    let environment = [
        ("SCONCE_BACKEND", "cuda"),
        ("SCONCE_LIBCUDA", cuda.as_str()),
        ("SCONCE_LIBNCCL", nccl.as_str()),
        ("SCONCE_LIBNVML", "no-nvml-here.so"),
        ("SCONCE_LOG", "off"),
    ];
    testkit::in_child(TEST, &environment, || {
        let mut version = 0;
        // SAFETY: a writable place.
        let status = unsafe { sconce_comm_get_version(&mut version) };
        assert_eq!(status, sconce_status::SCONCE_OK);
        let hold = hold_of(&nccl);
        // SAFETY: an exported number of 8 bytes.
        unsafe { hold.write_volatile(1) };
        let config = sconce_comm_config {
            struct_size: size_of::<sconce_comm_config>() as u32,
            min_ctas: 0,
            max_ctas: 0,
            cga_cluster_size: 0,
            timeout_ms: 50,
            split_share: CBool::FALSE,
            high_priority: CBool::FALSE,
            reserved: [0; 6],
        };
        let mut comms = [null_mut(); 2];
        // SAFETY: two devices and two places.
        let status =
            unsafe { sconce_comm_init_all([0, 1].as_ptr(), 2, &config, comms.as_mut_ptr()) };
        assert_eq!(status, sconce_status::SCONCE_ERROR_TIMEOUT);
        // The other ranks come while the process is ending.
        let hold = hold.expose_provenance();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(500));
            // SAFETY: the word is part of the fake library, which stays open until the process ends.
            unsafe { std::ptr::with_exposed_provenance_mut::<i64>(hold).write_volatile(0) };
        });
    });
}

/// The number by which the library of a path holds the making of communicators.
fn hold_of(path: &str) -> *mut i64 {
    let path = std::ffi::CString::new(path).unwrap();
    // SAFETY: a library that is open already, by a NUL-terminated path.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    assert!(!library.is_null());
    // SAFETY: an open library and a NUL-terminated name.
    let address = unsafe { libc::dlsym(library, c"hold".as_ptr()) };
    assert!(!address.is_null());
    address.cast()
}
