//! Which CUDA runtime libraries call: one of the system, or the functions of `runtime`.

#![allow(unsafe_code, reason = "dlsym, and a write to a table of addresses")]

use std::ffi::c_void;

use super::dynamic_loader::{global_symbol, open};
use crate::error::{Error, Result};
use crate::package::unnamed::LibraryFile;

include!(concat!(env!("OUT_DIR"), "/runtime.rs"));

/// The environment variable that names the CUDA runtime.
const RUNTIME_VARIABLE: &str = "SCONCE_LIBCUDART";
/// Its value for the functions of this library.
const OWN: &str = "own";

/// Where a runtime of the system is looked for.
const PLACES: [&str; 5] = [
    "libcudart.so.13",
    "libcudart.so.12",
    "libcudart.so",
    "/usr/local/cuda/lib64/libcudart.so",
    "/usr/local/cuda/targets/x86_64-linux/lib/libcudart.so",
];

/// Opens the CUDA runtime that a library lists as needed, if the system has it and the variable names no other. Functions
/// carry their runtime's name, so that two may be in a process: a library of CUDA 12 cannot use those of CUDA 13.
pub fn open_listed_runtime(libraries: &[String]) {
    let named = std::env::var(RUNTIME_VARIABLE).is_ok_and(|name| !name.is_empty());
    for name in libraries.iter().filter(|name| !named && name.starts_with("libcudart.so")) {
        // Where it is missing, another runtime or this library's own may do.
        let _ = open(name, libc::RTLD_NOW | libc::RTLD_GLOBAL);
    }
}

/// Makes a CUDA runtime's functions visible: those of one that is open already, of the one that the variable names, of
/// one of the system, or this library's own.
pub fn open_cuda_runtime() -> Result<()> {
    if global_symbol("cudaGetDevice").is_some() {
        return Ok(());
    }
    let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL;
    match std::env::var(RUNTIME_VARIABLE).ok().filter(|name| !name.is_empty()) {
        Some(name) if name == OWN => open_own(),
        Some(name) => open(&name, flags).map(|_| ()).map_err(|why| {
            Error::new(
                crate::sconce::api::SCONCE_ERROR_LIBRARY_NOT_FOUND,
                format!(
                    "the CUDA runtime that {RUNTIME_VARIABLE} names could not be opened: {why}. Unset the variable, or \
                     set it to {OWN} for the functions of libsconce_torch"
                ),
            )
        }),
        None if PLACES.iter().any(|place| open(place, flags).is_ok()) => Ok(()),
        None => open_own(),
    }
}

/// Opens the libraries with the runtime's names, and writes the addresses of the functions to their tables.
fn open_own() -> Result<()> {
    let functions: Option<Vec<*const ()>> =
        NAMES.iter().map(|name| crate::runtime::function(name)).collect();
    let functions =
        functions.ok_or_else(|| Error::internal("a function of the runtime is missing"))?;
    for (name, bytes) in LIBRARIES {
        let file = LibraryFile::with(name, bytes)?;
        let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL;
        let library = open(&file.path().to_string_lossy(), flags).map_err(|why| {
            Error::io(format!(
                "{name} could not be opened: {why}. Set TMPDIR to a folder on a file system without noexec"
            ))
        })?;
        // SAFETY: the library is open, and the name ends with NUL.
        let table = unsafe { libc::dlsym(library, c"sconce_runtime_table".as_ptr()) };
        fill(table, &functions)?;
    }
    Ok(())
}

fn fill(table: *mut c_void, functions: &[*const ()]) -> Result<()> {
    if table.is_null() {
        return Err(Error::internal("a library of the runtime has no table"));
    }
    // SAFETY: the build script gave the table one place for each name. No other thread calls its functions yet: they are
    // found after this.
    let places =
        unsafe { std::slice::from_raw_parts_mut(table.cast::<*const ()>(), functions.len()) };
    places.copy_from_slice(functions);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_libraries_has_a_function() {
        for name in NAMES {
            assert!(crate::runtime::function(name).is_some(), "{name}");
        }
        assert_eq!(crate::runtime::function("cudaMalloc3D"), None);
    }
}
