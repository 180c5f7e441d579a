//! Work on several threads of the CPU. See `docs/design/parallel.md`.

use std::ffi::c_void;

use sconce_base::error::Error;
use sconce_base::lock::refuse_held;
use sconce_math::parallel;

use super::{guard_lockless, guard_value, sconce_status};

/// Sets the most threads that work on one call of the CPU, the calling one included: products, convolutions, attention
/// of compiled models, and `sconce_parallel_for`.
///
/// It holds for the whole process, for calls that start later. Before, it is `OMP_NUM_THREADS`, else `MKL_NUM_THREADS`,
/// else the number of processors that the process may use; `OMP_THREAD_LIMIT` bounds each of them. Results do not
/// depend on it.
///
/// - `num_threads`: at least 1, with which calls stay on their threads; else INVALID_ARGUMENT. More
///   than 1,024 count as 1,024.
/// - torch: `at::set_num_threads`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_parallel_set_num_threads(num_threads: i32) -> sconce_status {
    guard_lockless(|| parallel::set_count(num_threads))
}

/// Returns the most threads that work on one call of the CPU.
///
/// - torch: `at::get_num_threads`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_parallel_get_num_threads() -> i32 {
    guard_value(1, || i32::try_from(parallel::count()).unwrap_or(i32::MAX))
}

/// Returns which part of a `sconce_parallel_for` the calling thread works on, from 0 and below the number of threads; 0
/// outside of one.
///
/// - torch: `at::get_thread_num`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_parallel_get_thread_num() -> i32 {
    guard_value(0, || parallel::part() as i32)
}

/// Returns whether the calling thread works on a part of a call on several threads. Calls within a part stay on its
/// thread.
///
/// - torch: `at::in_parallel_region`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_parallel_in_region() -> bool {
    guard_value(false, parallel::is_within)
}

/// The work of `sconce_parallel_for`: the numbers from `begin` to `end`, without `end`. No exception may leave it.
pub type sconce_range_function =
    Option<unsafe extern "C" fn(begin: i64, end: i64, context: *mut c_void)>;

/// Calls a function for parts of a range that together are the range, on several threads at the same time if it has
/// more than `grain_size` numbers. Returns when all calls have.
///
/// There are at most as many parts as threads. A call within a part, and one of a process that was forked from a user
/// of devices, has one part, on the calling thread. Nothing is called for an empty range.
///
/// - `begin`, `end`: the range, without `end`.
/// - `grain_size`: the least numbers of a part but the last; 0 is the same as 1.
/// - `function`: is called with the range of a part, by several threads at the same time. It may call the library.
/// - `context`: passed to `function`.
/// - torch: `at::parallel_for`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_parallel_for(
    begin: i64,
    end: i64,
    grain_size: i64,
    function: sconce_range_function,
    context: *mut c_void,
) -> sconce_status {
    guard_lockless(|| {
        let function = function.ok_or_else(|| Error::invalid_argument("function is NULL"))?;
        let grain_size = u64::try_from(grain_size).map_err(|_| {
            Error::invalid_argument(format!("grain_size is {grain_size}; it must not be negative"))
        })?;
        let context = Context(context);
        refuse_held("a function of a range");
        parallel::for_range(begin, end, grain_size, &|begin, end| {
            let context = &context;
            // SAFETY: `sconce_parallel_for` demands that any thread may call the function with any part of the range.
            unsafe { function(begin, end, context.0) };
        });
        Ok(())
    })
}

/// A pointer that other threads get.
struct Context(*mut c_void);

// SAFETY: `sconce_parallel_for` demands that several threads may use `context` at once.
unsafe impl Sync for Context {}
