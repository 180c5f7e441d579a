//! The functions that a model's library exports: `AOTInductorModelContainer…`.

#![allow(unsafe_code, reason = "calls functions of a model")]

use std::ffi::{CStr, CString, c_char};
use std::mem::ManuallyDrop;
use std::path::Path;

use crate::abi::blobs::constants_made;
use crate::error::{self, Error, Result};
use crate::foreign::{ModelFunction, call_model};
use crate::loading::library::Library;
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

// Functions that every model has.
const CREATE: &str = "AOTInductorModelContainerCreateWithDevice";
const RUN: &str = "AOTInductorModelContainerRunSingleThreaded";
const DELETE: &str = "AOTInductorModelContainerDelete";
/// What tells a model from other libraries.
pub const REQUIRED: [&str; 3] = [CREATE, RUN, DELETE];

/// An entry of a list of constants: a name and a tensor.
#[repr(C)]
pub struct ConstantEntry {
    /// The model's name of the constant.
    pub name: *const c_char,
    /// The tensor, which stays the caller's.
    pub tensor: TensorHandle,
}

/// A container of a model, and the functions that it is used with.
pub struct Container {
    pointer: usize,
    run: ModelFunction,
    delete: ModelFunction,
    /// Whether container and library stay, since queued work may use them.
    is_kept: bool,
    /// Closed after the container is deleted.
    library: ManuallyDrop<Library>,
}

/// Models of PyTorch 2.15 return the text of the thread's newest failure.
const LAST_ERROR: &str = "AOTInductorGetLastError";
/// What a model says of a failed call of this library, which has the reason.
const OF_A_CALL: &str = "API call failed";

/// A failed call, with the reason: of a function of this library that failed within it, or of the model itself.
fn failed(library: &Library, name: &str) -> Error {
    let reason = match (error::newest(), last_error(library)) {
        (Some(own), Some(text)) if text.contains(OF_A_CALL) => own,
        (_, Some(text)) => text,
        (Some(own), None) => own,
        (None, None) => {
            return Error::invalid_argument(format!(
                "the model failed in {name}; it wrote the reason to standard error"
            ));
        }
    };
    Error::invalid_argument(format!("the model failed: {reason}"))
}

