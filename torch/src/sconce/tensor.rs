//! A tensor of libsconce.so that is owned once and released when it goes.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::{api, check};
use crate::error::Result;

/// A handle of a tensor, as compiled models and kernel libraries see it: `AtenTensorHandle`.
pub type TensorHandle = *mut api::sconce_tensor;

/// A tensor that this value owns once.
#[derive(Debug)]
pub struct Tensor(TensorHandle);

// SAFETY: the handle is a number, which libsconce.so takes on any thread.
unsafe impl Send for Tensor {}
// SAFETY: libsconce.so orders calls for one handle from several threads.
unsafe impl Sync for Tensor {}

impl Tensor {
    /// Takes over the ownership of a handle.
    pub fn from_handle(handle: TensorHandle) -> Tensor {
        Tensor(handle)
    }

    /// Owns a handle once more.
    pub fn retained(handle: TensorHandle) -> Result<Tensor> {
        check(api::sconce_tensor_retain(handle))?;
        Ok(Tensor(handle))
    }

    /// The tensor that a function of libsconce.so makes.
    pub fn made(make: impl FnOnce(&mut TensorHandle) -> i32) -> Result<Tensor> {
        let mut handle = std::ptr::null_mut();
        check(make(&mut handle))?;
        Ok(Tensor(handle))
    }

    /// The handle, which this value goes on owning.
    pub fn handle(&self) -> TensorHandle {
        self.0
    }

    /// The handle, with its ownership.
    pub fn into_handle(self) -> TensorHandle {
        let handle = self.0;
        std::mem::forget(self);
        handle
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // A handle that was released before is an error, which a destructor cannot return.
        let _ = api::sconce_tensor_release(self.0);
    }
}
