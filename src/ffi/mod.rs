//! The C API: one file a noun. Every function checks its arguments, converts them, makes one call
//! into the room of that noun, and writes its results last.
//!
//! `guard` stands around every body that can fail: it turns an error into a status and the
//! thread's last message, and a panic into `SCONCE_ERROR_INTERNAL`.

#![allow(non_camel_case_types, reason = "types carry their C names, so that a search crosses over")]

/// Makes constants of an enum's values: callers in Rust pass numbers, as callers in C may.
macro_rules! numbers_of {
    ($kind:ident as $number:ty: $($name:ident),+ $(,)?) => {
        $(
            #[doc = concat!("[`", stringify!($kind), "::", stringify!($name), "`] as a number.")]
            pub const $name: $number = $kind::$name as $number;
        )+
    };
}

#[macro_use]
mod bits;
#[macro_use]
mod structs;

mod backend;
mod blas;
mod blas_workspaces;
mod context;
mod copy;
mod copy_shapes;
mod device;
mod device_properties;
mod device_query;
mod dnn;
mod event;
mod fft;
mod fft_cache;
mod generator;
mod generator_state;
mod handle;
mod host_memory;
mod host_memory_figures;
mod ipc;
mod last_error;
mod log;
mod memory;
mod memory_drop_in;
mod memory_figures;
mod memory_layout;
mod memory_pool;
mod memory_settings;
mod memory_snapshot;
mod memory_snapshot_arrays;
mod memory_stats;
mod nvtx;
mod random;
mod random_fill;
mod sim;
mod sim_capture;
mod sim_external;
mod sim_memory;
mod status;
mod stream;
mod stream_work;
mod string;
mod version;

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

pub use backend::*;
pub use bits::CBool;
pub use blas::*;
pub use blas_workspaces::*;
pub use context::*;
pub use copy::*;
pub use copy_shapes::*;
pub use device::*;
pub use device_properties::*;
pub use device_query::*;
pub use dnn::*;
pub use event::*;
pub use fft::*;
pub use fft_cache::*;
pub use generator::*;
pub use generator_state::*;
pub use host_memory::*;
pub use host_memory_figures::*;
pub use ipc::*;
pub use last_error::*;
pub use log::*;
pub use memory::*;
pub use memory_drop_in::*;
pub use memory_figures::*;
pub use memory_layout::*;
pub use memory_pool::*;
pub use memory_settings::*;
pub use memory_snapshot::*;
pub use memory_snapshot_arrays::*;
pub use memory_stats::*;
pub use nvtx::*;
pub use random::*;
pub use random_fill::*;
pub use sim::*;
pub use sim_capture::*;
pub use sim_external::*;
pub use sim_memory::*;
pub use status::*;
pub use stream::*;
pub use stream_work::*;
pub use string::*;
pub use version::*;

use crate::element::Dtype;
use crate::error::{Error, Result, Status};
use crate::{log as messages, process};

#[cfg(not(panic = "unwind"))]
compile_error!("panics must unwind, or none of them could be turned into a status");

/// Runs a body that may take locks, and turns its result into a status. A forked child that is cut off
/// gets its status before it could wait for a lock.
#[inline]
fn guard(body: impl FnOnce() -> Result<()>) -> sconce_status {
    if !process::is_open()
        && let Err(error) = process::begin()
    {
        return last_error::record(&error);
    }
    let status = status_of(body);
    if process::has_work_at_end() {
        end();
    }
    status
}

/// As [`guard`], for hot calls whose body asks for the runtime before it takes any lock: that question
/// refuses a forked child, too, and is counted while it opens a backend.
#[inline]
fn guard_runtime(body: impl FnOnce() -> Result<()>) -> sconce_status {
    guard_lockless(body)
}

/// Runs a body that takes no lock, and so may run in any forked child, and turns its result into a
/// status.
#[inline]
fn guard_lockless(body: impl FnOnce() -> Result<()>) -> sconce_status {
    let status = status_of(body);
    if process::has_work_at_end() {
        messages::flush();
    }
    status
}

