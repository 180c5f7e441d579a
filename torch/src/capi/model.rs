//! Compiled models in C.

#![allow(non_camel_case_types, reason = "the names of the C API")]
#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::ffi::{CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::abi::arguments;
use crate::abi::constants::dtype_of;
use crate::abi::errors::not_null;
use crate::error::{Error, Result, guard, write_out};
use crate::model::loaded::{Choice, Model};
use crate::model::{check, table};
use crate::package::source::Extent;
use crate::sconce::Tensor;
use crate::sconce::api::{sconce_status, sconce_tensor};

/// A compiled model. Opaque.
pub struct sconce_model {
    _private: [u8; 0],
}

/// Where a model is to run, and which one of a package. Begin with `SCONCE_MODEL_OPTIONS_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_model_options {
    /// `sizeof(sconce_model_options)`, set by the caller.
    pub struct_size: u32,
    /// The index of the device for a model that was compiled for CUDA, or -1 for the current one. Without effect for a
    /// model of the CPU.
    pub device: i32,
    /// The model's name within its package; NULL for the only one, or the one called `model`.
    pub name: *const c_char,
}

/// What a model's input must be. Begin with `SCONCE_MODEL_INPUT_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_model_input {
    /// `sizeof(sconce_model_input)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_DTYPE_…`, or -1 if that is not known.
    pub dtype: i32,
    /// The number of dimensions, or -1 if that is not known.
    pub rank: i32,
    /// 0.
    pub reserved: i32,
    /// The least size of each of the first eight dimensions.
    pub least: [i64; 8],
    /// The greatest size of each of the first eight dimensions; equal to the least one for a fixed size.
    pub most: [i64; 8],
}

/// A constant of a model. Begin with `SCONCE_MODEL_CONSTANT_INIT`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct sconce_model_constant {
    /// `sizeof(sconce_model_constant)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_DTYPE_…`, or -1 for a type that the library does not have.
    pub dtype: i32,
    /// Bytes of the elements.
    pub bytes: u64,
    /// Whether the model works it out of other constants.
    pub folded: bool,
    /// 0.
    pub reserved: [u8; 7],
}

/// The model of a handle.
fn model_of(model: *mut sconce_model) -> Result<std::sync::Arc<Model>> {
    table::get(model as usize)
}

