//! Sconce's C API: all that this library uses of libsconce.so.
//!
//! | file | idea |
//! |---|---|
//! | `values` | numbers and options as the API takes them |
//! | `tensor` | a tensor that is released when it goes |
//! | `properties` | what a tensor is: sizes, strides, type, device, memory |
//! | `declared` | operations that are declared to the sanitizer |
//! | `event` | an event that is destroyed when it goes |
//! | `generator` | a generator of random numbers |
//! | `operations` | operations on tensors |
//! | `parallel` | work on several threads of the CPU |
//! | `products` | products of matrices |
//! | `precision` | whether products use TF32 |

pub mod declared;
mod event;
pub mod generator;
pub mod operations;
pub mod parallel;
pub mod precision;
pub mod products;
pub mod properties;
pub mod tensor;
pub mod values;

pub use crate::api;
pub use event::Event;
pub use tensor::Tensor;

use crate::error::{Error, Result};

/// Turns a status into a result, with the message of libsconce.so.
#[inline]
pub fn check(status: i32) -> Result<()> {
    if status == api::SCONCE_OK { Ok(()) } else { Err(failure(status)) }
}

#[cold]
#[allow(unsafe_code, reason = "reads a text of libsconce.so")]
fn failure(status: i32) -> Error {
    let text = api::sconce_last_error_message();
    // SAFETY: the text ends with NUL. It is valid until this thread's next failure, and copied before.
    let text = unsafe { std::ffi::CStr::from_ptr(text) };
    Error::new(status, text.to_string_lossy())
}
