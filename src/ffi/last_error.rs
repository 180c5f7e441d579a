//! The message of the calling thread's newest failure.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use super::status::sconce_status;
use crate::error::Error;

struct LastError {
    message: CString,
    backend_code: i32,
}

/// The driver's number (`CUDA_ERROR_DEINITIALIZED`) after it has shut down at the end of the process.
const DEINITIALIZED: i32 = 4;

thread_local! {
    static LAST: RefCell<Option<LastError>> = const { RefCell::new(None) };
}

/// Keeps a failure for this thread and gives its status.
#[cold]
#[inline(never)]
pub(super) fn record(error: &Error) -> sconce_status {
    let message = CString::new(error.message().replace('\0', "\\0")).unwrap_or_default();
    let last = LastError { message, backend_code: error.backend_code() };
    // While the thread ends there is nowhere left to keep it; the status still tells.
    let _ = LAST.try_with(|slot| slot.replace(Some(last)));
    error.status().into()
}

/// The message of this thread's newest failure; `None` if it failed because the driver has shut down
/// at the end of the process, when what a destructor would release is gone already.
pub(super) fn newest_message() -> Option<String> {
    let newest = LAST.try_with(|slot| {
        let slot = slot.borrow();
        let last = slot.as_ref()?;
        Some((last.message.to_string_lossy().into_owned(), last.backend_code))
    });
    match newest {
        Ok(Some((_, DEINITIALIZED))) => None,
        Ok(Some((message, _))) => Some(message),
        // Nothing has failed, or the thread is ending and its message is gone.
        Ok(None) | Err(_) => Some(String::new()),
    }
}

/// Tells what went wrong in this thread's newest failed call: which argument, or which driver call
/// with the driver's own name for the error.
///
/// # Parameters
/// None.
/// # Errors
/// None. Never NULL: an empty string before the first failure.
/// # Ownership
/// Borrowed until this thread's next failing call or its end; a successful call leaves it alone.
/// # Ordering
/// Does not block.
/// # Threads
/// Any; each thread has its own.
/// # Safety
/// No requirements.
/// # Upstream
/// The text of the exception that torch would throw.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_last_error_message() -> *const c_char {
    LAST.try_with(|slot| slot.borrow().as_ref().map_or(c"".as_ptr(), |last| last.message.as_ptr()))
        .unwrap_or(c"".as_ptr())
}

/// Gives the driver's number for this thread's newest failed call.
///
/// # Parameters
/// None.
/// # Errors
/// None. 0 when no driver call was behind the failure, or nothing has failed yet.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any; each thread has its own.
/// # Safety
/// No requirements.
/// # Upstream
/// `cudaGetLastError`, which torch puts into its exceptions; unlike there, reading clears nothing.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_last_error_backend_code() -> i32 {
    LAST.try_with(|slot| slot.borrow().as_ref().map_or(0, |last| last.backend_code)).unwrap_or(0)
}