/// A text of the caller.
///
/// # Safety
/// The text is NULL or ends with NUL.
unsafe fn text(pointer: *const c_char, name: &str) -> Result<String> {
    not_null(pointer, name)?;
    // SAFETY: not NULL, and the caller's promise.
    Ok(unsafe { std::ffi::CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// Writes a text that the caller frees.
///
/// # Safety
/// The place is NULL or valid for a write.
pub(crate) unsafe fn return_text(place: *mut *mut c_char, name: &str, text: &str) -> Result<()> {
    not_null(place, name)?;
    let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
    let bytes = text.as_bytes_with_nul();
    // SAFETY: no preconditions.
    let memory = unsafe { libc::malloc(bytes.len()) };
    if memory.is_null() {
        return Err(Error::new(
            crate::sconce::api::SCONCE_ERROR_OUT_OF_MEMORY,
            "no memory for a text",
        ));
    }
    // SAFETY: the memory has as many bytes as the text.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr().cast::<c_void>(), memory, bytes.len()) };
    // SAFETY: the caller's promise.
    unsafe { write_out(place, name, memory.cast()) }
}

/// Handles of an array of the caller.
///
/// # Safety
/// The array has `count` entries.
unsafe fn handles<'a, T>(array: *const T, count: usize, name: &str) -> Result<&'a [T]> {
    if count > 1 << 20 {
        return Err(Error::invalid_argument(format!(
            "{name} has {count} entries; at most 1048576 are taken"
        )));
    }
    // SAFETY: the caller's promise.
    unsafe { arguments::array(array, count, name) }
}

/// Frees a text that a function of libsconce_torch returned.
///
/// - `text`: NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_torch_string_free(text: *mut c_char) {
    // SAFETY: NULL, or memory of `malloc` that is freed once.
    unsafe { libc::free(text.cast()) };
}

/// Loads a compiled model: a package (`.pt2`) as `torch._inductor.aoti_compile_and_package` of PyTorch 2.9 or newer makes
/// it, or the shared library of one.
///
/// The files of a package are written to a private folder in `TMPDIR`, which is removed when the model is unloaded, or
/// at exit. The code of the library runs in the process: load only models that you trust.
///
/// - `path`: the file.
/// - `options`: NULL for a model of the package's only name, on the current device.
/// - `out_model`: receives the model.
/// - Errors: IO: the file cannot be read, or is damaged. INVALID_ARGUMENT: the package has no compiled model, or several.
///   NOT_SUPPORTED: the model needs functions that the library does not offer, which the text lists with their
///   operations; it was compiled for another processor or device; or it is one of CUDA and the devices are simulated.
///   INVALID_STATE: PyTorch is in the process.
/// - Ownership: the caller unloads the model with `sconce_model_unload`.
/// - Ordering: blocks while constants are copied to the device.
/// - torch: `torch._inductor.aoti_load_package`, `torch::inductor::AOTIModelPackageLoader`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_load(
    path: *const c_char,
    options: *const sconce_model_options,
    out_model: *mut *mut sconce_model,
) -> sconce_status {
    guard(|| {
        not_null(out_model, "out_model")?;
        not_null(path, "path")?;
        // SAFETY: not NULL, and the caller's promise.
        let path = unsafe { std::ffi::CStr::from_ptr(path) };
        let path = Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
        let (mut device, mut name) = (None, None);
        if !options.is_null() {
            // SAFETY: not NULL; the caller promises a struct.
            let options = unsafe { options.read() };
            if options.struct_size as usize != size_of::<sconce_model_options>() {
                return Err(Error::invalid_argument(
                    "options.struct_size is of no version of the struct",
                ));
            }
            device = (options.device >= 0).then_some(options.device);
            if !options.name.is_null() {
                // SAFETY: the caller's promise.
                name = Some(unsafe { text(options.name, "options.name") }?);
            }
        }
        let model = Model::load(path, Choice { device, name: name.as_deref() })?;
        let handle = std::ptr::without_provenance_mut(table::insert(model));
        // SAFETY: the caller's promise.
        unsafe { write_out(out_model, "out_model", handle) }
    })
}

/// Unloads a model, once no call uses it any more.
///
/// - `model`: NULL does nothing.
/// - Ordering: waits for the model's device.
/// - torch: the end of an `AOTIModelPackageLoader`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_unload(model: *mut sconce_model) -> sconce_status {
    guard(|| if model.is_null() { Ok(()) } else { table::remove(model as usize) })
}

/// Returns how many inputs and outputs a model has, and where it runs.
///
/// - `out_inputs`, `out_outputs`: receive the numbers.
/// - `out_device`: receives the index of the device, or `SCONCE_DEVICE_CPU`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_get_shape(
    model: *mut sconce_model,
    out_inputs: *mut usize,
    out_outputs: *mut usize,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: the caller's promise.
        unsafe { write_out(out_inputs, "out_inputs", model.description.inputs.len()) }?;
        // SAFETY: as above.
        unsafe { write_out(out_outputs, "out_outputs", model.description.outputs.len()) }?;
        // SAFETY: as above.
        unsafe { write_out(out_device, "out_device", model.device) }
    })
}

