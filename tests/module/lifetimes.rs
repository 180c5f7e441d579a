//! Modules and kernels from loading to unloading.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use sconce_driver::CaptureMode;
use sconce_kernels::images::PROBE;
use testkit::places::{calls, captured, pooled};
use testkit::simulated::{self, Memory};
use testkit::{in_child, last_message};

use crate::support::{
    self, FILL, RUNS, filler, get, launch_fill, launch_nothing, load, numbers, ptx, register,
    register_fill,
};

#[test]
fn a_device_loads_a_module_at_the_first_use_there_and_once() {
    register_fill();
    sconce::sim_controls::reset_call_counts().unwrap();
    let module = load(ptx(&[FILL]).as_bytes()).unwrap();
    assert_eq!(calls("module_load_code"), 0);
    let kernel = get(module, FILL).unwrap();
    assert_eq!(get(module, FILL), Ok(kernel), "the same one");
    assert_eq!((calls("module_load_code"), calls("kernel_find")), (1, 1));
    let memory = Memory::new(64);
    for _ in 0..3 {
        assert_eq!(launch_fill(kernel, &memory, 3, 1, None), SCONCE_OK);
    }
    assert_eq!((calls("module_load_code"), calls("kernel_find")), (1, 1));
    let other = sconce_stream { id: 0, device: 1, reserved: 0 };
    for _ in 0..3 {
        assert_eq!(launch_fill(kernel, &memory, 0, 1, Some(other)), SCONCE_OK);
    }
    assert_eq!((calls("module_load_code"), calls("kernel_find")), (2, 2));
    assert_eq!(sconce_module_unload(module), SCONCE_OK);
    assert_eq!(calls("module_release"), 2);
}

#[test]
fn code_of_every_kind_is_loaded_and_other_bytes_are_refused() {
    register_fill();
    assert_eq!(
        register("sconce_fill_u32", &[8, 8, 4], None, null_mut(), None),
        SCONCE_ERROR_INVALID_ARGUMENT
    );
    for code in PROBE.codes {
        let code = code.unpack().unwrap();
        let module = load(&code).unwrap();
        assert_eq!(get(module, FILL), Err(SCONCE_ERROR_INVALID_ARGUMENT));
        assert!(last_message().contains("image has no kernel \"test_fill\""), "{}", last_message());
        // It is there, but no function stands for it.
        assert_eq!(get(module, "sconce_fill_u32"), Err(SCONCE_ERROR_INVALID_ARGUMENT));
        assert!(last_message().contains("sconce_sim_register_kernel"), "{}", last_message());
        if code[0] == 0x7f {
            assert_eq!(load(&code[..code.len() / 2]), Err(SCONCE_ERROR_INVALID_ARGUMENT));
        }
    }
    for bad in [&b""[..], b"\x7fELF", b"int main() {}", &[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]] {
        assert_eq!(load(bad), Err(SCONCE_ERROR_INVALID_ARGUMENT), "{bad:?}");
    }
}

#[test]
fn a_file_is_loaded_and_one_that_is_not_there_is_named() {
    register_fill();
    let path = std::env::temp_dir().join(format!("sconce-module-{}.ptx", std::process::id()));
    std::fs::write(&path, ptx(&[FILL])).unwrap();
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let mut module = null_mut();
    // SAFETY: a text and a writable place.
    assert_eq!(unsafe { sconce_module_load_file(name.as_ptr(), &mut module) }, SCONCE_OK);
    std::fs::remove_file(&path).unwrap();
    assert!(get(module, FILL).is_ok(), "the code is in memory");
    // SAFETY: a text and a writable place.
    let status = unsafe { sconce_module_load_file(name.as_ptr(), &mut module) };
    assert_eq!(status, SCONCE_ERROR_IO);
    assert!(last_message().contains(path.to_str().unwrap()), "{}", last_message());
}

#[test]
fn unloading_waits_for_queued_launches_and_ends_the_kernels() {
    let (module, kernel) = filler();
    let memory = Memory::new(64);
    let stream = pooled(0);
    assert_eq!(sconce_stream_sleep(stream, 50_000_000), SCONCE_OK);
    assert_eq!(launch_fill(kernel, &memory, 3, 8, Some(stream)), SCONCE_OK);
    assert_eq!(RUNS.load(Ordering::SeqCst), 0);
    assert_eq!(sconce_module_unload(module), SCONCE_OK);
    assert_eq!(RUNS.load(Ordering::SeqCst), 1, "the launch has run");
    assert_eq!(numbers(&memory, 4), [8, 8, 8, u32::MAX]);
    for _ in 0..2 {
        assert_eq!(launch_nothing(kernel), SCONCE_ERROR_INVALID_HANDLE);
        assert_eq!(get(module, FILL), Err(SCONCE_ERROR_INVALID_HANDLE));
        assert_eq!(sconce_module_unload(module), SCONCE_ERROR_INVALID_HANDLE);
        // New ones do not revive the old handles.
        let (other, _) = filler();
        assert_ne!(other, module);
    }
    assert_eq!(sconce_module_unload(null_mut()), SCONCE_OK);
}

