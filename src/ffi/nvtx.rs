//! Profiling marks. See `docs/design/nvtx.md`.

use std::ffi::c_char;

use super::{Out, guard_lockless, sconce_status, text};
use crate::nvtx;

/// Marks a point in time for a profiling tool.
///
/// # Parameters
/// `message`: NUL-terminated text.
/// # Errors
/// INVALID_ARGUMENT: `message` is NULL.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; costs next to nothing when no tool listens.
/// # Threads
/// Any.
/// # Safety
/// `message` is NULL or NUL-terminated.
/// # Upstream
/// `torch.cuda.nvtx.mark()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_nvtx_mark(message: *const c_char) -> sconce_status {
    guard_lockless(|| {
        // SAFETY: the caller promises a NUL-terminated text.
        let message = unsafe { text(message, "message") }?;
        nvtx::mark(message);
        Ok(())
    })
}

/// Opens a range nested in the ranges that this thread has open.
///
/// # Parameters
/// `message`: NUL-terminated text. `out_depth` [out]: depth of the new range, 0 for the outermost;
/// with a tool, what the tool says.
/// # Errors
/// INVALID_ARGUMENT: `message` or `out_depth` is NULL.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; costs next to nothing when no tool listens.
/// # Threads
/// Any; each thread nests its own ranges.
/// # Safety
/// `message` is NULL or NUL-terminated. `out_depth` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.nvtx.range_push()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_nvtx_range_push(
    message: *const c_char,
    out_depth: *mut i32,
) -> sconce_status {
    guard_lockless(|| {
        // SAFETY: the caller promises a NUL-terminated text.
        let message = unsafe { text(message, "message") }?;
        // SAFETY: the caller promises a writable place.
        let out_depth = unsafe { Out::new(out_depth, "out_depth") }?;
        out_depth.write(nvtx::range_push(message));
        Ok(())
    })
}

/// Closes the innermost range that this thread has open.
///
/// # Parameters
/// `out_depth` [out]: depth of the closed range, 0 for the outermost; negative when none was open.
/// # Errors
/// INVALID_ARGUMENT: `out_depth` is NULL.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; costs next to nothing when no tool listens.
/// # Threads
/// Any; each thread nests its own ranges.
/// # Safety
/// `out_depth` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.nvtx.range_pop()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_nvtx_range_pop(out_depth: *mut i32) -> sconce_status {
    guard_lockless(|| {
        // SAFETY: the caller promises a writable place.
        let out_depth = unsafe { Out::new(out_depth, "out_depth") }?;
        out_depth.write(nvtx::range_pop());
        Ok(())
    })
}

/// Opens a range that any thread may end, and that need not nest.
///
/// # Parameters
/// `message`: NUL-terminated text. `out_id` [out]: what ends it; 0 when no tool listens.
/// # Errors
/// INVALID_ARGUMENT: `message` or `out_id` is NULL.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; costs next to nothing when no tool listens.
/// # Threads
/// Any.
/// # Safety
/// `message` is NULL or NUL-terminated. `out_id` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.nvtx.range_start()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_nvtx_range_start(
    message: *const c_char,
    out_id: *mut u64,
) -> sconce_status {
    guard_lockless(|| {
        // SAFETY: the caller promises a NUL-terminated text.
        let message = unsafe { text(message, "message") }?;
        // SAFETY: the caller promises a writable place.
        let out_id = unsafe { Out::new(out_id, "out_id") }?;
        out_id.write(nvtx::range_start(message));
        Ok(())
    })
}

/// Ends a range that `sconce_nvtx_range_start` opened.
///
/// # Parameters
/// `id`: what it gave; other numbers are the tool's to ignore.
/// # Errors
/// None but INTERNAL.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; costs next to nothing when no tool listens.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.nvtx.range_end()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_nvtx_range_end(id: u64) -> sconce_status {
    guard_lockless(|| {
        nvtx::range_end(id);
        Ok(())
    })
}