/// Returns what an input of a model must be.
///
/// - `index`: of the input.
/// - `out_input`: receives type and sizes, as far as the package says them.
/// - `out_name`: receives the model's name of the input; may be NULL.
/// - Ownership: the caller frees the name with `sconce_torch_string_free`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_get_input(
    model: *mut sconce_model,
    index: usize,
    out_input: *mut sconce_model_input,
    out_name: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let input = model.description.inputs.get(index).ok_or_else(|| {
            Error::invalid_argument(format!(
                "there are {} inputs, and no input {index}",
                model.description.inputs.len()
            ))
        })?;
        not_null(out_input, "out_input")?;
        // SAFETY: not NULL, and the caller promises a struct.
        let mut described = unsafe { out_input.read() };
        if described.struct_size as usize != size_of::<sconce_model_input>() {
            return Err(Error::invalid_argument(
                "out_input.struct_size is of no version of the struct",
            ));
        }
        let known = crate::abi::constants::SCALAR_TYPES;
        let dtype = input.wanted.dtype.as_deref();
        described.dtype =
            known.iter().find(|known| Some(known.name) == dtype).map_or(-1, |known| known.dtype);
        described.rank = input.wanted.sizes.as_ref().map_or(-1, |sizes| sizes.len() as i32);
        for (at, extent) in input.wanted.sizes.iter().flatten().take(8).enumerate() {
            (described.least[at], described.most[at]) = match *extent {
                Extent::Fixed(size) => (size, size),
                Extent::Range(least, most) => (least, most),
            };
        }
        if !out_name.is_null() {
            // SAFETY: the caller's promise.
            unsafe { return_text(out_name, "out_name", &input.name) }?;
        }
        // SAFETY: the caller's promise.
        unsafe { write_out(out_input, "out_input", described) }
    })
}

/// Returns a text that says what a model takes and returns, its constants, its memory and what it was compiled for.
///
/// - `out_text`: receives the text, of several lines.
/// - Ownership: the caller frees the text with `sconce_torch_string_free`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_describe(
    model: *mut sconce_model,
    out_text: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let mut lines = Vec::new();
        for (index, input) in model.description.inputs.iter().enumerate() {
            lines.push(format!(
                "input {index}: {} {}",
                input.name,
                check::wanted(input, model.device)
            ));
        }
        for (index, name) in model.description.outputs.iter().enumerate() {
            lines.push(format!("output {index}: {name}"));
        }
        let bytes: usize = model.description.constants.iter().map(|constant| constant.bytes).sum();
        lines.push(format!("constants: {} with {bytes} bytes", model.description.constants.len()));
        for constant in &model.description.constants {
            let dtype =
                crate::abi::constants::scalar_type(constant.dtype).map_or("?", |known| known.name);
            lines
                .push(format!("constant {}: {dtype}, {} bytes", constant.original, constant.bytes));
        }
        for (key, value) in model.metadata.iter().filter(|(_, value)| !value.is_empty()) {
            lines.push(format!("{key}: {value}"));
        }
        lines.push(format!("arguments: {}", model.description.call_spec[0]));
        lines.push(format!("results: {}", model.description.call_spec[1]));
        // SAFETY: the caller's promise.
        unsafe { return_text(out_text, "out_text", &lines.join("\n")) }
    })
}

/// Writes tensors where the caller wants them, if there is room for all.
///
/// # Safety
/// There is room for `count` handles.
unsafe fn return_tensors(place: *mut *mut sconce_tensor, tensors: Vec<Tensor>) {
    for (at, tensor) in tensors.into_iter().enumerate() {
        // SAFETY: the caller's promise, and there are `count` tensors.
        unsafe { place.wrapping_add(at).write(tensor.into_handle()) };
    }
}