/// The text of a model's newest failure on this thread, if it keeps one.
fn last_error(library: &Library) -> Option<String> {
    let function = library.function(LAST_ERROR)?;
    let mut address = 0_usize;
    // SAFETY: the function takes a place for the address of a text.
    let status = unsafe { call_model(function, [(&raw mut address).expose_provenance()]) };
    let text = text(address);
    (status.ok()? == 0 && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Calls a function of a model, which returns 0 if it succeeded.
///
/// # Safety
/// The function takes these arguments.
unsafe fn call<const N: usize>(
    library: &Library,
    function: ModelFunction,
    name: &str,
    arguments: [usize; N],
) -> Result<()> {
    error::forget();
    // SAFETY: `function` is one of a compiled model, which returns an `int32_t` and takes these arguments.
    match unsafe { call_model(function, arguments) } {
        Ok(0) => Ok(()),
        Ok(_) => Err(failed(library, name)),
        Err(thrown) => Err(thrown.within("the model failed")),
    }
}

impl Container {
    /// Opens a model's library, calls `opened`, and makes a container on a device, such as `cpu` or `cuda:0`. Returns
    /// the constants that the library has, too, in the order in which the model makes them; their names in that order
    /// are for messages.
    pub fn create(
        path: &Path,
        opened: &mut dyn FnMut(),
        device: &str,
        names: Vec<String>,
    ) -> Result<(Container, Vec<Option<Tensor>>)> {
        let library = Library::open(path, &REQUIRED)?;
        opened();
        let needed = |name: &str| {
            let missing = || Error::internal(format!("the loader does not find {name}"));
            library.function(name).ok_or_else(missing)
        };
        let (create, run, delete) = (needed(CREATE)?, needed(RUN)?, needed(DELETE)?);
        let folder = path.parent().unwrap_or(Path::new(".")).to_string_lossy().into_owned();
        let no_nul = |_| Error::invalid_argument("the path contains a NUL");
        let (device, folder) =
            (CString::new(device).map_err(no_nul)?, CString::new(folder).map_err(no_nul)?);
        let mut pointer = 0_usize;
        let arguments = [
            (&raw mut pointer).addr(),
            1,
            device.as_ptr().expose_provenance(),
            folder.as_ptr().expose_provenance(),
        ];
        // SAFETY: the function takes a place for the container, the number of models, the device and the folder.
        let (created, constants) =
            constants_made(names, || unsafe { call(&library, create, CREATE, arguments) });
        created?;
        let library = ManuallyDrop::new(library);
        Ok((Container { pointer, run, delete, is_kept: false, library }, constants))
    }

    /// Leaves the library and its memory until the process ends.
    pub(super) fn keep_open(&mut self) {
        self.is_kept = true;
    }

    /// Whether the library has a function.
    pub fn has(&self, name: &str) -> bool {
        self.library.function(name).is_some()
    }

    /// Functions that the library needs from others.
    pub fn undefined(&self) -> &[String] {
        self.library.undefined()
    }

    /// Calls a function whose first argument is the container.
    ///
    /// # Safety
    /// The function takes these arguments behind the container.
    pub unsafe fn call<const N: usize>(&self, name: &str, arguments: [usize; N]) -> Result<()> {
        let function = self.library.function(name).ok_or_else(|| {
            Error::not_supported(format!(
                "the model was compiled by a version of PyTorch whose models have no {name}"
            ))
        })?;
        let mut all = [0; 6];
        all[0] = self.pointer;
        all[1..=N].copy_from_slice(&arguments);
        // SAFETY: the container is the first argument of the functions that are called here, and the others are what the
        // function takes behind it. Those behind the last one of the function are ignored.
        unsafe { call(&self.library, function, name, all) }
    }

    /// A number that a function writes.
    pub fn number<T: Default>(&self, name: &str) -> Result<T> {
        let mut value = T::default();
        // SAFETY: the functions that are asked for numbers take a place behind the container.
        unsafe { self.call(name, [(&raw mut value).expose_provenance()]) }?;
        Ok(value)
    }

    /// A number that a function writes for an index.
    pub fn number_of<T: Default>(&self, name: &str, index: usize) -> Result<T> {
        let mut value = T::default();
        // SAFETY: the functions that are asked for numbers by index take the index and a place behind the container.
        unsafe { self.call(name, [index, (&raw mut value).expose_provenance()]) }?;
        Ok(value)
    }

    /// A text that a function returns for an index.
    pub fn text_of(&self, name: &str, index: usize) -> Result<String> {
        let address: usize = self.number_of(name, index)?;
        Ok(text(address))
    }

    /// Runs the model. Inputs are the model's from now on.
    ///
    /// # Safety
    /// There are as many inputs and outputs as the model has, nobody else runs the model if it has to load kernels, and
    /// `operators` is the address of the model's own.
    pub unsafe fn run(
        &self,
        inputs: &mut [TensorHandle],
        outputs: &mut [TensorHandle],
        stream: usize,
        operators: usize,
    ) -> Result<()> {
        let arguments = [
            self.pointer,
            inputs.as_mut_ptr().expose_provenance(),
            inputs.len(),
            outputs.as_mut_ptr().expose_provenance(),
            outputs.len(),
            stream,
            operators,
        ];
        // SAFETY: the function takes the container, both arrays with their lengths, a stream and an executor.
        unsafe { call(&self.library, self.run, RUN, arguments) }
    }
}

/// A text of a model, copied.
pub fn text(address: usize) -> String {
    let pointer: *const c_char = std::ptr::with_exposed_provenance(address);
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: models return texts that end with NUL and live as long as the container.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

impl Drop for Container {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // SAFETY: the function takes the container, which is deleted once.
        let deleted = unsafe { call(&self.library, self.delete, DELETE, [self.pointer]) };
        if let Err(error) = deleted {
            error::record(&error);
        }
        // SAFETY: the library is not used again.
        unsafe { ManuallyDrop::drop(&mut self.library) };
    }
}
