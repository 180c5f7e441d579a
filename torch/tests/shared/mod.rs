//! The two libraries as programs see them, for the tests that open models and kernel libraries.

#![allow(dead_code, reason = "each program uses a part")]

pub(crate) mod operators;
pub(crate) mod recorded;

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

#[link(name = "sconce_torch")]
unsafe extern "C" {
    pub(crate) fn sconce_model_load(
        path: *const c_char,
        options: *const c_void,
        model: *mut usize,
    ) -> i32;
    pub(crate) safe fn sconce_model_unload(model: usize) -> i32;
    fn sconce_model_run(
        model: usize,
        inputs: *const usize,
        n: usize,
        outputs: *mut usize,
        m: usize,
    ) -> i32;
    fn sconce_model_run_into(
        model: usize,
        inputs: *const usize,
        n: usize,
        outputs: *const usize,
        m: usize,
    ) -> i32;
    fn sconce_model_update_constants(
        model: usize,
        names: *const *const c_char,
        tensors: *const usize,
        count: usize,
        inactive: bool,
    ) -> i32;
    safe fn sconce_model_swap_constants(model: usize) -> i32;
    safe fn sconce_model_describe(model: usize, text: &mut *mut c_char) -> i32;
    pub(crate) fn sconce_torch_string_free(text: *mut c_char);
    safe fn sconce_torch_last_error_message() -> *const c_char;
}

#[link(name = "sconce")]
unsafe extern "C" {
    fn sconce_tensor_from_values(
        values: *const c_void,
        bytes: usize,
        sizes: *const i64,
        rank: usize,
        options: *const TensorOptions,
        tensor: *mut usize,
    ) -> i32;
    fn sconce_tensor_as_strided(
        tensor: usize,
        sizes: *const i64,
        strides: *const i64,
        rank: usize,
        offset: i64,
        made: *mut usize,
    ) -> i32;
    fn sconce_tensor_to_values(tensor: usize, values: *mut c_void, bytes: usize) -> i32;
    safe fn sconce_tensor_get_numel(tensor: usize, numel: &mut i64) -> i32;
    safe fn sconce_tensor_release(tensor: usize) -> i32;
    safe fn sconce_tensor_live_count() -> usize;
}

#[repr(C)]
struct TensorOptions {
    struct_size: u32,
    dtype: i32,
    device: i32,
    memory_format: i32,
    pinned: bool,
    reserved: [u8; 7],
}

/// `SCONCE_DTYPE_F32`.
pub(crate) const F32: i32 = 0;
/// `SCONCE_DEVICE_CPU`.
const CPU: i32 = -2;

/// Sets a variable of the environment, before the library reads it.
pub(crate) fn set_variable(name: &str, value: impl AsRef<std::ffi::OsStr>) {
    // SAFETY: each test runs in a process of its own, in which no other thread uses the environment.
    unsafe { std::env::set_var(name, value) };
}

/// The text of the thread's newest failure.
pub(crate) fn message() -> String {
    let text = sconce_torch_last_error_message();
    // SAFETY: a text that is valid until the thread's next failure.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Loads a model, or returns the text of the failure.
pub(crate) fn load_model(path: &Path) -> Result<usize, String> {
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut model = 0;
    // SAFETY: the text ends with NUL, the place is valid for a write.
    match unsafe { sconce_model_load(path.as_ptr(), null(), &mut model) } {
        0 => Ok(model),
        _ => Err(message()),
    }
}

/// The result of a call with this status.
pub(crate) fn ok(status: i32) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(message()) }
}

/// Runs a model, which writes handles of its outputs.
pub(crate) fn run_model(
    model: usize,
    inputs: &[usize],
    outputs: &mut [usize],
) -> Result<(), String> {
    let (n, m) = (inputs.len(), outputs.len());
    // SAFETY: the arrays have the lengths that are passed.
    ok(unsafe { sconce_model_run(model, inputs.as_ptr(), n, outputs.as_mut_ptr(), m) })
}

