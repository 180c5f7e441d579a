//! Profiling marks. See `docs/design/nvtx.md`.

use std::ffi::c_char;

use sconce_base::nvtx;

use super::{guard_lockless, sconce_status};

/// Marks a moment for a profiling tool.
///
/// This function and the other `sconce_nvtx_…` functions need no device, and take hardly any time
/// if no tool is attached.
///
/// - `message`: the text that the tool shows.
/// - torch: `torch.cuda.nvtx.mark()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_nvtx_mark(message: *const c_char) -> sconce_status {
    guard_lockless(|| {
        let message = text!(message);
        nvtx::mark(message);
        Ok(())
    })
}

/// Opens a range, nested in the ranges that the calling thread has open.
///
/// - `message`: the text that the tool shows.
/// - `out_depth`: receives the depth of the range, 0 for the outermost; if a tool is attached, the
///   number that the tool returns.
/// - torch: `torch.cuda.nvtx.range_push()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_nvtx_range_push(
    message: *const c_char,
    out_depth: *mut i32,
) -> sconce_status {
    guard_lockless(|| {
        let message = text!(message);
        let out_depth = out!(out_depth);
        out_depth.write(nvtx::range_push(message));
        Ok(())
    })
}

/// Closes the innermost range that the calling thread has open.
///
/// - `out_depth`: receives the depth of the closed range, 0 for the outermost; negative if none was
///   open.
/// - torch: `torch.cuda.nvtx.range_pop()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_nvtx_range_pop(out_depth: *mut i32) -> sconce_status {
    guard_lockless(|| {
        let out_depth = out!(out_depth);
        out_depth.write(nvtx::range_pop());
        Ok(())
    })
}

/// Opens a range that any thread may end, and that need not nest.
///
/// - `message`: the text that the tool shows.
/// - `out_id`: receives a number for `sconce_nvtx_range_end`; 0 if no tool is attached.
/// - torch: `torch.cuda.nvtx.range_start()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_nvtx_range_start(
    message: *const c_char,
    out_id: *mut u64,
) -> sconce_status {
    guard_lockless(|| {
        let message = text!(message);
        let out_id = out!(out_id);
        out_id.write(nvtx::range_start(message));
        Ok(())
    })
}

/// Ends a range that `sconce_nvtx_range_start` opened.
///
/// - `id`: the number of the range; the tool ignores other numbers.
/// - torch: `torch.cuda.nvtx.range_end()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_nvtx_range_end(id: u64) -> sconce_status {
    guard_lockless(|| {
        nvtx::range_end(id);
        Ok(())
    })
}
