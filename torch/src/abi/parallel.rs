//! Work on several threads of the CPU, for kernel libraries: the threads are those of libsconce.so.

#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::ffi::c_void;

use crate::error::{Error, shim, write_out};
use crate::foreign::words::{RangeFunction, call_range};
use crate::sconce::parallel;

/// A pointer that other threads get.
#[derive(Clone, Copy)]
struct Context(*mut c_void);
// SAFETY: the caller of `torch_parallel_for` promises that its function may run on several threads.
unsafe impl Sync for Context {}

/// Calls `func` for parts of a range that together are the range, on several threads if it is longer than `grain_size`.
/// Returns when all are done; the text of an exception is kept, and the call fails. A call within a call runs on one
/// thread.
///
/// # Safety
/// `func` takes parts of the range and `ctx`, also on several threads at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_parallel_for(
    begin: i64,
    end: i64,
    grain_size: i64,
    func: Option<RangeFunction>,
    ctx: *mut c_void,
) -> i32 {
    shim(|| {
        let func = func.ok_or_else(|| Error::invalid_argument("func is NULL"))?;
        let context = Context(ctx);
        parallel::for_range(begin, end, grain_size, &|begin, end| {
            let context = &context;
            // SAFETY: the promise of the caller.
            unsafe { call_range(func, begin, end, context.0) }
        })
    })
}

/// Returns which part of a range the calling thread works on, 0 outside of one.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_get_thread_idx(out_thread_idx: *mut u32) -> i32 {
    // SAFETY: the caller's promise.
    shim(|| unsafe { write_out(out_thread_idx, "out_thread_idx", parallel::part() as u32) })
}

/// Returns the most threads that [`torch_parallel_for`] uses.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_get_num_threads(out_num_threads: *mut u32) -> i32 {
    let threads = parallel::threads() as u32;
    // SAFETY: the caller's promise.
    shim(|| unsafe { write_out(out_num_threads, "out_num_threads", threads) })
}
