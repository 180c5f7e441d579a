//! An open shared library of a model.

#![allow(unsafe_code, reason = "dlopen and dlsym")]

use std::ffi::{CString, c_void};
use std::path::Path;

use super::dynamic_loader::open;
use super::process::{missing, needs_runtime, prepare, refusal};
use super::symbols::symbols;
use crate::error::{Error, Result};
use crate::foreign::ModelFunction;

/// A library that is closed when it is dropped.
#[derive(Debug)]
pub struct Library {
    handle: *mut c_void,
    undefined: Vec<String>,
}

// SAFETY: the system's loader takes a handle on any thread.
unsafe impl Send for Library {}
// SAFETY: a shared reference only looks functions up, which the loader allows on several threads at once.
unsafe impl Sync for Library {}

impl Library {
    /// Opens a model's library, which has the functions `required`. Its functions of PyTorch's ABI must all be offered.
    pub fn open(path: &Path, required: &[&str]) -> Result<Library> {
        let symbols = symbols(path)?;
        if let Some(name) = required.iter().find(|name| !symbols.defined.contains(**name)) {
            return Err(no_model(path, name, &symbols.undefined));
        }
        let undefined = symbols.undefined;
        prepare(needs_runtime(&undefined))?;
        let missing = missing(&undefined);
        if !missing.is_empty() {
            return Err(refusal(path, &missing));
        }
        let handle =
            open(&path.to_string_lossy(), libc::RTLD_NOW | libc::RTLD_LOCAL).map_err(|why| {
                Error::not_supported(format!("{} could not be opened: {why}", path.display()))
            })?;
        Ok(Library { handle, undefined })
    }

    /// A function of the library.
    pub fn function(&self, name: &str) -> Option<ModelFunction> {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle is open, and the name ends with NUL.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if address.is_null() {
            return None;
        }
        // SAFETY: a function's address is a pointer; it is called with what the ABI of models says it takes.
        Some(unsafe { std::mem::transmute::<*mut c_void, ModelFunction>(address) })
    }

    /// Functions that the library needs from others.
    pub fn undefined(&self) -> &[String] {
        &self.undefined
    }
}

/// What to say of a library that lacks a function which every model has.
fn no_model(path: &Path, name: &str, undefined: &[String]) -> Error {
    let registers = undefined.iter().any(|name| name.starts_with("aoti_torch_library_init_"));
    let remedy = if registers {
        "It registers operators: load it with sconce_torch_load"
    } else {
        "Models come from torch._inductor.aoti_compile_and_package of PyTorch 2.9 or newer"
    };
    Error::not_supported(format!(
        "{} is no compiled model: it has no function {name}. {remedy}",
        path.display()
    ))
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and closed once.
        unsafe { libc::dlclose(self.handle) };
    }
}
