//! The precision of products of float32 matrices: as PyTorch 2.11 has it, without TF32 unless the program allows it.
//!
//! The process's own setting, `sconce_context_set_allow_tf32_cublas`, has the older documents' default.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{api, check};
use crate::error::Result;

static ALLOW_TF32: AtomicBool = AtomicBool::new(false);

/// Sets whether products of compiled models and kernel libraries use TF32.
pub fn set_allow_tf32(allow: bool) {
    ALLOW_TF32.store(allow, Relaxed);
}

/// Whether products of compiled models and kernel libraries use TF32.
pub fn allow_tf32() -> bool {
    ALLOW_TF32.load(Relaxed)
}

/// Sets the calling thread's precision back.
struct Before(i32);

impl Before {
    fn change(allow: i32) -> Result<Before> {
        let mut before = -1;
        // SAFETY: the place is valid for a write.
        check(unsafe { api::sconce_context_set_thread_allow_tf32_cublas(allow, &mut before) })?;
        Ok(Before(before))
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        let mut replaced = 0;
        // SAFETY: the place is valid for a write. What was set before is accepted again.
        let _ = unsafe { api::sconce_context_set_thread_allow_tf32_cublas(self.0, &mut replaced) };
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
