//! Words of memory from C++'s `operator new`: kernel libraries allocate and free optional values with it.

#![allow(unsafe_code, reason = "calls values.cc and the CUDA runtime")]

use std::ffi::{CStr, c_char, c_void};

use crate::error::{Error, Result};

unsafe extern "C" {
    safe fn sconce_torch_new_word() -> *mut u64;
    fn sconce_torch_delete_word(word: *mut u64);
    fn sconce_torch_call_range(
        function: RangeFunction,
        begin: i64,
        end: i64,
        context: *mut c_void,
        text: *mut c_char,
        capacity: usize,
    ) -> i32;
}

/// A function over a part of a range of numbers.
pub type RangeFunction = unsafe extern "C" fn(i64, i64, *mut c_void);

/// A new word with a value.
pub fn new(value: u64) -> Result<*mut u64> {
    let word = sconce_torch_new_word();
    if word.is_null() {
        return Err(Error::new(
            crate::sconce::api::SCONCE_ERROR_OUT_OF_MEMORY,
            "no memory is left for a value",
        ));
    }
    // SAFETY: it is a word that nothing else uses.
    unsafe { word.write(value) };
    Ok(word)
}

/// Frees a word.
///
/// # Safety
/// It is one of [`new`] or of C++ `new`, and not used afterwards.
pub unsafe fn delete(word: *mut u64) {
    // SAFETY: C++ `new` allocated the word, here or in a kernel library, and nobody uses it after this call.
    unsafe { sconce_torch_delete_word(word) };
}

/// Calls a function over a range. An exception that it throws is an error.
///
/// # Safety
/// The function takes the range and the context.
pub unsafe fn call_range(
    function: RangeFunction,
    begin: i64,
    end: i64,
    context: *mut c_void,
) -> Result<()> {
    let mut text = super::ExceptionText::new();
    let (pointer, capacity) = (text.0.as_mut_ptr(), text.0.len());
    // SAFETY: this function demands a function that takes the range and the context; the text has `capacity` bytes.
    let result =
        unsafe { sconce_torch_call_range(function, begin, end, context, pointer, capacity) };
    if result == super::THREW { Err(text.error()) } else { Ok(()) }
}

/// What the CUDA runtime says of an error, if it is in the process.
pub fn cuda_error_text(error: i32) -> String {
    // SAFETY: the name ends with NUL.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"cudaGetErrorString".as_ptr()) };
    if function.is_null() {
        return "the CUDA runtime is not in this process".to_owned();
    }
    // SAFETY: the runtime's function of this name takes the number and returns a constant text.
    let function: extern "C" fn(i32) -> *const c_char = unsafe { std::mem::transmute(function) };
    let text = function(error);
    if text.is_null() {
        return "an unknown error".to_owned();
    }
    // SAFETY: a constant text.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Takes the thread's newest error from the CUDA runtime, if it is in the process: it was reported.
pub fn forget_cuda_error() {
    // SAFETY: the name ends with NUL.
    let function = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"cudaGetLastError".as_ptr()) };
    if function.is_null() {
        return;
    }
    // SAFETY: the runtime's function of this name takes nothing and returns a number.
    let function: extern "C" fn() -> i32 = unsafe { std::mem::transmute(function) };
    function();
}
