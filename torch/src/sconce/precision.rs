//! The precision of products of float32 matrices: as the program or the environment has set it for the process or the
//! thread. Where nothing was set, without TF32, as in PyTorch since 1.12; libsconce's own products have the older
//! documents' default.

use super::{api, check};
use crate::error::Result;

/// Sets whether products use TF32, for the whole process.
pub fn set_allow_tf32(allow: bool) {
    api::sconce_context_set_allow_tf32_cublas(allow);
}

/// What was set for products of the calling thread, if anything.
pub fn tf32_setting() -> Option<bool> {
    let setting = api::sconce_context_get_allow_tf32_cublas_setting();
    (setting >= 0).then_some(setting != 0)
}

/// Whether products of compiled models and kernel libraries use TF32 on the calling thread.
pub fn allow_tf32() -> bool {
    tf32_setting().unwrap_or(false)
}

/// Whether convolutions use TF32.
pub fn convolutions_allow_tf32() -> bool {
    api::sconce_context_get_allow_tf32_cudnn()
}

/// Sets the calling thread's precision back.
struct Before(i32);

impl Before {
    fn change(allow: i32) -> Result<Before> {
        let mut before = -1;
        check(api::sconce_context_set_thread_allow_tf32_cublas(allow, &mut before))?;
        Ok(Before(before))
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        let mut replaced = 0;
        // What was set before is accepted again.
        let _ = api::sconce_context_set_thread_allow_tf32_cublas(self.0, &mut replaced);
    }
}

/// Runs products with this library's precision on the calling thread.
pub fn with_precision<R>(body: impl FnOnce() -> Result<R>) -> Result<R> {
    with_tf32(allow_tf32(), body)
}

/// Runs products with or without TF32 on the calling thread, whatever this library's precision is.
pub fn with_tf32<R>(allow: bool, body: impl FnOnce() -> Result<R>) -> Result<R> {
    let _before = Before::change(i32::from(allow))?;
    body()
}
