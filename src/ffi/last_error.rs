//! The message of the calling thread's newest failure.

use std::cell::Cell;
use std::ffi::{CString, c_char};
use std::ptr::null_mut;

use crate::error::Error;
use crate::ffi::sconce_status;

struct LastError {
    message: CString,
    backend_code: i32,
}

/// The driver's number (`CUDA_ERROR_DEINITIALIZED`) after it has shut down at the end of the process.
const DEINITIALIZED: i32 = 4;

thread_local! {
    /// The newest failure, made by `Box::into_raw`, or null. Without a destructor, so that it can be
    /// used while the thread ends, in a destructor of a pthread key.
    static LAST: Cell<*mut LastError> = const { Cell::new(null_mut()) };
    /// Frees it when the thread ends.
    static OWNER: LastErrorOwner = const { LastErrorOwner };
}

struct LastErrorOwner;

impl Drop for LastErrorOwner {
    fn drop(&mut self) {
        replace(null_mut());
    }
}

/// Keeps another failure, made by `Box::into_raw`, or none, and frees the one before.
fn replace(new: *mut LastError) {
    let old = LAST.replace(new);
    if !old.is_null() {
        // SAFETY: made by `Box::into_raw` (see `LAST`), and no longer reachable.
        drop(unsafe { Box::from_raw(old) });
    }
}

/// The newest failure. The reference must not outlive the thread's next failure.
fn last<'a>() -> Option<&'a LastError> {
    // SAFETY: null, or made by `Box::into_raw` and alive until it is replaced.
    unsafe { LAST.get().as_ref() }
}

/// Stores a failure as the thread's newest and returns its status.
#[cold]
#[inline(never)]
pub(in crate::ffi) fn record(error: &Error) -> sconce_status {
    // Few messages contain a NUL, and looking for one twice costs a copy.
    let message = CString::new(error.message())
        .or_else(|_| CString::new(error.message().replace('\0', "\\0")))
        .unwrap_or_default();
    let last = LastError { message, backend_code: error.backend_code() };
    replace(Box::into_raw(Box::new(last)));
    // Registers the destructor. A thread whose destructors have run leaks its last failure.
    let _ = OWNER.try_with(|_| ());
    error.status().into()
}

/// The message of this thread's newest failure. `None` if the driver had shut down at the end of the
/// process, when what a destructor would release no longer exists.
pub(in crate::ffi) fn newest_message() -> Option<String> {
    match last() {
        Some(last) if last.backend_code == DEINITIALIZED => None,
        Some(last) => Some(last.message.to_string_lossy().into_owned()),
        None => Some(String::new()),
    }
}

/// Runs a function of the program. Returns the message of the newest failure that the thread recorded meanwhile. The
/// thread's newest failure stays what it was before.
pub(in crate::ffi) fn of_function<R>(function: impl FnOnce() -> R) -> (R, Option<String>) {
    let before = LAST.replace(null_mut());
    let result = function();
    let message = last().map(|newest| newest.message.to_string_lossy().into_owned());
    replace(before);
    (result, message)
}

/// Returns the message of the calling thread's most recent failed call. The message names the
/// argument that was wrong, or the driver call that failed and the driver's name for the error.
///
/// Never NULL: the text is empty before the first failure. A successful call does not change it.
///
/// - Ownership: borrowed, until the next call of this thread that fails, or the thread's end.
/// - torch: the text of the exception that torch would throw.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_last_error_message() -> *const c_char {
    last().map_or(c"".as_ptr(), |last| last.message.as_ptr())
}

/// Returns the driver's error number for the calling thread's most recent failed call. 0 if no
/// driver call caused that failure, or if no call has failed yet.
///
/// - torch: `cudaGetLastError`, whose result torch puts into its exceptions. Unlike there, reading
///   the number does not clear it.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_last_error_backend_code() -> i32 {
    last().map_or(0, |last| last.backend_code)
}
