//! Sources of kernels on simulated devices: registered functions do the work of their kernels.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use sconce_driver::CaptureMode;
use testkit::places::{calls, pooled};
use testkit::simulated;
use testkit::{in_child, last_message};

use crate::support::{get, launch_nothing, register};

const TEXT: &str =
    "template <class T> __global__ void scale() {} extern \"C\" __global__ void one() {}";

static RUNS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn count(_: *mut sconce_sim_launch, _: *mut c_void) {
    RUNS.fetch_add(1, Ordering::SeqCst);
}

/// A source with some kernels.
fn source(text: &str, kernels: &[&str]) -> *mut sconce_kernel_source {
    let (text, mut source) = (CString::new(text).unwrap(), null_mut());
    // SAFETY: a text, no name, and a writable place.
    let status = unsafe { sconce_kernel_source_create(text.as_ptr(), null(), &mut source) };
    assert_eq!(status, SCONCE_OK);
    for kernel in kernels {
        assert_eq!(add(sconce_kernel_source_add_kernel, source, kernel), SCONCE_OK);
    }
    source
}

fn add(
    function: unsafe extern "C" fn(*mut sconce_kernel_source, *const c_char) -> sconce_status,
    source: *mut sconce_kernel_source,
    text: &str,
) -> sconce_status {
    let text = CString::new(text).unwrap();
    // SAFETY: a text.
    unsafe { function(source, text.as_ptr()) }
}

fn compile(source: *mut sconce_kernel_source) -> Result<*mut sconce_module, sconce_status> {
    let mut module = null_mut();
    // SAFETY: a writable place.
    match unsafe { sconce_kernel_source_compile(source, -1, CBool::FALSE, &mut module) } {
        SCONCE_OK => Ok(module),
        status => Err(status),
    }
}

fn log(source: *mut sconce_kernel_source) -> String {
    let mut text = null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_kernel_source_get_log(source, &mut text) }, SCONCE_OK);
    // SAFETY: the text is the library's, and NUL-terminated.
    let log = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
    // SAFETY: the text is not used any more.
    unsafe { sconce_string_free(text) };
    log
}

fn registered(names: &[&str]) {
    simulated::runtime();
    for name in names {
        assert_eq!(register(name, &[], Some(count), null_mut(), None), SCONCE_OK);
    }
}

#[test]
fn kernels_are_found_by_the_expressions_that_name_them() {
    registered(&["scale<float>", "scale<int>", "one"]);
    let made = source(TEXT, &["scale<float>", "scale<float>"]);
    let module = compile(made).unwrap();
    assert_eq!(log(made), "");
    assert_eq!(sconce_kernel_source_destroy(made), SCONCE_OK);
    for name in ["scale<float>", "one"] {
        assert_eq!(launch_nothing(get(module, name).unwrap()), SCONCE_OK, "{name}");
    }
    assert_eq!(get(module, "scale<float>"), get(module, "scale<float>"));
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    assert_eq!(RUNS.load(Ordering::SeqCst), 2);
    assert_eq!(get(module, "scale<int>"), Err(SCONCE_ERROR_INVALID_ARGUMENT));
    assert!(last_message().contains("sconce_kernel_source_add_kernel"), "{}", last_message());
    assert_eq!(get(module, "two"), Err(SCONCE_ERROR_INVALID_ARGUMENT));
    assert_eq!(sconce_module_unload(module), SCONCE_OK);
}

#[test]
fn an_expression_that_names_nothing_is_refused_and_the_log_says_so() {
    registered(&["scale<int>"]);
    let made = source("", &["scale<int>"]);
    assert_eq!(compile(made), Err(SCONCE_ERROR_INVALID_ARGUMENT));
    for words in [last_message(), log(made)] {
        assert!(words.contains("source.cu: \"scale<int>\" names no function"), "{words}");
    }
    // A header may have the function.
    let (name, text) = (CString::new("a.cuh").unwrap(), CString::new(TEXT).unwrap());
    // SAFETY: two texts.
    let status = unsafe { sconce_kernel_source_add_header(made, name.as_ptr(), text.as_ptr()) };
    assert_eq!(status, SCONCE_OK);
    assert!(get(compile(made).unwrap(), "scale<int>").is_ok());
    assert_eq!(log(made), "");
    assert_eq!(add(sconce_kernel_source_add_kernel, made, ""), SCONCE_ERROR_INVALID_ARGUMENT);
}

