//! The system's loader: libraries opened, and symbols that every library of the process can see.

#![allow(unsafe_code, reason = "dlopen and dlsym")]

use std::ffi::{CStr, CString, c_int, c_void};

/// The address of a symbol that every library of the process can see.
pub fn global_symbol(name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name ends with NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// Opens a library. The error is the loader's text.
pub fn open(name: &str, flags: c_int) -> std::result::Result<*mut c_void, String> {
    let name = CString::new(name).map_err(|_| "the name contains a NUL".to_owned())?;
    // SAFETY: the name ends with NUL. That initialisers run is intended.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    if !handle.is_null() {
        keep_openmp();
        return Ok(handle);
    }
    // SAFETY: returns NULL or a text that is valid until the thread's next call.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return Err("the loader gave no reason".to_owned());
    }
    // SAFETY: not NULL, so it is a text.
    Err(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Whether the process has a library of this name.
pub fn is_open(name: &str) -> bool {
    open(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD).is_ok_and(|handle| {
        // SAFETY: the handle is open, and closed once. Somebody else keeps the library.
        unsafe { libc::dlclose(handle) };
        true
    })
}

/// Keeps an OpenMP runtime that a library brought until the process ends: its threads outlive the library that started
/// them, and would run on in memory without code.
fn keep_openmp() {
    for name in [c"libgomp.so.1", c"libomp.so.5", c"libomp.so", c"libiomp5.so"] {
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
        // SAFETY: the name ends with NUL. Nothing is loaded: a library that is not there stays so.
        let _ = unsafe { libc::dlopen(name.as_ptr(), flags) };
    }
}
