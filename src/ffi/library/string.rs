//! Strings that the library gives away.

use std::ffi::{CString, c_char};

/// A string for the caller to free.
pub(in crate::ffi) fn into_raw(text: String) -> *mut c_char {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default().into_raw()
}

/// Frees a string that the library gave through a `char** out_…` parameter.
///
/// # Parameters
/// `text`: the string; NULL is a no-op.
/// # Errors
/// None.
/// # Ownership
/// Takes the string back.
/// # Ordering
/// Does not block.
/// # Threads
/// Any, not only the one that got the string.
/// # Safety
/// `text` is NULL or came from this library and has not been freed.
/// # Upstream
/// None: torch returns `std::string`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller promises that it came from `give` and was not freed.
        drop(unsafe { CString::from_raw(text) });
    }
}
