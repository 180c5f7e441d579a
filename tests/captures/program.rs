//! Functions of a program that do nothing, its files, and what functions of the library return for the calls of the
//! tables.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;

use sconce::*;

use crate::world::{MODULE, leaked, made};

unsafe extern "C" fn no_kernel(_: *mut sconce_sim_launch, _: *mut c_void) {}
unsafe extern "C" fn nothing(_: *mut c_void) {}
unsafe extern "C" fn no_range(_: i64, _: i64, _: *mut c_void) {}
unsafe extern "C" fn no_message(_: i32, _: *const c_char, _: *mut c_void) {}
unsafe extern "C" fn no_observer(_: i32, _: usize, _: usize, _: usize, _: *mut c_void) {}
unsafe extern "C" fn no_gradients(
    _: *mut c_void,
    _: *const *mut sconce_tensor,
    _: usize,
    _: *mut *mut sconce_tensor,
    _: usize,
) -> i32 {
    0
}
unsafe extern "C" fn no_error(_: *mut c_void, _: *const c_char, _: *const c_char) {}

/// Functions that do nothing.
pub(crate) const NOTHING: sconce_host_function = Some(nothing);
pub(crate) const SCOPED: sconce_scoped_function = Some(nothing);
pub(crate) const NO_RANGE: sconce_range_function = Some(no_range);
pub(crate) const NO_MESSAGE: sconce_log_callback = Some(no_message);
pub(crate) const NO_OBSERVER: sconce_oom_observer = Some(no_observer);
pub(crate) const NO_GRADIENTS: sconce_backward_function = Some(no_gradients);
pub(crate) const NO_ERROR: sconce_dlpack_set_error = Some(no_error);
pub(crate) const NO_KERNEL: sconce_sim_kernel_function = Some(no_kernel);

/// The identifier of a communicator.
pub(crate) fn unique_id() -> *const sconce_comm_id {
    // SAFETY: a writable place.
    leaked(made(|out| unsafe { sconce_comm_get_unique_id(out) })).cast_const()
}

/// The number of an observer of missing memory.
pub(crate) fn observer() -> u64 {
    // SAFETY: a function that lives as long as the process, and a writable place.
    made(|out| unsafe { sconce_memory_attach_oom_observer(NO_OBSERVER, null_mut(), out) })
}

/// A block of the allocator for PyTorch.
pub(crate) fn torch_block() -> *mut c_void {
    // SAFETY: the default stream.
    unsafe { sconce_torch_malloc(64, 0, null_mut()) }
}

/// A block of the allocator for CuPy.
pub(crate) fn cupy_block() -> *mut c_void {
    sconce_cupy_malloc(null_mut(), 64, 0)
}

/// A block of the allocator for ONNX Runtime.
pub(crate) fn ort_block() -> *mut c_void {
    sconce_ort_alloc(64)
}

/// A text of the library.
pub(crate) fn text() -> *mut c_char {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_memory_get_stats_json(0, out) })
}

/// A stream that the program made.
pub(crate) fn native_stream() -> *mut c_void {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_sim_stream_create(0, 0, 0, out) })
}

/// A stream that the program made with this library.
pub(crate) fn owned_stream() -> sconce_stream {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_stream_create(0, SCONCE_STREAM_NON_BLOCKING, 0, out) })
}

/// An event that the program made.
pub(crate) fn native_event() -> *mut c_void {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_sim_event_create(0, 0, out) })
}

/// A path for a file of this call alone.
pub(crate) fn path(name: &str) -> *const c_char {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let path = format!("{folder}/captures-{}-{name}", std::process::id());
    let _ = std::fs::remove_file(&path);
    CString::new(path).unwrap().into_raw()
}

/// A file with a module.
pub(crate) fn module_file() -> *const c_char {
    let path = path("module.ptx");
    // SAFETY: a text that was made here.
    let name = unsafe { CStr::from_ptr(path) };
    std::fs::write(name.to_str().unwrap(), MODULE.to_bytes()).unwrap();
    path
}