/// Runs a model on the current stream of its device.
///
/// - `inputs`: the model's inputs, in its order.
/// - `input_count`, `output_count`: how many the model has.
/// - `out_outputs`: receives the outputs, in the model's order.
/// - Errors: INVALID_ARGUMENT: an input has another type, device, shape or order of elements than the model was compiled
///   for, or the model failed; the text says what was expected. Inputs of a bare library without its source beside it
///   are not checked.
/// - Ownership: inputs stay the caller's. The caller releases each output with `sconce_tensor_release`. An output may
///   share its memory with an input or a constant.
/// - Ordering: queued on the current stream of the model's device; done at once on the CPU. The first run with each set
///   of shapes loads kernels and blocks others.
/// - Threads: any number of threads may run one model at the same time.
/// - torch: `AOTICompiledModel.__call__`, `AOTIModelPackageLoader::run`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_run(
    model: *mut sconce_model,
    inputs: *const *mut sconce_tensor,
    input_count: usize,
    out_outputs: *mut *mut sconce_tensor,
    output_count: usize,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: the caller's promise.
        let inputs = unsafe { handles(inputs, input_count, "inputs") }?;
        check::count("outputs", output_count, model.description.outputs.len())?;
        if output_count != 0 {
            not_null(out_outputs, "out_outputs")?;
        }
        let outputs = model.run(inputs)?;
        // SAFETY: the caller promises room for `output_count` handles, and there are as many outputs.
        unsafe { return_tensors(out_outputs, outputs) };
        Ok(())
    })
}

/// Runs a model and copies its outputs to tensors of the caller. Otherwise as `sconce_model_run`.
///
/// - `outputs`: receive the results, converted to their types; of the shapes that the model returns.
/// - Ownership: all tensors stay the caller's.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_run_into(
    model: *mut sconce_model,
    inputs: *const *mut sconce_tensor,
    input_count: usize,
    outputs: *const *mut sconce_tensor,
    output_count: usize,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: the caller's promise.
        let inputs = unsafe { handles(inputs, input_count, "inputs") }?;
        // SAFETY: as above.
        let outputs = unsafe { handles(outputs, output_count, "outputs") }?;
        check::count("outputs", output_count, model.description.outputs.len())?;
        for (result, output) in model.run(inputs)?.iter().zip(outputs) {
            // SAFETY: any number may be passed as a handle.
            crate::sconce::check(unsafe {
                crate::sconce::api::sconce_tensor_copy(*output, result.handle(), true)
            })?;
        }
        Ok(())
    })
}

/// Runs a model as a CUDA graph. The first run with each set of types and shapes of the inputs captures the graph;
/// later ones copy the inputs to the graph's own and launch it. Otherwise as `sconce_model_run`.
///
/// - `outputs`: an entry that is NULL receives a tensor of the graph, which the next run with the same shapes
///   overwrites; another one is a tensor to which the output is copied.
/// - Errors: NOT_SUPPORTED: the model runs on the CPU. INVALID_ARGUMENT: the model does what a graph cannot hold, such as
///   reading a value on the host.
/// - Ownership: the caller releases each output that was NULL with `sconce_tensor_release`.
/// - Ordering: queued on the current stream of the model's device. Runs of one graph on several streams are in the order
///   of the calls.
/// - torch: a model in a `torch.cuda.CUDAGraph`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_run_graph(
    model: *mut sconce_model,
    inputs: *const *mut sconce_tensor,
    input_count: usize,
    outputs: *mut *mut sconce_tensor,
    output_count: usize,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: the caller's promise.
        let inputs = unsafe { handles(inputs, input_count, "inputs") }?;
        // SAFETY: as above.
        let given = unsafe { handles(outputs.cast_const(), output_count, "outputs") }?;
        check::count("outputs", output_count, model.description.outputs.len())?;
        let into: Vec<_> =
            given.iter().map(|handle| (!handle.is_null()).then_some(*handle)).collect();
        let results = model.run_graph(inputs, &into)?;
        for (at, (result, into)) in results.into_iter().zip(into).enumerate() {
            if into.is_none() {
                // SAFETY: the caller promises `output_count` entries.
                unsafe { outputs.wrapping_add(at).write(result.into_handle()) };
            }
        }
        Ok(())
    })
}

/// Sets how many graphs a model keeps, 8 unless it is set. Of more, those are dropped that were launched longest ago.
///
/// - `limit`: at least 1.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_set_graph_limit(
    model: *mut sconce_model,
    limit: usize,
) -> sconce_status {
    guard(|| {
        if limit == 0 {
            return Err(Error::invalid_argument(
                "limit is 0; a model that runs as a graph keeps at least one",
            ));
        }
        model_of(model)?.set_graph_limit(limit)
    })
}

