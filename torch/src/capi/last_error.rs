//! The text of the thread's newest failure.

use std::ffi::c_char;

/// Returns the message of the calling thread's most recent failed call of libsconce_torch. The
/// message names the argument, the model or the operation, and the remedy.
///
/// Never NULL: the text is empty before the first failure. A successful call does not change it.
///
/// - Ownership: borrowed. The text stays as it is until the thread has read the message of a later failure, so it may be
///   an argument beside a call that fails, and until the thread's end.
/// - torch: the text of the exception that torch would throw.
#[unsafe(no_mangle)]
#[allow(unsafe_code, reason = "a function without a mangled name")]
pub extern "C" fn sconce_torch_last_error_message() -> *const c_char {
    crate::abi::errors::torch_exception_get_what()
}
