//! Compiled models in C.

#![allow(non_camel_case_types, reason = "the names of the C API")]
#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::abi::arguments::{CText, Out};
use crate::abi::errors::text_of;
use crate::abi::structs::{has_struct_size, read_struct};
use crate::error::{Error, Result, guard};
use crate::model::loaded::{Model, ModelChoice};
use crate::model::{inspection, table};
use crate::sconce::api::sconce_status;

/// A compiled model. Opaque.
pub struct sconce_model {
    _private: [u8; 0],
}

/// The device on which a model runs, and the model's name in its package. Begin with `SCONCE_MODEL_OPTIONS_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_model_options {
    /// `sizeof(sconce_model_options)`, set by the caller.
    pub struct_size: u32,
    /// The index of the device for a model that was compiled for CUDA, or -1 for the current one. Has no effect for
    /// a CPU model.
    pub device: i32,
    /// The model's name within its package; NULL for the only model, or the model called `model`.
    pub name: *const c_char,
}

has_struct_size!(sconce_model_options: device, name);

/// The model of a handle.
pub(super) fn model_of(model: *mut sconce_model) -> Result<std::sync::Arc<Model>> {
    table::get(model as usize)
}

/// Writes a text that the caller frees.
pub(crate) fn return_text(place: Out<'_, *mut c_char>, name: &str, text: &str) -> Result<()> {
    place.check(name)?;
    let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
    let bytes = text.as_bytes_with_nul();
    // SAFETY: the size is not 0.
    let memory = unsafe { libc::malloc(bytes.len()) };
    if memory.is_null() {
        return Err(Error::new(
            crate::sconce::api::SCONCE_ERROR_OUT_OF_MEMORY,
            "no memory for a text",
        ));
    }
    // SAFETY: the memory has as many bytes as the text.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr().cast::<c_void>(), memory, bytes.len()) };
    place.write(name, memory.cast())
}

/// The path that a caller passes.
pub(super) fn path_of<'a>(path: CText<'a>) -> Result<&'a Path> {
    Ok(Path::new(OsStr::from_bytes(path.required("path")?.to_bytes())))
}

/// Frees a text that a function of libsconce_torch returned.
///
/// - `text`: NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_torch_string_free(text: *mut c_char) {
    // SAFETY: the text is NULL, or memory that `return_text` got from `malloc` and that C passes once.
    unsafe { libc::free(text.cast()) };
}

/// Loads a compiled model: a package (`.pt2`) that `torch._inductor.aoti_compile_and_package` of PyTorch 2.9 or
/// newer made, or the shared library of a model.
///
/// The library of a package is extracted into a file in `TMPDIR` that has no name; on file systems without such files
/// it is in a private folder until it is open. A CUDA model whose kernels are files of the package opens them where it
/// first needs them: it has a private folder, which is removed when the model is unloaded, at exit, or, if the process
/// is killed, by the next process that needs one.
/// Nothing else of the package is written. The code of the library runs in the process: load only models that you
/// trust.
///
/// - `path`: the file.
/// - `options`: NULL for the package's only model, on the current device.
/// - `out_model`: receives the model.
/// - Errors: IO: the file cannot be read, or is damaged. INVALID_ARGUMENT: the package has no compiled model, or
///   several. NOT_SUPPORTED: the model needs functions that the library does not provide, which the message lists
///   with their operations; the model was compiled for another processor or device; or it is a CUDA model and the
///   devices are simulated. INVALID_STATE: PyTorch is in the process.
/// - Ownership: the caller unloads the model with `sconce_model_unload`.
/// - Ordering: blocks while constants are copied to the device.
/// - torch: `torch._inductor.aoti_load_package`, `torch::inductor::AOTIModelPackageLoader`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_load(
    path: CText<'_>,
    options: *const sconce_model_options,
    out_model: Out<'_, *mut sconce_model>,
) -> sconce_status {
    guard(|| {
        out_model.check("out_model")?;
        let path = path_of(path)?;
        let (mut device, mut name) = (None, None);
        if !options.is_null() {
            // SAFETY: the pointer is not NULL, so C passed options, which begin with their size.
            let options = unsafe { read_struct(options, "options") }?;
            device = (options.device >= 0).then_some(options.device);
            if !options.name.is_null() {
                // SAFETY: C passed a text in the options.
                name = Some(unsafe { text_of(options.name) });
            }
        }
        let model = Model::load(path, ModelChoice { device, name: name.as_deref() })?;
        let handle = std::ptr::without_provenance_mut(table::insert(model));
        out_model.write("out_model", handle)
    })
}

/// Unloads a model, once no call uses it any more.
///
/// - `model`: NULL does nothing.
/// - Ordering: waits for the model's device.
/// - torch: the destructor of `AOTIModelPackageLoader`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_unload(model: *mut sconce_model) -> sconce_status {
    guard(|| if model.is_null() { Ok(()) } else { table::remove(model as usize) })
}

/// Returns the number of inputs and outputs of a model, and its device.
///
/// - `out_inputs`, `out_outputs`: receive the numbers.
/// - `out_device`: receives the index of the device, or `SCONCE_DEVICE_CPU`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_get_shape(
    model: *mut sconce_model,
    out_inputs: Out<'_, usize>,
    out_outputs: Out<'_, usize>,
    out_device: Out<'_, i32>,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // No result is written if another cannot be.
        out_outputs.check("out_outputs")?;
        out_device.check("out_device")?;
        out_inputs.write("out_inputs", model.description.inputs.len())?;
        out_outputs.write("out_outputs", model.description.outputs.len())?;
        out_device.write("out_device", model.device)
    })
}

/// Returns a text that describes a model: its inputs and outputs, its constants, its memory, the custom operators
/// and the number of functions of PyTorch's ABI that it calls, and what it was compiled for.
///
/// - `out_text`: receives the text, of several lines. `sconce_model_memory` describes its figures of memory.
/// - Ownership: the caller frees the text with `sconce_torch_string_free`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_describe(
    model: *mut sconce_model,
    out_text: Out<'_, *mut c_char>,
) -> sconce_status {
    guard(|| {
        let text = model_of(model)?.words()?;
        return_text(out_text, "out_text", &text)
    })
}

/// Returns a text that describes a model and what it needs, without loading it: its code does not run. The function
/// therefore also describes models that cannot be loaded here, such as CUDA models on a machine without a GPU.
///
/// The text names the device for which the model was compiled, its inputs and outputs as far as the package
/// describes them, the number of functions of PyTorch's ABI that it calls and all missing ones, and its custom
/// operators with those that no kernel library has registered.
///
/// - `path`: a package or a shared library, as for `sconce_model_load`.
/// - `name`: the model's name within its package; NULL for the only model, or the model called `model`.
/// - `out_text`: receives the text, of several lines.
/// - Errors: IO: the file cannot be read, or is damaged. INVALID_ARGUMENT: the package has no compiled model, or
///   several. NOT_SUPPORTED: the library was compiled for another processor.
/// - Ownership: the caller frees the text with `sconce_torch_string_free`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_model_inspect(
    path: CText<'_>,
    name: CText<'_>,
    out_text: Out<'_, *mut c_char>,
) -> sconce_status {
    guard(|| {
        out_text.check("out_text")?;
        let name = name.get().map(CStr::to_string_lossy);
        let found = inspection::words(path_of(path)?, name.as_deref())?;
        return_text(out_text, "out_text", &found)
    })
}