#[test]
fn a_module_that_a_graph_uses_stays_loaded() {
    let (module, kernel) = filler();
    let memory = Memory::new(64);
    captured(|_| assert_eq!(launch_fill(kernel, &memory, 3, 8, None), SCONCE_OK));
    sconce::sim_controls::reset_call_counts().unwrap();
    assert_eq!(sconce_module_unload(module), SCONCE_OK);
    assert_eq!((calls("module_release"), calls("module_unload")), (0, 0));
    assert_eq!(launch_nothing(kernel), SCONCE_ERROR_INVALID_HANDLE);
}

#[test]
fn a_module_that_a_graph_may_use_stays_loaded() {
    let (module, kernel) = filler();
    let memory = Memory::new(64);
    sconce::sim_controls::fail_call("stream_is_capturing", 1, 999).unwrap();
    assert_eq!(launch_fill(kernel, &memory, 3, 8, None), SCONCE_OK);
    sconce::sim_controls::clear_faults().unwrap();
    sconce::sim_controls::reset_call_counts().unwrap();
    assert_eq!(sconce_module_unload(module), SCONCE_OK);
    assert_eq!((calls("module_release"), calls("module_unload")), (0, 0));
}

#[test]
fn the_first_use_may_be_in_a_capture_and_unloading_does_not_spoil_it() {
    for mode in [CaptureMode::Global, CaptureMode::ThreadLocal, CaptureMode::Relaxed] {
        register_fill();
        let stream = pooled(0);
        let runtime = simulated::runtime();
        let of_library = sconce_runtime::stream::Stream::from_parts(runtime, stream.id, 0).unwrap();
        assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
        let idle = load(ptx(&[FILL]).as_bytes()).unwrap();
        get(idle, FILL).unwrap();
        sconce::sim_controls::begin_capture(runtime, of_library, mode).unwrap();
        let module = load(ptx(&[FILL]).as_bytes()).unwrap();
        let kernel = get(module, FILL).unwrap();
        let mut desc = support::desc(1, 1);
        desc.shared_bytes = 100 << 10;
        let values = support::fill_values(0, 0, 0);
        assert_eq!(support::launch(kernel, &desc, &values, None), SCONCE_OK, "{}", last_message());
        assert_eq!(sconce_module_unload(idle), SCONCE_OK, "{}", last_message());
        assert_eq!(sconce_module_unload(module), SCONCE_OK, "{}", last_message());
        sconce::sim_controls::end_capture(runtime, of_library).expect("the capture was spoilt");
    }
}

static DELETED: AtomicUsize = AtomicUsize::new(0);
unsafe extern "C" fn nothing(_: *mut sconce_sim_launch, _: *mut c_void) {}
unsafe extern "C" fn deleted(_: *mut c_void) {
    DELETED.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn the_deleter_runs_once_nothing_uses_the_function() {
    simulated::runtime();
    let with = |name| register(name, &[], Some(nothing), null_mut(), Some(deleted));
    assert_eq!(with(""), SCONCE_ERROR_INVALID_ARGUMENT);
    assert_eq!(
        register("k", &[0], Some(nothing), null_mut(), Some(deleted)),
        SCONCE_ERROR_INVALID_ARGUMENT
    );
    assert_eq!(DELETED.load(Ordering::SeqCst), 0, "not after a refusal");
    assert_eq!(with("k"), SCONCE_OK);
    assert_eq!(with("k"), SCONCE_OK);
    assert_eq!(DELETED.load(Ordering::SeqCst), 1, "it is replaced");
    let module = load(ptx(&["k"]).as_bytes()).unwrap();
    let kernel = get(module, "k").unwrap();
    // SAFETY: a text.
    assert_eq!(unsafe { sconce_sim_unregister_kernel(c"k".as_ptr()) }, SCONCE_OK);
    assert_eq!(DELETED.load(Ordering::SeqCst), 1, "the kernel has it");
    assert_eq!(launch_nothing(kernel), SCONCE_OK);
    assert_eq!(sconce_module_unload(module), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    assert_eq!(DELETED.load(Ordering::SeqCst), 2);
    // SAFETY: a text.
    assert_eq!(unsafe { sconce_sim_unregister_kernel(c"k".as_ptr()) }, SCONCE_OK);
}

#[test]
fn a_process_ends_with_modules_loaded_and_launches_queued() {
    in_child("a_process_ends_with_modules_loaded_and_launches_queued", &[], || {
        let (_, kernel) = filler();
        let memory = Memory::new(64);
        let stream = pooled(0);
        assert_eq!(sconce_stream_sleep(stream, 5_000_000_000), SCONCE_OK);
        assert_eq!(launch_fill(kernel, &memory, 3, 8, Some(stream)), SCONCE_OK);
        std::mem::forget(memory);
    });
}