#[test]
fn sources_need_no_backend_until_they_are_compiled() {
    let environment = [("SCONCE_BACKEND", "cuda"), ("SCONCE_LIBCUDA", "/nowhere/libcuda.so")];
    in_child("sources_need_no_backend_until_they_are_compiled", &environment, || {
        let made = source(TEXT, &["scale<float>"]);
        assert_eq!(add(sconce_kernel_source_add_option, made, "-DN=3"), SCONCE_OK);
        assert_eq!(compile(made), Err(SCONCE_ERROR_LIBRARY_NOT_FOUND));
        assert_eq!(sconce_kernel_source_destroy(made), SCONCE_OK);
    });
}

#[test]
fn dead_sources_are_refused() {
    simulated::runtime();
    let made = source(TEXT, &[]);
    assert_eq!(sconce_kernel_source_destroy(null_mut()), SCONCE_OK);
    assert_eq!(sconce_kernel_source_destroy(made), SCONCE_OK);
    let other = source(TEXT, &[]);
    assert_ne!(made, other);
    for dead in [made, null_mut()] {
        assert_eq!(compile(dead), Err(SCONCE_ERROR_INVALID_HANDLE));
        for function in [sconce_kernel_source_add_option, sconce_kernel_source_add_kernel] {
            assert_eq!(add(function, dead, "x"), SCONCE_ERROR_INVALID_HANDLE);
        }
        let mut text = null_mut();
        // SAFETY: a writable place.
        let status = unsafe { sconce_kernel_source_get_log(dead, &mut text) };
        assert_eq!(status, SCONCE_ERROR_INVALID_HANDLE);
    }
    assert_eq!(sconce_kernel_source_destroy(made), SCONCE_ERROR_INVALID_HANDLE);
    let (mut module, device) = (null_mut(), 99);
    // SAFETY: a writable place.
    let status = unsafe { sconce_kernel_source_compile(other, device, CBool::TRUE, &mut module) };
    assert_eq!(status, SCONCE_ERROR_INVALID_DEVICE);
}

#[test]
fn a_compilation_may_fail_and_be_repeated_and_does_not_spoil_a_capture() {
    registered(&["one"]);
    let made = source(TEXT, &[]);
    sconce::sim_controls::fail_call("compile_source", 1, 999).unwrap();
    assert_eq!(compile(made), Err(SCONCE_ERROR_DRIVER));
    sconce::sim_controls::clear_faults().unwrap();
    let stream = pooled(0);
    let runtime = simulated::runtime();
    let of_library = sconce_runtime::stream::Stream::from_parts(runtime, stream.id, 0).unwrap();
    sconce::sim_controls::begin_capture(runtime, of_library, CaptureMode::Global).unwrap();
    let module = compile(made).unwrap();
    sconce::sim_controls::end_capture(runtime, of_library).expect("the capture was spoilt");
    assert!(get(module, "one").is_ok());
    assert_eq!(calls("module_load_code"), 1);
}

#[test]
fn threads_compile_a_source_while_it_grows() {
    registered(&["one", "scale<int>"]);
    let made = source(TEXT, &[]) as usize;
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(move || {
                for _ in 0..50 {
                    let module = compile(made as *mut sconce_kernel_source).unwrap();
                    assert!(get(module, "one").is_ok());
                    assert_eq!(sconce_module_unload(module), SCONCE_OK);
                }
            });
        }
        for number in 0..50 {
            let made = made as *mut sconce_kernel_source;
            let option = format!("-DN={number}");
            assert_eq!(add(sconce_kernel_source_add_option, made, &option), SCONCE_OK);
        }
    });
    let made = made as *mut sconce_kernel_source;
    assert_eq!(add(sconce_kernel_source_add_kernel, made, "scale<int>"), SCONCE_OK);
    assert!(get(compile(made).unwrap(), "scale<int>").is_ok());
}
