//! Work on several threads of the CPU.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;

use super::{api, check};
use crate::error::{Error, Result};

/// The most threads that work on a call.
pub fn threads() -> i32 {
    api::sconce_parallel_get_num_threads()
}

/// Which part of a range the calling thread works on, 0 outside of one.
pub fn part() -> i32 {
    api::sconce_parallel_get_thread_num()
}

/// The least elements of a thread's part, where each takes a nanosecond or two. It is PyTorch's number.
pub const GRAIN: i64 = 1 << 15;

/// A value with pointers that several threads use.
#[derive(Debug)]
pub struct OnThreads<T>(T);

// SAFETY: `new` demands that no thread writes what another one uses through the value.
unsafe impl<T> Sync for OnThreads<T> {}

impl<T> OnThreads<T> {
    /// # Safety
    /// No thread writes what another one reads or writes through the value.
    pub unsafe fn new(value: T) -> OnThreads<T> {
        OnThreads(value)
    }

    /// The value.
    pub fn get(&self) -> &T {
        &self.0
    }
}

/// A function of parts of a range.
type Body<'a> = &'a (dyn Fn(i64, i64) -> Result<()> + Sync);

/// What the parts of a call share.
struct Shared<'a> {
    body: Body<'a>,
    /// The failure of the first part that fails, and where that begins.
    failure: Mutex<Option<(i64, Failure)>>,
}

enum Failure {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

/// Calls `body` with parts of a range, of at least `grain` numbers but the last, on several threads. Fails as the first
/// part that does, once all have ended.
pub fn for_range(begin: i64, end: i64, grain: i64, body: Body<'_>) -> Result<()> {
    unsafe extern "C" fn call(begin: i64, end: i64, context: *mut c_void) {
        // SAFETY: `for_range` passes its own value, which lives until all calls have ended, and changes nothing in it.
        let shared = unsafe { &*context.cast::<Shared<'_>>() };
        let failure = match catch_unwind(AssertUnwindSafe(|| (shared.body)(begin, end))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => Failure::Error(error),
            Err(panic) => Failure::Panic(panic),
        };
        if let Ok(mut first) = shared.failure.lock()
            && first.as_ref().is_none_or(|(earlier, _)| begin < *earlier)
        {
            *first = Some((begin, failure));
        }
    }
    let shared = Shared { body, failure: Mutex::new(None) };
    let context = (&raw const shared).cast_mut().cast();
    // SAFETY: the function takes any part, on any thread, and lets nothing unwind.
    check(unsafe { api::sconce_parallel_for(begin, end, grain, Some(call), context) })?;
    match shared.failure.into_inner() {
        Ok(None) => Ok(()),
        Ok(Some((_, Failure::Error(error)))) => Err(error),
        Ok(Some((_, Failure::Panic(panic)))) => resume_unwind(panic),
        Err(_) => Err(Error::internal("a thread panicked")),
    }
}
