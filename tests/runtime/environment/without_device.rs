//! A process without a device: what torch lets programs call there succeeds and has no effect; the rest says why not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

use sconce::sconce_status::*;
use sconce::*;
use testkit::{in_child, last_message};

const NOWHERE: (&str, &str) = ("SCONCE_LIBCUDA", "libcuda-that-is-not-there.so.1");

/// What an environment is called, its variables, and the status of calls that need a device.
type Absence = (&'static str, &'static [(&'static str, &'static str)], sconce_status);

/// The environments in which there is no device.
const ABSENCES: [Absence; 3] = [
    ("no driver", &[NOWHERE], SCONCE_ERROR_NO_DEVICE),
    (
        "no driver that is named",
        &[("SCONCE_BACKEND", "cuda"), NOWHERE],
        SCONCE_ERROR_LIBRARY_NOT_FOUND,
    ),
    (
        "no visible device",
        &[("SCONCE_BACKEND", "sim"), ("CUDA_VISIBLE_DEVICES", "")],
        SCONCE_ERROR_NO_DEVICE,
    ),
];

/// What a function returns, and what it writes: 77 where it must write 0.
fn bytes_of(figure: unsafe extern "C" fn(i32, *mut usize) -> sconce_status) -> sconce_status {
    for device in [-1, 0, 5] {
        let mut bytes = 77;
        // SAFETY: a good place.
        let status = unsafe { figure(device, &raw mut bytes) };
        assert!(status != SCONCE_OK || bytes == 0, "{bytes} bytes of no device");
        if status != SCONCE_OK {
            return status;
        }
    }
    SCONCE_OK
}

fn text_of(call: impl FnOnce(*mut *mut c_char) -> sconce_status, expected: &str) -> sconce_status {
    let mut text = null_mut();
    let status = call(&raw mut text);
    if status == SCONCE_OK {
        // SAFETY: the library wrote a NUL-terminated text.
        assert_eq!(unsafe { CStr::from_ptr(text) }.to_str().unwrap(), expected);
        // SAFETY: a text of the library's.
        unsafe { sconce_string_free(text) };
    }
    status
}

fn seed_of(call: unsafe extern "C" fn(*mut u64) -> sconce_status) -> sconce_status {
    let mut seeds = [0_u64; 2];
    for seed in &mut seeds {
        // SAFETY: a good place.
        let status = unsafe { call(seed) };
        if status != SCONCE_OK {
            return status;
        }
    }
    assert!(seeds[0] != seeds[1] && seeds[0] < 1 << 53, "{seeds:?}");
    SCONCE_OK
}

fn stats() -> sconce_status {
    // SAFETY: all of its fields are numbers.
    let mut stats: sconce_memory_stats = unsafe { std::mem::zeroed() };
    stats.struct_size = size_of::<sconce_memory_stats>() as u32;
    stats.num_ooms = 77;
    // SAFETY: a struct of the right size.
    let status = unsafe { sconce_memory_get_stats(-1, &raw mut stats) };
    let ok = status == SCONCE_OK;
    assert!(
        !ok || (stats.num_ooms, stats.reserved_bytes.all.peak, stats.max_split_size) == (0, 0, -1)
    );
    status
}

fn snapshot() -> sconce_status {
    let mut snapshot = null_mut();
    // SAFETY: a good place.
    let status = unsafe { sconce_memory_snapshot_create(&raw mut snapshot) };
    if status == SCONCE_OK {
        let (mut segments, mut count) = (null(), 77);
        // SAFETY: a snapshot and good places.
        let found = unsafe {
            sconce_memory_snapshot_get_segments(snapshot, &raw mut segments, &raw mut count)
        };
        assert_eq!((found, count), (SCONCE_OK, 0));
        // SAFETY: a snapshot.
        assert_eq!(unsafe { sconce_memory_snapshot_destroy(snapshot) }, SCONCE_OK);
    }
    status
}

fn exchange(device: i32) -> sconce_status {
    let mut previous = 77;
    // SAFETY: a good place.
    let status = unsafe { sconce_device_exchange(device, &raw mut previous) };
    assert_eq!(previous, if status == SCONCE_OK { -1 } else { 77 });
    status
}

fn initial_seed() -> (sconce_status, u64) {
    let mut seed = 0;
    // SAFETY: a good place.
    (unsafe { sconce_random_get_initial_seed(&raw mut seed) }, seed)
}

