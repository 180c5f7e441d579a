//! Allocations that give pinned memory back: unpinning waits for the devices, so it must be certain that no work needs
//! the allocating thread. A look at idle devices is not enough where other threads queue such work meanwhile.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;

use sconce::sim_controls as sim;
use sconce::*;
use sconce_runtime::host_memory::{self, check};

const MIB: usize = 1 << 20;
const ENVIRONMENT: [(&str, &str); 3] =
    [("SCONCE_BACKEND", "sim"), ("SCONCE_SIM_DEVICES", "2"), ("SCONCE_LOG", "off")];

fn ok(status: sconce_status) {
    assert_eq!(status, sconce_status::SCONCE_OK);
}

/// How often memory is unpinned while sizes grow, none of which fits what was freed before.
fn unpinned_by_growing_sizes() -> u64 {
    let before = sim::call_count("host_free").unwrap();
    for size in 2..40 {
        let block = host_memory::alloc(size * MIB).unwrap();
        host_memory::free(block).unwrap();
    }
    check::walk().unwrap();
    let unpinned = sim::call_count("host_free").unwrap() - before;
    host_memory::empty_cache().unwrap();
    assert_eq!(host_memory::stats().unwrap().allocated_bytes.current, 0);
    unpinned
}

fn hold(test: &str, makes_work: fn()) {
    testkit::in_child(test, &ENVIRONMENT, || {
        testkit::simulated::runtime();
        assert!(unpinned_by_growing_sizes() > 0, "nothing that could wait has been queued");
        makes_work();
        ok(sconce_device_synchronize(0));
        assert_eq!(unpinned_by_growing_sizes(), 0, "a thread may have queued such work meanwhile");
    });
}

extern "C" fn nothing(_: *mut c_void) {}

#[test]
fn none_after_a_host_function() {
    hold("none_after_a_host_function", || {
        let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
        // SAFETY: a writable place.
        ok(unsafe { sconce_stream_get_default(0, &mut stream) });
        // SAFETY: a function that uses no memory.
        ok(unsafe {
            sconce_stream_launch_host_function(stream, Some(nothing), std::ptr::null_mut())
        });
    });
}

#[test]
fn none_with_communicators() {
    hold("none_with_communicators", || {
        let mut comms = [std::ptr::null_mut(); 2];
        let devices = [0, 1];
        // SAFETY: two devices, and places for two communicators.
        ok(unsafe {
            sconce_comm_init_all(devices.as_ptr(), 2, std::ptr::null(), comms.as_mut_ptr())
        });
        for comm in comms {
            ok(sconce_comm_destroy(comm));
        }
    });
}
