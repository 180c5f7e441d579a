//! Guards run the body of every C function: an error becomes a status and the thread's last message, and a
//! panic becomes `SCONCE_ERROR_INTERNAL`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sconce_base::error::{Error, Result, Status};
use sconce_base::{log as messages, process};

use crate::sconce_status;
use crate::{backends, last_error};

#[cfg(not(panic = "unwind"))]
compile_error!("panics must unwind, or none of them could be turned into a status");

/// Has the backends installed when the library is loaded. It stands beside the guards because every C function calls
/// one of them: a linker that takes objects from an archive takes this one. Constructors of a program that links the
/// archive run later: the section has the first priority that is not reserved.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static INSTALL: extern "C" fn() = backends::install;

/// Runs a body that may take locks, and turns its result into a status. A forked child that cannot use the
/// library returns before it could wait for a lock.
#[inline]
pub(crate) fn guard(body: impl FnOnce() -> Result<()>) -> sconce_status {
    if !process::is_open()
        && let Err(error) = process::begin()
    {
        return failed(error);
    }
    let status = status_of(body);
    if process::has_work_at_end() {
        end();
    }
    status
}

/// As [`guard`], for hot calls whose body requests the runtime before it takes any lock: that request
/// refuses a forked child, too, and is counted while it opens a backend.
#[inline]
pub(crate) fn guard_runtime(body: impl FnOnce() -> Result<()>) -> sconce_status {
    guard_lockless(body)
}

/// Runs a body that takes no lock, so that it may run in any forked child, and turns its result into a
/// status.
#[inline]
pub(crate) fn guard_lockless(body: impl FnOnce() -> Result<()>) -> sconce_status {
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
        Ok(Err(error)) => failed(error),
        Err(panic) => panicked(panic),
    }
}

/// Completes a call that may have been counted: passes log messages on and counts the call off. The thread
/// holds no lock.
#[cold]
#[inline(never)]
fn end() {
    messages::flush();
    process::end();
}

/// Records an error. It takes the error, so that hot callers keep no register for dropping it.
#[cold]
#[inline(never)]
fn failed(error: Error) -> sconce_status {
    last_error::record(&error)
}

/// Records a panic, as [`failed`] does an error.
#[cold]
#[inline(never)]
fn panicked(panic: Box<dyn Any + Send>) -> sconce_status {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let message = format!("a defect of the library: {text}; please report it");
    last_error::record(&Error::new(Status::Internal, message))
}

/// Runs a body that cannot fail by its contract, and takes no lock in a forked child that cannot use the
/// library. Returns `otherwise` if the body panics all the same.
#[inline]
pub(crate) fn guard_value<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    let value = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(panic) => {
            let _ = panicked(panic);
            otherwise
        }
    };
    if process::has_work_at_end() {
        messages::flush();
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sconce_last_error_message;
    use std::ffi::CStr;

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
    fn success_leaves_the_last_message_alone() {
        assert_eq!(
            guard(|| Err(Error::invalid_state("first"))),
            sconce_status::SCONCE_ERROR_INVALID_STATE
        );
        assert_eq!(guard(|| Ok(())), sconce_status::SCONCE_OK);
        assert_eq!(message(), "first");
    }

    fn fail(message: String) {
        let _ = guard(|| Err(Error::invalid_state(message)));
    }

    /// The text at an address that `sconce_last_error_message` returned.
    fn text_at(address: *const std::ffi::c_char) -> String {
        // SAFETY: a NUL-terminated string of this thread that stays until a later one was read.
        unsafe { CStr::from_ptr(address) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_message_that_was_read_stays_until_a_later_one_was_read() {
        // All messages have one length, so that an allocator gives a freed one to the next.
        fail("message 000".to_owned());
        let first = sconce_last_error_message();
        for number in 1..100 {
            fail(format!("message {number:03}"));
            assert_eq!(text_at(first), "message 000");
        }
        // Reading the later one does not end it yet, so that both can be arguments of one call.
        let second = sconce_last_error_message();
        assert_eq!((text_at(first), text_at(second)), ("message 000".into(), "message 099".into()));
        for number in 100..200 {
            fail(format!("message {number:03}"));
            assert_eq!(text_at(second), "message 099");
        }
    }

    #[test]
    fn what_the_library_reads_and_functions_of_the_program_leave_a_message_that_was_read() {
        fail("message 000".to_owned());
        let first = sconce_last_error_message();
        for number in 1..100 {
            fail(format!("message {number:03}"));
            assert_eq!(last_error::newest_text().to_str(), Ok(&*format!("message {number:03}")));
            let ((), own) = last_error::of_function(|| fail("message own".to_owned()));
            assert_eq!(own.as_deref(), Some("message own"));
            assert_eq!(text_at(first), "message 000");
        }
        assert_eq!(message(), "message 099");
    }
}
