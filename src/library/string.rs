//! Strings that the caller frees.

use std::ffi::{CString, c_char};

/// A string for the caller to free.
pub(crate) fn into_raw(text: String) -> *mut c_char {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default().into_raw()
}

/// Frees a string that a function returned through a `char **out_…` parameter.
///
/// - `text`: the string; NULL is a no-op.
/// - Ownership: the library takes the string back.
/// - Safety: `text` is NULL, or came from this library and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: not NULL, so `into_raw` made it and it was not freed: the function's comment demands it.
        drop(unsafe { CString::from_raw(text) });
    }
}