/// Runs a model, whose outputs go to tensors; 0 is none.
pub(crate) fn run_model_into(
    model: usize,
    inputs: &[usize],
    outputs: &[usize],
) -> Result<(), String> {
    let (n, m) = (inputs.len(), outputs.len());
    // SAFETY: the arrays have the lengths that are passed.
    ok(unsafe { sconce_model_run_into(model, inputs.as_ptr(), n, outputs.as_ptr(), m) })
}

/// Gives constants of a model other values, in the active set or the other one.
pub(crate) fn update_constants(
    model: usize,
    constants: &[(&str, usize)],
    inactive: bool,
) -> Result<(), String> {
    let names: Vec<CString> =
        constants.iter().map(|(name, _)| CString::new(*name).unwrap()).collect();
    let names: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let tensors: Vec<usize> = constants.iter().map(|(_, tensor)| *tensor).collect();
    let (names, tensors, count) = (names.as_ptr(), tensors.as_ptr(), constants.len());
    // SAFETY: there are as many names, which end with NUL, and tensors as constants.
    ok(unsafe { sconce_model_update_constants(model, names, tensors, count, inactive) })
}

/// Makes the inactive set of a model's constants the active one.
pub(crate) fn swap_constants(model: usize) -> Result<(), String> {
    ok(sconce_model_swap_constants(model))
}

/// What a model says of itself.
pub(crate) fn described(model: usize) -> String {
    let mut text = null_mut();
    assert_eq!(sconce_model_describe(model, &mut text), 0, "{}", message());
    // SAFETY: the call succeeded, so it is a text.
    let words = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    // SAFETY: the text is the call's, and is freed once.
    unsafe { sconce_torch_string_free(text) };
    words
}

/// The memory of a tensor, seen through sizes and strides from its begin.
pub(crate) fn as_strided(tensor: usize, sizes: &[i64], strides: &[i64]) -> usize {
    assert_eq!(sizes.len(), strides.len());
    let (rank, mut made) = (sizes.len(), 0);
    // SAFETY: there are as many sizes and strides as dimensions; the place is valid for a write.
    let status = unsafe {
        sconce_tensor_as_strided(tensor, sizes.as_ptr(), strides.as_ptr(), rank, 0, &mut made)
    };
    assert_eq!(status, 0, "{}", message());
    made
}

/// A tensor of the CPU with values of the type `dtype`.
pub(crate) fn tensor<T: Copy>(values: &[T], dtype: i32, sizes: &[i64]) -> usize {
    let options = TensorOptions {
        struct_size: size_of::<TensorOptions>() as u32,
        dtype,
        device: CPU,
        memory_format: 0,
        pinned: false,
        reserved: [0; 7],
    };
    let (mut tensor, bytes) = (0, size_of_val(values));
    // SAFETY: the values have that many bytes; sizes, options and the place are valid.
    let status = unsafe {
        sconce_tensor_from_values(
            values.as_ptr().cast(),
            bytes,
            sizes.as_ptr(),
            sizes.len(),
            &options,
            &mut tensor,
        )
    };
    assert_eq!(status, 0);
    tensor
}

/// The number of elements.
pub(crate) fn numel(tensor: usize) -> i64 {
    let mut numel = 0;
    assert_eq!(sconce_tensor_get_numel(tensor, &mut numel), 0);
    numel
}

/// Reads all elements of a tensor, which have the size of the values.
pub(crate) fn read_values<T>(tensor: usize, values: &mut [T]) {
    let bytes = size_of_val(values);
    // SAFETY: the buffer has that many bytes.
    let status = unsafe { sconce_tensor_to_values(tensor, values.as_mut_ptr().cast(), bytes) };
    assert_eq!(status, 0, "the type has another size");
}

/// Releases a tensor.
pub(crate) fn release(tensor: usize) {
    assert_eq!(sconce_tensor_release(tensor), 0);
}

/// The number of tensors that are alive.
pub(crate) fn live() -> usize {
    sconce_tensor_live_count()
}
