//! Calls of functions that may throw C++ exceptions. `calls.cc` makes the calls and catches; here are its
//! declarations and what becomes of the texts.

#![allow(unsafe_code, reason = "calls foreign functions through calls.cc")]

pub mod words;

use std::ffi::{CStr, c_char, c_void};

use crate::error::{Error, Result, ensure};

/// A boxed kernel: arguments and results share a stack of words.
pub type BoxedKernel = unsafe extern "C" fn(*mut u64, u64, u64);

/// A function of a compiled model, with its arguments as words.
pub type ModelFunction = unsafe extern "C" fn();

unsafe extern "C" {
    fn sconce_torch_call_boxed(
        kernel: BoxedKernel,
        stack: *mut u64,
        arguments: u64,
        results: u64,
        text: *mut c_char,
        capacity: usize,
    ) -> i32;
    fn sconce_torch_call_model(
        function: ModelFunction,
        arguments: *const usize,
        text: *mut c_char,
        capacity: usize,
    ) -> i32;
}

unsafe extern "C" {
    safe fn sconce_torch_cpu_allocator() -> *mut c_void;
}

/// The object of C++ that allocates memory of the CPU (`allocator.cc`).
pub fn cpu_allocator() -> *mut c_void {
    sconce_torch_cpu_allocator()
}

/// What `calls.cc` returns for a call that threw.
const THREW: i32 = -0x5c0ce;
/// Arguments that `calls.cc` passes to a function of a model.
const MODEL_ARGUMENTS: usize = 7;

/// The text of an exception; longer ones are cut.
struct ExceptionText([c_char; 2048]);

impl ExceptionText {
    fn new() -> ExceptionText {
        ExceptionText([0; 2048])
    }

    fn error(&self) -> Error {
        // SAFETY: `calls.cc` ends the text within the array, and it is 0 from the start.
        let text = unsafe { CStr::from_ptr(self.0.as_ptr()) };
        Error::invalid_argument(text.to_string_lossy().into_owned())
    }
}

/// Calls a boxed kernel.
///
/// # Safety
/// `kernel` is a boxed kernel, and `stack` begins with the words that it takes.
pub unsafe fn call_boxed(
    kernel: BoxedKernel,
    stack: &mut [u64],
    arguments: usize,
    results: usize,
) -> Result<()> {
    ensure!(stack.len() >= arguments.max(results));
    let mut text = ExceptionText::new();
    let (pointer, capacity) = (text.0.as_mut_ptr(), text.0.len());
    // SAFETY: the stack begins with the words that the kernel takes, which this function demands, and is long enough for
    // the results, which was checked; the text has `capacity` bytes.
    let result = unsafe {
        sconce_torch_call_boxed(
            kernel,
            stack.as_mut_ptr(),
            arguments as u64,
            results as u64,
            pointer,
            capacity,
        )
    };
    if result == THREW { Err(text.error()) } else { Ok(()) }
}

/// Calls a function of a compiled model and returns its own result.
///
/// # Safety
/// `function` returns an `int32_t`, takes at most as many arguments as there are, and these are what it takes.
pub unsafe fn call_model<const N: usize>(
    function: ModelFunction,
    arguments: [usize; N],
) -> Result<i32> {
    const { assert!(N <= MODEL_ARGUMENTS) };
    let mut words = [0; MODEL_ARGUMENTS];
    words[..N].copy_from_slice(&arguments);
    let mut text = ExceptionText::new();
    let (pointer, capacity) = (text.0.as_mut_ptr(), text.0.len());
    // SAFETY: this function demands a function that takes these arguments; `calls.cc` reads seven words, and there are
    // seven; the text has `capacity` bytes.
    let result = unsafe { sconce_torch_call_model(function, words.as_ptr(), pointer, capacity) };
    if result == THREW { Err(text.error()) } else { Ok(result) }
}
