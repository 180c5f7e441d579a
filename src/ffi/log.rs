//! Where messages go.

use std::ffi::{c_char, c_void};

use super::guard_value;
use crate::log;

/// Level of a message: something failed that no status reports.
pub const SCONCE_LOG_ERROR: i32 = 1;
/// Level of a message: something is probably not what the user wants.
pub const SCONCE_LOG_WARN: i32 = 2;
/// Level of a message: a rare event of interest.
pub const SCONCE_LOG_INFO: i32 = 3;
/// Level of a message: everything else.
pub const SCONCE_LOG_DEBUG: i32 = 4;

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
