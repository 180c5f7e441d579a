//! Shared libraries opened at run time. The one place that calls `dlopen`.
//!
//! A library stays open for the life of the process, so pointers into it never dangle.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{NonNull, null_mut};

use crate::error::{Error, Result, Status};

/// An open shared library.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    handle: NonNull<c_void>,
}

// SAFETY: a dlopen handle is a process-wide token; dlsym may be called on it from any thread.
unsafe impl Send for Library {}
// SAFETY: dlsym may be called on the handle from several threads at the same time.
unsafe impl Sync for Library {}

impl Library {
    /// Opens the first of `names` that the system's loader finds.
    ///
    /// The error is `LibraryNotFound` and lists each name with the loader's own words.
    pub fn open(what: &str, names: &[&str]) -> Result<Library> {
        if is_program_static() {
            return Err(Error::new(
                Status::LibraryNotFound,
                format!(
                    "{what} cannot be opened: the program is linked with -static, so it has no loader for libraries; \
                     link it without -static (sconce-static and Sconce::sconce_static link Sconce alone statically)"
                ),
            ));
        }
        let mut searched = Vec::new();
        for name in names {
            match open_with(name, 0) {
                Ok(library) => return Ok(library),
                Err(why) => searched.push(format!("{name} ({why})")),
            }
        }
        Err(Error::new(
            Status::LibraryNotFound,
            format!("{what} could not be opened; searched: {}", searched.join(", ")),
        ))
    }

    /// The library of this name, if the process has it open already, by this library or other code.
    pub fn already_open(name: &str) -> Option<Library> {
        open_with(name, libc::RTLD_NOLOAD).ok()
    }

    /// The address of a symbol, if the library has it.
    pub fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle came from dlopen and is never closed; the name is NUL-terminated.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }
}

/// Whether the program was linked with `-static`. A library that it opened would bring a C library of its own.
fn is_program_static() -> bool {
    // SAFETY: the callback has the signature that the function wants, and uses no data.
    unsafe { libc::dl_iterate_phdr(Some(has_interpreter), null_mut()) == 0 }
}

/// Whether an object names the loader that it needs, which stops the iteration: every other program does.
unsafe extern "C" fn has_interpreter(
    object: *mut libc::dl_phdr_info,
    _bytes: usize,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the C library passes an object that is valid during the call.
    let object = unsafe { &*object };
    let count = usize::from(object.dlpi_phnum);
    // SAFETY: the object has so many headers, which stay as long as it is loaded.
    let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, count) };
    c_int::from(headers.iter().any(|header| header.p_type == libc::PT_INTERP))
}

fn open_with(name: &str, flags: c_int) -> std::result::Result<Library, String> {
    let name = CString::new(name).map_err(|_| "the name holds a NUL byte".to_owned())?;
    // SAFETY: the name is NUL-terminated; running the library's initialisers is intended.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | flags) };
    NonNull::new(handle).map(|handle| Library { handle }).ok_or_else(last_error)
}

fn last_error() -> String {
    // SAFETY: dlerror is thread-safe; it returns NULL or a string valid until this thread's next dl call.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "unknown error".to_owned();
    }
    // SAFETY: not NULL, so a NUL-terminated string, copied before any other dl call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_names_everything_searched() {
        let error = Library::open("the tool", &["libnone-a.so.1", "libnone-b.so"]).unwrap_err();
        assert_eq!(error.status(), Status::LibraryNotFound);
        for part in ["the tool", "libnone-a.so.1", "libnone-b.so"] {
            assert!(error.message().contains(part), "{error}");
        }
    }

    #[test]
    fn a_program_with_a_loader_is_not_static() {
        assert!(!is_program_static());
    }

    #[test]
    fn what_is_open_already_is_known() {
        assert!(Library::already_open("libc.so.6").is_some());
        assert!(Library::already_open("libnone-a.so.1").is_none());
    }

    #[test]
    fn symbols_are_found_or_not_without_a_panic() {
        let library = Library::open("libc", &["libc.so.6"]).unwrap();
        assert!(library.symbol(c"strlen").is_some());
        assert!(library.symbol(c"no_such_symbol_anywhere").is_none());
    }
}
