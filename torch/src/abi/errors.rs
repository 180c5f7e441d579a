//! Texts of failures, warnings and checks.

#![allow(unsafe_code, reason = "reads texts of C")]

use std::ffi::{CStr, CString, c_char};

use super::arguments::CText;
use super::bits::CBool;
use crate::error::{self, Error};
use crate::sconce::api;

pub use crate::error::not_null;

/// A text of C; empty if it is NULL.
///
/// # Safety
/// `text` is NULL or ends with NUL.
pub unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the text is not NULL, so it ends with NUL.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Logs a warning of a compiled model or a kernel library.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_warn(
    function: CText<'_>,
    file: CText<'_>,
    line: u32,
    message: CText<'_>,
) {
    error::guard(|| {
        let [function, file, message] = [function, file, message].map(CText::text);
        let text = format!("{message} ({function}, {file}:{line})").replace('\0', "\\0");
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: the text ends with NUL.
        unsafe { api::sconce_log_message(api::SCONCE_LOG_WARN, text.as_ptr()) };
        Ok(())
    });
}

/// Throws a C++ exception in the compiled model that calls, unless `condition` holds. No frame of Rust is left: the
/// function jumps to `calls.cc`.
///
/// # Safety
/// Texts are NULL or end with NUL.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_check(
    condition: CBool,
    function: *const c_char,
    file: *const c_char,
    line: u32,
    message: *const c_char,
) {
    unsafe extern "C" {
        fn sconce_torch_check();
    }
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!("jmp {check}", check = sym sconce_torch_check);
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!("b {check}", check = sym sconce_torch_check);
}

/// Keeps a text as that of the thread's newest failure, for `calls.cc`.
#[unsafe(no_mangle)]
extern "C" fn sconce_torch_record(text: CText<'_>) {
    error::record(&Error::invalid_argument(text.text()));
}

/// Returns the text of the calling thread's newest failure, which is valid until it has read that of a later one.
#[unsafe(no_mangle)]
pub extern "C" fn torch_exception_get_what() -> *const c_char {
    error::read_newest()
}

/// As [`torch_exception_get_what`]: texts of this library have no backtrace.
#[unsafe(no_mangle)]
pub extern "C" fn torch_exception_get_what_without_backtrace() -> *const c_char {
    torch_exception_get_what()
}
