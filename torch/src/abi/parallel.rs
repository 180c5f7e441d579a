//! Work on several threads of the CPU.

#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Mutex;

use crate::error::{Error, Result, shim, write_out};
use crate::foreign::words::{RangeFunction, call_range};

thread_local! {
    /// Which part of a range the thread works on, while it does.
    static PART: Cell<Option<u32>> = const { Cell::new(None) };
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A pointer that other threads get.
#[derive(Clone, Copy)]
struct Context(*mut c_void);
// SAFETY: the caller of `torch_parallel_for` promises that its function may run on several threads.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// Restores what the thread worked on before.
struct Within(Option<u32>);
impl Drop for Within {
    fn drop(&mut self) {
        PART.set(self.0);
    }
}

fn run_part(
    part: u32,
    function: RangeFunction,
    begin: i64,
    end: i64,
    context: Context,
) -> Result<()> {
    let _within = Within(PART.replace(Some(part)));
    // SAFETY: the promise of the caller of `torch_parallel_for`.
    unsafe { call_range(function, begin, end, context.0) }
}

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
        if grain_size < 0 {
            return Err(Error::invalid_argument(format!("grain_size is {grain_size}")));
        }
        if begin >= end {
            return Ok(());
        }
        let length = end.abs_diff(begin);
        let wanted = length.div_ceil(grain_size.max(1) as u64).min(threads() as u64);
        let context = Context(ctx);
        if wanted <= 1 || PART.get().is_some() {
            return run_part(PART.get().unwrap_or(0), func, begin, end, context);
        }
        let step = length.div_ceil(wanted);
        let failure = Mutex::new(None);
        std::thread::scope(|scope| {
            for part in 0..wanted {
                let (first, last) = (part * step, ((part + 1) * step).min(length));
                if first >= last {
                    break;
                }
                let failure = &failure;
                let work = move || {
                    let context = context;
                    let (first, last) = (begin + first as i64, begin + last as i64);
                    if let Err(error) = run_part(part as u32, func, first, last, context)
                        && let Ok(mut failure) = failure.lock()
                    {
                        failure.get_or_insert(error);
                    }
                };
                // The last part, and one for which there is no thread, runs here.
                if last == length || std::thread::Builder::new().spawn_scoped(scope, work).is_err()
                {
                    work();
                }
            }
        });
        let failure = failure.into_inner().map_err(|_| Error::internal("a thread panicked"))?;
        failure.map_or(Ok(()), Err)
    })
}

/// Returns which part of a range the calling thread works on, 0 outside of one.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_get_thread_idx(out_thread_idx: *mut u32) -> i32 {
    // SAFETY: the caller's promise.
    shim(|| unsafe { write_out(out_thread_idx, "out_thread_idx", PART.get().unwrap_or(0)) })
}

/// Returns the most threads that [`torch_parallel_for`] uses.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_get_num_threads(out_num_threads: *mut u32) -> i32 {
    // SAFETY: the caller's promise.
    shim(|| unsafe { write_out(out_num_threads, "out_num_threads", threads() as u32) })
}
