//! Operations that are declared to the sanitizer.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::ffi::CString;
use std::marker::PhantomData;

use super::tensor::TensorHandle;
use super::{api, check};
use crate::error::Result;

/// Tensors that an operation uses.
#[derive(Debug, Default)]
pub struct UsedTensors {
    /// What is read.
    pub reads: Vec<TensorHandle>,
    /// What is written, and may be read.
    pub writes: Vec<TensorHandle>,
}

/// An operation of the calling thread that has begun. It ends when this is dropped.
#[derive(Debug)]
pub struct DeclaredOperation(PhantomData<*const ()>);

impl DeclaredOperation {
    /// Begins an operation; `None` while the sanitizer is off, or if something else than tensors is passed, which the
    /// operation itself refuses. `used` is called only while the sanitizer is on.
    #[inline]
    pub fn begin(
        name: &str,
        used: impl FnOnce() -> Result<UsedTensors>,
    ) -> Option<DeclaredOperation> {
        if api::sconce_sanitizer_is_enabled() { begin(name, &used().ok()?).ok() } else { None }
    }

    /// Ends it with what it has made and written.
    pub fn end_with(self, results: &[TensorHandle]) {
        std::mem::forget(self);
        // What is no tensor is not the sanitizer's to refuse.
        let _ = end(results);
    }
}

#[cold]
fn begin(name: &str, UsedTensors { reads, writes }: &UsedTensors) -> Result<DeclaredOperation> {
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: the text ends with NUL, and the arrays have the lengths that are passed.
    check(unsafe {
        api::sconce_sanitizer_begin_operation(
            name.as_ptr(),
            reads.as_ptr(),
            reads.len(),
            writes.as_ptr(),
            writes.len(),
        )
    })?;
    Ok(DeclaredOperation(PhantomData))
}

fn end(results: &[TensorHandle]) -> Result<()> {
    // SAFETY: the array has the length that is passed.
    check(unsafe { api::sconce_sanitizer_end_operation(results.as_ptr(), results.len()) })
}

impl Drop for DeclaredOperation {
    fn drop(&mut self) {
        let _ = end(&[]);
    }
}
