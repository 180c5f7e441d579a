//! Where messages go.

use std::ffi::{CStr, c_char, c_void};

use crate::context::refuse_forked_child;
use crate::ffi::library::status::sconce_status_name;
use crate::ffi::{guard_value, last_error, sconce_status};
use crate::log;

/// Level of a message.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_log_level {
    /// Something failed that no status reports.
    SCONCE_LOG_ERROR = 1,
    /// Something is probably not what the user wants.
    SCONCE_LOG_WARN = 2,
    /// A rare event of interest.
    SCONCE_LOG_INFO = 3,
    /// Everything else.
    SCONCE_LOG_DEBUG = 4,
}

numbers_of!(sconce_log_level as i32: SCONCE_LOG_ERROR, SCONCE_LOG_WARN, SCONCE_LOG_INFO, SCONCE_LOG_DEBUG);

const _: () = {
    assert!(SCONCE_LOG_ERROR == log::Level::Error as i32);
    assert!(SCONCE_LOG_WARN == log::Level::Warn as i32);
    assert!(SCONCE_LOG_INFO == log::Level::Info as i32);
    assert!(SCONCE_LOG_DEBUG == log::Level::Debug as i32);
};

/// A function that takes a message: its level (`SCONCE_LOG_…`), its text, and the caller's pointer.
pub type sconce_log_callback =
    Option<unsafe extern "C" fn(level: i32, message: *const c_char, user: *mut c_void)>;

/// Sends messages to a function of the caller instead of standard error.
///
/// Which messages there are at all is set by `SCONCE_LOG` = `off`, `error`, `warn` (default),
/// `info` or `debug`.
///
/// # Parameters
/// `callback`: NULL sends messages to standard error again. `user`: handed to each call.
/// # Errors
/// None.
/// # Ownership
/// The message is borrowed for the call. `callback` and `user` must stay usable until another
/// callback is set and no call is under way.
/// # Ordering
/// Does not block. A message is handed over when the call that caused it ends: the callback is called
/// with no lock held and may call the library. Messages that it causes come after it has returned.
/// # Threads
/// Any; the callback may be called from several threads at once.
/// # Safety
/// `callback` is NULL or a function of this type that does not unwind; `user` fits it.
/// # Upstream
/// `c10::SetLogger` in spirit; torch's warnings go through Python.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_log_set_callback(callback: sconce_log_callback, user: *mut c_void) {
    guard_value((), || {
        // SAFETY: the caller's promise is the one that `Callback::new` asks for.
        log::set_callback(callback.map(|function| unsafe { log::Callback::new(function, user) }));
    });
}

/// Logs a failure that the caller cannot report: for destructors, finalizers and callbacks, which
/// return no status. The message has the level `SCONCE_LOG_ERROR`.
///
/// # Parameters
/// `status`: what the failed call of this thread returned; `SCONCE_OK` logs nothing. `what`: the
/// operation that failed, e.g. `freeing a buffer`, NUL-terminated; NULL leaves it out. The message is
/// `what`, the name of the status, and `sconce_last_error_message()`.
/// # Errors
/// None.
/// # Ownership
/// `what` is borrowed for the call.
/// # Ordering
/// Does not block. Logs nothing in a forked child, nor after the driver has shut down at the end of
/// the process: what the call would have released is gone there.
/// # Threads
/// Any; called on the thread of the failed call, before its next one.
/// # Safety
/// `what` is NULL or a NUL-terminated text.
/// # Upstream
/// `C10_CUDA_CHECK_WARN`, by which torch's destructors warn.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_log_failure(status: i32, what: *const c_char) {
    guard_value((), || {
        let ok = sconce_status::SCONCE_OK as i32;
        let forked = sconce_status::SCONCE_ERROR_FORKED as i32;
        // In a forked child the log's lock may be held by a thread that the child does not have.
        if status == ok || status == forked || refuse_forked_child().is_err() {
            return;
        }
        let Some(message) = last_error::newest_message() else { return };
        let separator = if message.is_empty() { "" } else { ": " };
        // SAFETY: never NULL, and static.
        let name = unsafe { CStr::from_ptr(sconce_status_name(status)) }.to_string_lossy();
        if what.is_null() {
            log::error(format_args!("{name}{separator}{message}"));
        } else {
            // SAFETY: not NULL, and the caller promises a NUL-terminated text.
            let what = unsafe { CStr::from_ptr(what) }.to_string_lossy();
            log::error(format_args!("{what}: {name}{separator}{message}"));
        }
    });
}