type Call = (&'static str, fn() -> sconce_status);

const ALLOWED: &[Call] = &[
    ("manual_seed", || sconce_random_manual_seed(1)),
    ("manual_seed_all", || sconce_random_manual_seed_all(1)),
    ("manual_seed_everywhere", || sconce_random_manual_seed_everywhere(1)),
    ("seed", || seed_of(sconce_random_seed)),
    ("seed_all", || seed_of(sconce_random_seed_all)),
    ("initial_seed", || initial_seed().0),
    ("memory_stats", stats),
    ("memory_stats as text", || {
        // SAFETY: a good place.
        text_of(|text| unsafe { sconce_memory_get_stats_json(0, text) }, "{}")
    }),
    ("memory_summary", || {
        // SAFETY: a good place.
        text_of(|text| unsafe { sconce_memory_get_summary(-1, CBool::FALSE, text) }, "")
    }),
    ("memory_allocated", || bytes_of(sconce_memory_get_allocated)),
    ("max_memory_allocated", || bytes_of(sconce_memory_get_max_allocated)),
    ("memory_reserved", || bytes_of(sconce_memory_get_reserved)),
    ("max_memory_reserved", || bytes_of(sconce_memory_get_max_reserved)),
    ("page_figures", || {
        let mut figures = sconce_memory_page_figures {
            struct_size: size_of::<sconce_memory_page_figures>() as u32,
            // SAFETY: all of its fields are numbers.
            ..unsafe { std::mem::zeroed() }
        };
        // SAFETY: a struct of the right size.
        unsafe { sconce_memory_get_page_figures(-1, &raw mut figures) }
    }),
    ("reset_peak_memory_stats", || sconce_memory_reset_peak_stats(-1)),
    ("reset_accumulated_memory_stats", || sconce_memory_reset_accumulated_stats(3)),
    ("snapshot", snapshot),
    ("record_memory_history", || sconce_memory_record_history(CBool::TRUE, 10)),
    ("empty_cache", || sconce_memory_empty_cache()),
    ("free of nothing", || sconce_memory_free(null_mut())),
    ("host_empty_cache", || sconce_host_memory_empty_cache()),
    ("host_memory_stats", || {
        let mut stats = sconce_host_memory_stats {
            struct_size: size_of::<sconce_host_memory_stats>() as u32,
            // SAFETY: all of its fields are numbers.
            ..unsafe { std::mem::zeroed() }
        };
        // SAFETY: a struct of the right size.
        unsafe { sconce_host_memory_get_stats(&raw mut stats) }
    }),
    ("host_memory_stats as text", || {
        // SAFETY: a good place.
        text_of(|text| unsafe { sconce_host_memory_get_stats_json(text) }, "{}")
    }),
    ("reset_peak_host_memory_stats", || sconce_host_memory_reset_peak_stats()),
    ("reset_accumulated_host_memory_stats", || sconce_host_memory_reset_accumulated_stats()),
    ("host free of nothing", || sconce_host_memory_free(null_mut())),
    ("ipc_collect", || sconce_ipc_collect()),
    ("clear_workspaces", || sconce_blas_clear_workspaces()),
    ("clear_plans", || sconce_convolution_clear_plans()),
    ("set_device(-1)", || sconce_device_set_current(-1)),
    ("set_device(-5)", || sconce_device_set_current(-5)),
    ("exchange(-1)", || exchange(-1)),
    ("list_gpu_processes", || {
        let expected = "cuda driver can't be loaded, is cuda enabled?";
        // SAFETY: a good place.
        text_of(|text| unsafe { sconce_device_list_processes(-1, text) }, expected)
    }),
    // SAFETY: a NUL-terminated text.
    ("nvtx.mark", || unsafe { sconce_nvtx_mark(c"mark".as_ptr()) }),
];

const REFUSED: &[Call] = &[
    ("current_device", || {
        let mut device = 0;
        // SAFETY: a good place.
        unsafe { sconce_device_get_current(&raw mut device) }
    }),
    ("set_device(0)", || sconce_device_set_current(0)),
    ("exchange(0)", || exchange(0)),
    ("synchronize", || sconce_device_synchronize(-1)),
    ("memory_alloc", || {
        let mut address = null_mut();
        // SAFETY: a good place.
        unsafe { sconce_memory_alloc(1, &raw mut address) }
    }),
    ("set_fraction", || sconce_memory_set_fraction(0.5, -1)),
    ("default_generator", || {
        let mut generator = null_mut();
        // SAFETY: a good place.
        unsafe { sconce_generator_get_default(-1, &raw mut generator) }
    }),
    ("default_stream", || {
        let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
        // SAFETY: a good place.
        unsafe { sconce_stream_get_default(-1, &raw mut stream) }
    }),
];

fn check(status: sconce_status) {
    for (name, call) in ALLOWED {
        assert_eq!(call(), SCONCE_OK, "{name}: {}", last_message());
    }
    for (name, call) in REFUSED {
        assert_eq!(call(), status, "{name}");
    }
    assert!(!sconce_is_initialized());
    let json = |text| {
        // SAFETY: a good place.
        unsafe { sconce_memory_get_snapshot_json(text) }
    };
    let mut text = null_mut();
    assert_eq!(json(&raw mut text), SCONCE_OK);
    // SAFETY: the library wrote a NUL-terminated text.
    let snapshot = unsafe { CStr::from_ptr(text) }.to_str().unwrap();
    assert!(snapshot.contains("\"segments\":[]"), "{snapshot}");
    // SAFETY: a text of the library's.
    unsafe { sconce_string_free(text) };
    // A seed is there when there is a device.
    assert_eq!(sconce_random_manual_seed(4711), SCONCE_OK);
    assert_eq!(initial_seed(), (SCONCE_OK, 4711));
    let options = sconce_options {
        struct_size: size_of::<sconce_options>() as u32,
        backend: sconce_backend::SCONCE_BACKEND_SIM as i32,
        sim_devices: 2,
        sim_sms: 0,
        sim_memory_bytes: 0,
    };
    // SAFETY: a complete struct.
    assert_eq!(unsafe { sconce_init_with(&options) }, SCONCE_OK, "{}", last_message());
    assert_eq!(initial_seed(), (SCONCE_OK, 4711));
    assert_eq!(sconce_device_count(), 2);
}

#[test]
fn what_needs_no_device_succeeds_without_a_driver() {
    let (_, environment, status) = ABSENCES[0];
    in_child("what_needs_no_device_succeeds_without_a_driver", environment, || check(status));
}

#[test]
fn what_needs_no_device_succeeds_without_the_driver_that_is_named() {
    let (_, environment, status) = ABSENCES[1];
    let name = "what_needs_no_device_succeeds_without_the_driver_that_is_named";
    in_child(name, environment, || check(status));
}

#[test]
fn what_needs_no_device_succeeds_without_a_visible_device() {
    let (_, environment, status) = ABSENCES[2];
    in_child("what_needs_no_device_succeeds_without_a_visible_device", environment, || {
        check(status)
    });
}
