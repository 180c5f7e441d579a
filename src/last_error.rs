//! The message of the calling thread's newest failure.
//!
//! A program may hold the message that it read last while another call fails, as in `printf("%s %s", name(call()),
//! sconce_last_error_message())`, whose arguments are evaluated in any order. So a message that was read stays until a
//! later one was read.

use std::cell::Cell;
use std::ffi::{CString, c_char};
use std::ptr::null_mut;

use sconce_base::error::Error;

use crate::sconce_status;

struct LastError {
    message: CString,
    backend_code: i32,
    /// Whether the program has the address of the message.
    was_read: Cell<bool>,
}

/// The driver's number (`CUDA_ERROR_DEINITIALIZED`) after it has shut down at the end of the process.
const DEINITIALIZED: i32 = 4;

thread_local! {
    /// The newest failure, made by `Box::into_raw`, or null. Without a destructor, so that it can be
    /// used while the thread ends, in a destructor of a pthread key.
    static LAST: Cell<*mut LastError> = const { Cell::new(null_mut()) };
    /// The failure before it whose message was read last, in the same form.
    static READ: Cell<*mut LastError> = const { Cell::new(null_mut()) };
    /// Frees both when the thread ends.
    static OWNER: LastErrorOwner = const { LastErrorOwner };
}

struct LastErrorOwner;

impl Drop for LastErrorOwner {
    fn drop(&mut self) {
        free(LAST.replace(null_mut()));
        free(READ.replace(null_mut()));
    }
}

/// Frees a failure that is in neither place any more.
fn free(old: *mut LastError) {
    if !old.is_null() {
        // SAFETY: made by `Box::into_raw` (see `LAST`), and no longer reachable.
        drop(unsafe { Box::from_raw(old) });
    }
}

/// Keeps another failure as the newest, made by `Box::into_raw`, or none. The one before is freed, unless its message
/// was read: then it takes the place of the one that was read before.
fn replace(new: *mut LastError) {
    let was_read = last().is_some_and(|old| old.was_read.get());
    let old = LAST.replace(new);
    free(if was_read { READ.replace(old) } else { old });
}

/// The newest failure. The reference must not outlive the thread's next failure.
fn last<'a>() -> Option<&'a LastError> {
    // SAFETY: null, or made by `Box::into_raw` and alive until it is replaced.
    unsafe { LAST.get().as_ref() }
}

/// Stores a failure as the thread's newest and returns its status.
#[cold]
#[inline(never)]
pub(crate) fn record(error: &Error) -> sconce_status {
    // Few messages contain a NUL, and looking for one twice costs a copy.
    let message = CString::new(error.message())
        .or_else(|_| CString::new(error.message().replace('\0', "\\0")))
        .unwrap_or_default();
    let last =
        LastError { message, backend_code: error.backend_code(), was_read: Cell::new(false) };
    replace(Box::into_raw(Box::new(last)));
    // Registers the destructor. A thread whose destructors have run leaks its last failure.
    let _ = OWNER.try_with(|_| ());
    error.status().into()
}

/// A copy of the message of this thread's newest failure, which does not count as read by the program.
pub(crate) fn newest_text() -> CString {
    last().map(|last| last.message.clone()).unwrap_or_default()
}

/// The message of this thread's newest failure. `None` if the driver had shut down at the end of the
/// process, when what a destructor would release no longer exists.
pub(crate) fn newest_message() -> Option<String> {
    match last() {
        Some(last) if last.backend_code == DEINITIALIZED => None,
        Some(last) => Some(last.message.to_string_lossy().into_owned()),
        None => Some(String::new()),
    }
}

/// Runs a function of the program. Returns the message of the newest failure that the thread recorded meanwhile. The
/// thread's newest failure stays what it was before.
pub(crate) fn of_function<R>(function: impl FnOnce() -> R) -> (R, Option<String>) {
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
/// - Ownership: borrowed. The text stays as it is until the thread has read the message of a later failure, so it may
///   be an argument beside a call that fails, and until the thread's end.
/// - torch: the text of the exception that torch would throw.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_last_error_message() -> *const c_char {
    last().map_or(c"".as_ptr(), |last| {
        last.was_read.set(true);
        last.message.as_ptr()
    })
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
