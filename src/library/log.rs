//! The log callback.

use std::ffi::{CStr, c_char, c_void};

use sconce_base::log;
use sconce_runtime::context::refuse_forked_child;

use crate::library::status::sconce_status_name;
use crate::{guard_value, last_error, sconce_status};

/// Level of a message.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_log_level {
    /// A failure that no status reports.
    SCONCE_LOG_ERROR = 1,
    /// Something that the user probably does not want.
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

/// A function that receives log messages: the level (`SCONCE_LOG_…`), the text, and the caller's
/// pointer.
pub type sconce_log_callback =
    Option<unsafe extern "C" fn(level: i32, message: *const c_char, user: *mut c_void)>;

/// Sends log messages to a function of the caller instead of standard error.
///
/// `SCONCE_LOG` = `off`, `error`, `warn` (default), `info` or `debug` selects the messages. A
/// message is delivered at the end of the call that caused it. The library holds no lock at that
/// time, so the callback may call the library. Messages that the callback itself causes are
/// delivered after it has returned.
///
/// - `callback`: NULL sends messages to standard error again.
/// - `user`: passed to each call of `callback`.
/// - Ownership: the message is borrowed for the call of `callback`. `callback` and `user` must stay
///   usable until another callback has been set and no call of the old one is under way.
/// - Threads: several threads may call `callback` at once.
/// - Safety: `callback` does not unwind, and `user` is what it expects.
/// - torch: `c10::SetLogger`; torch's warnings go through Python.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_log_set_callback(callback: sconce_log_callback, user: *mut c_void) {
    guard_value((), || {
        // SAFETY: the function's comment demands that several threads may call `callback` with `user`, that it
        // does not unwind, and that both stay usable until another one is set and the last call has ended.
        log::set_callback(callback.map(|function| unsafe { log::Callback::new(function, user) }));
    });
}

/// Logs a failure that the caller cannot report: in destructors, finalizers and callbacks, which
/// return no status. The message has the level `SCONCE_LOG_ERROR`. It consists of `what`, the name
/// of the status, and `sconce_last_error_message()`.
///
/// Logs nothing in a forked child, and nothing after the driver has shut down at the end of the
/// process, because then the objects that the failed call would have released no longer exist.
///
/// - `status`: what the failed call of this thread returned; `SCONCE_OK` logs nothing.
/// - `what`: the operation that failed, e.g. `freeing a buffer`; NULL omits it.
/// - Threads: called by the thread of the failed call, before its next call.
/// - torch: `C10_CUDA_CHECK_WARN`, with which torch's destructors warn.
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
            // SAFETY: not NULL, so a NUL-terminated text, as the header demands of every text.
            let what = unsafe { CStr::from_ptr(what) }.to_string_lossy();
            log::error(format_args!("{what}: {name}{separator}{message}"));
        }
    });
}

/// Logs a message of the caller in the same way as the library's own messages. For libraries that
/// build on this one.
///
/// - `level`: `SCONCE_LOG_…`; a message of another level is logged as an error.
/// - `message`: the text; NULL logs nothing.
/// - torch: `TORCH_WARN`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_log_message(level: i32, message: *const c_char) {
    guard_value((), || {
        if message.is_null() || refuse_forked_child().is_err() {
            return;
        }
        // SAFETY: not NULL, so a NUL-terminated text, as the header demands of every text.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy();
        let level = match level {
            SCONCE_LOG_WARN => log::Level::Warn,
            SCONCE_LOG_INFO => log::Level::Info,
            SCONCE_LOG_DEBUG => log::Level::Debug,
            _ => log::Level::Error,
        };
        log::message(level, format_args!("{message}"));
    });
}
