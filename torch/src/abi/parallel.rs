//! Work on several threads of the CPU, for kernel libraries: the threads are those of libsconce.so.

#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::ffi::c_void;

use super::arguments::Out;
use crate::error::{Error, shim};
use crate::foreign::words::{RangeFunction, call_range};
use crate::sconce::parallel;

/// A pointer that other threads get.
#[derive(Clone, Copy)]
struct Context(*mut c_void);
// SAFETY: the pointer is only passed on to a function that may run on several threads with it, as the ABI demands.
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
            // SAFETY: C passed a function that takes parts of this range and this context, on any thread.
            unsafe { call_range(func, begin, end, context.0) }
        })
    })
}

/// Returns which part of a range the calling thread works on, 0 outside of one.
#[unsafe(no_mangle)]
pub extern "C" fn torch_get_thread_idx(out_thread_idx: Out<'_, u32>) -> i32 {
    shim(|| out_thread_idx.write("out_thread_idx", parallel::part() as u32))
}

/// Returns the most threads that [`torch_parallel_for`] uses.
#[unsafe(no_mangle)]
pub extern "C" fn torch_get_num_threads(out_num_threads: Out<'_, u32>) -> i32 {
    let threads = parallel::threads() as u32;
    shim(|| out_num_threads.write("out_num_threads", threads))
}