#[inline]
fn status_of(body: impl FnOnce() -> Result<()>) -> sconce_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => sconce_status::SCONCE_OK,
        Ok(Err(error)) => last_error::record(&error),
        Err(panic) => panicked(panic.as_ref()),
    }
}

/// What remains to be done when a call ends that may have been counted, and the thread holds no lock any
/// more.
#[cold]
#[inline(never)]
fn end() {
    messages::flush();
    process::end();
}

#[cold]
#[inline(never)]
fn panicked(panic: &(dyn std::any::Any + Send)) -> sconce_status {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let message = format!("a defect of the library: {text}; please report it");
    last_error::record(&Error::new(Status::Internal, message))
}

/// Runs a body that cannot fail by its contract, and takes no lock in a forked child that is cut off.
/// Should it panic all the same, the result is `otherwise`.
#[inline]
fn guard_value<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    let value = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(panic) => {
            let _ = panicked(panic.as_ref());
            otherwise
        }
    };
    if process::has_work_at_end() {
        messages::flush();
    }
    value
}

/// Where a caller wants a result.
struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// The out-parameter `name`, if it can be written to at all.
    ///
    /// # Safety
    /// If `pointer` is neither NULL nor misaligned, it is valid for writing a `T` during the call.
    #[inline]
    unsafe fn new(pointer: *mut T, name: &str) -> Result<Out<T>> {
        match NonNull::new(pointer) {
            Some(place) if pointer.is_aligned() => Ok(Out(place)),
            Some(_) => Err(misaligned(name)),
            None => Err(null(name)),
        }
    }

    /// Writes the result.
    #[inline]
    fn write(self, value: T) {
        // SAFETY: `new` was promised a place that may be written, and checked its alignment.
        unsafe { self.0.write(value) }
    }
}

#[cold]
#[inline(never)]
fn null(name: &str) -> Error {
    Error::invalid_argument(format!("{name} is NULL"))
}

#[cold]
#[inline(never)]
fn misaligned(name: &str) -> Error {
    Error::invalid_argument(format!("{name} is not aligned for its type"))
}

/// The type that a description's `dtype` names.
#[inline]
fn dtype_of(value: i32) -> Result<Dtype> {
    Dtype::try_from(value)
        .map_err(|error| Error::invalid_argument(format!("desc.{}", error.message())))
}

/// The text of a caller.
///
/// # Safety
/// If `text` is not NULL, it is NUL-terminated and stays as it is during the call.
unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a CStr> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: not NULL, and the caller promises the rest.
    Ok(unsafe { CStr::from_ptr(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> String {
        // SAFETY: the pointer is a NUL-terminated string of this thread.
        unsafe { CStr::from_ptr(sconce_last_error_message()) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_becomes_an_internal_error_with_its_message() {
        assert_eq!(guard(|| panic!("boom {}", 7)), sconce_status::SCONCE_ERROR_INTERNAL);
        assert!(message().contains("boom 7"), "{}", message());
        assert_eq!(guard_value(3, || panic!("again")), 3);
        assert!(message().contains("again"));
    }

    #[test]
    fn unusable_places_are_named() {
        // SAFETY: NULL is allowed, and nothing is written.
        let null = unsafe { Out::<i32>::new(std::ptr::null_mut(), "out_a") };
        assert!(null.err().unwrap().message().contains("out_a is NULL"));
        let odd = std::ptr::without_provenance_mut(3);
        // SAFETY: a misaligned place is allowed, and nothing is written.
        let misaligned = unsafe { Out::<i32>::new(odd, "out_b") };
        assert!(misaligned.err().unwrap().message().contains("out_b is not aligned"));
    }

    #[test]
    fn success_leaves_the_last_message_alone() {
        assert_eq!(
            guard(|| Err(Error::invalid_state("first"))),
            sconce_status::SCONCE_ERROR_INVALID_STATE
        );
        assert_eq!(guard(|| Ok(())), sconce_status::SCONCE_OK);
        assert_eq!(message(), "first");
    }
}