/// Returns how many constants a model has, and the bytes of all of them.
///
/// - `out_count`, `out_bytes`: receive the numbers.
/// - torch: `AOTICompiledModel.get_constant_fqns`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_get_constants(
    model: *mut sconce_model,
    out_count: *mut usize,
    out_bytes: *mut u64,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: the caller's promise.
        unsafe { write_out(out_count, "out_count", model.description.constants.len()) }?;
        // SAFETY: as above.
        unsafe { write_out(out_bytes, "out_bytes", model.description.constant_bytes) }
    })
}

/// Returns a constant of a model.
///
/// - `index`: of the constant.
/// - `out_constant`: receives type and bytes.
/// - `out_name`: receives its name in the program that was compiled, such as `layers.0.weight`; may be NULL.
/// - Ownership: the caller frees the name with `sconce_torch_string_free`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_get_constant(
    model: *mut sconce_model,
    index: usize,
    out_constant: *mut sconce_model_constant,
    out_name: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        let constants = &model.description.constants;
        let constant = constants.get(index).ok_or_else(|| {
            Error::invalid_argument(format!(
                "there are {} constants, and no constant {index}",
                constants.len()
            ))
        })?;
        not_null(out_constant, "out_constant")?;
        // SAFETY: not NULL, and the caller promises a struct.
        let mut described = unsafe { out_constant.read() };
        if described.struct_size as usize != size_of::<sconce_model_constant>() {
            return Err(Error::invalid_argument(
                "out_constant.struct_size is of no version of the struct",
            ));
        }
        described.dtype = dtype_of(constant.dtype).unwrap_or(-1);
        described.bytes = constant.bytes as u64;
        described.folded = constant.folded;
        if !out_name.is_null() {
            // SAFETY: the caller's promise.
            unsafe { return_text(out_name, "out_name", &constant.original) }?;
        }
        // SAFETY: the caller's promise.
        unsafe { write_out(out_constant, "out_constant", described) }
    })
}

/// Replaces constants of a model. Graphs of the model are dropped, as they read the constants that they were captured
/// with.
///
/// - `names`: of the constants, as `sconce_model_get_constant` returns them.
/// - `tensors`: the new values, of the constants' types and numbers of elements, on any device.
/// - `count`: how many.
/// - `inactive`: whether they go to the inactive set, which `sconce_model_swap_constants` makes the active one; constants
///   of it that were never set are copied of the active set only for buffers, so set all parameters.
/// - Errors: INVALID_ARGUMENT: the model has no such constant, or the tensor does not fit.
/// - Ownership: tensors stay the caller's. A tensor on the model's device is used as it is and kept alive: later changes
///   of its values change the model.
/// - Ordering: waits for the model's device.
/// - Threads: waits for runs under way.
/// - torch: `AOTICompiledModel.load_constants(user_managed=True)`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_update_constants(
    model: *mut sconce_model,
    names: *const *const c_char,
    tensors: *const *mut sconce_tensor,
    count: usize,
    inactive: bool,
) -> sconce_status {
    guard(|| {
        let model = model_of(model)?;
        // SAFETY: the caller's promise.
        let names = unsafe { handles(names, count, "names") }?;
        // SAFETY: as above.
        let tensors = unsafe { handles(tensors, count, "tensors") }?;
        let mut constants = Vec::with_capacity(count);
        for (name, tensor) in names.iter().zip(tensors) {
            // SAFETY: as above.
            constants.push((unsafe { text(*name, "names") }?, *tensor));
        }
        model.update_constants(&constants, inactive)
    })
}

/// Makes the inactive set of constants the active one. Otherwise as `sconce_model_update_constants`.
///
/// - torch: `AOTIModelContainerRunner::swap_constant_buffer`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_model_swap_constants(model: *mut sconce_model) -> sconce_status {
    guard(|| model_of(model)?.swap_constants())
}
