//! Switching the sanitizer on and off, and its reports.

use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::{opened, refuse_forked_child, runtime};
use sconce_runtime::stream;
use sconce_sanitizer::{Callback, Report, Sanitizer, sanitizer};

use crate::{backends, guard, guard_value, sconce_status, string};

/// What the sanitizer does with a report.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_sanitizer_mode {
    /// Reports, and the program goes on.
    SCONCE_SANITIZER_REPORT = 1,
    /// The process ends with the first report.
    SCONCE_SANITIZER_ABORT = 2,
}

numbers_of!(sconce_sanitizer_mode as i32: SCONCE_SANITIZER_REPORT, SCONCE_SANITIZER_ABORT);

/// A function that receives reports: the text, the report as one JSON object, and the caller's pointer.
pub type sconce_sanitizer_callback =
    Option<unsafe extern "C" fn(text: *const c_char, json: *const c_char, user: *mut c_void)>;

#[cold]
fn is_absent(remedy: &str) -> Error {
    Error::new(
        Status::InvalidState,
        format!("the backend was opened without the sanitizer; {remedy}"),
    )
}

pub(super) fn open_sanitizer() -> Result<&'static Sanitizer> {
    refuse_forked_child()?;
    sanitizer().ok_or_else(|| {
        is_absent("set SCONCE_SANITIZER=report, or call sconce_sanitizer_enable before the first call that needs a \
             device")
    })
}

/// Switches the sanitizer on. Before the first call that needs a device it always can be; later it can be switched on
/// again only if the library was opened with it (`SCONCE_SANITIZER`, or an earlier call of this function).
///
/// From then on the order of all work, and the memory that it uses, are followed. Nothing is followed of work that was
/// queued while the sanitizer was off: it counts as done.
///
/// - `mode`: `SCONCE_SANITIZER_REPORT` or `SCONCE_SANITIZER_ABORT`. It holds from the opening on; later calls do not
///   change it.
/// - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for another mode, `SCONCE_ERROR_INVALID_STATE` if the library was opened
///   without the sanitizer.
/// - torch: `torch.cuda._sanitizer.enable_cuda_sanitizer`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sanitizer_enable(mode: i32) -> sconce_status {
    guard(|| {
        if !matches!(mode, SCONCE_SANITIZER_REPORT | SCONCE_SANITIZER_ABORT) {
            return Err(Error::invalid_argument(format!(
                "mode is {mode}; pass SCONCE_SANITIZER_REPORT or SCONCE_SANITIZER_ABORT"
            )));
        }
        refuse_forked_child()?;
        match sanitizer() {
            Some(sanitizer) => sanitizer.set_enabled(true),
            None if opened().is_some() => {
                return Err(is_absent("enable it before the first call that needs a device"));
            }
            None => backends::ask_for_sanitizer(mode == SCONCE_SANITIZER_ABORT),
        }
        Ok(())
    })
}

/// Switches the sanitizer off; without one it does nothing. Reports stay.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sanitizer_disable() -> sconce_status {
    guard(|| {
        backends::ask_for_no_sanitizer();
        if let Some(sanitizer) = sanitizer() {
            sanitizer.set_enabled(false);
        }
        Ok(())
    })
}

/// Whether calls are followed now. One load of memory.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sanitizer_is_enabled() -> bool {
    guard_value(false, || sanitizer().is_some_and(Sanitizer::is_enabled))
}

/// How many reports there are: each pair of places in the program once. 0 without the sanitizer.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sanitizer_report_count() -> i64 {
    guard_value(0, || sanitizer().map_or(0, |sanitizer| sanitizer.count() as i64))
}

/// Reads a report.
///
/// - `index`: from 0 to the count less 1, in the order in which they were found.
/// - `out_text`: receives the report for people, in several lines; NULL omits it.
/// - `out_json`: receives the report as one JSON object, in one line; NULL omits it.
/// - `out_count`: receives how often it was found; NULL omits it.
/// - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` if there is no report of this number, `SCONCE_ERROR_INVALID_STATE` without
///   the sanitizer.
/// - Ownership: the caller frees the texts with `sconce_string_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_get_report(
    index: i64,
    out_text: *mut *mut c_char,
    out_json: *mut *mut c_char,
    out_count: *mut i64,
) -> sconce_status {
    guard(|| {
        let (out_text, out_json) = (optional_out!(out_text), optional_out!(out_json));
        let out_count = optional_out!(out_count);
        let sanitizer = open_sanitizer()?;
        let found = usize::try_from(index).ok().and_then(|index| sanitizer.report(index));
        let report = found.ok_or_else(|| {
            Error::invalid_argument(format!(
                "index is {index}, but there are {} reports (sconce_sanitizer_report_count)",
                sanitizer.count()
            ))
        })?;
        if let Some(out) = out_text {
            out.write(string::into_raw(report.text()));
        }
        if let Some(out) = out_json {
            out.write(string::into_raw(report.json().trim_end().to_owned()));
        }
        if let Some(out) = out_count {
            out.write(report.count as i64);
        }
        Ok(())
    })
}

/// How many operations were followed, and of how many nothing was known: host functions, and kernels of the program
/// that declare nothing. Unknown operations are never the cause of a report.
///
/// - `out_all`, `out_unknown`: receive the numbers; 0 without the sanitizer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_get_operations(
    out_all: *mut i64,
    out_unknown: *mut i64,
) -> sconce_status {
    guard(|| {
        let (out_all, out_unknown) = (out!(out_all), out!(out_unknown));
        let (all, unknown) = sanitizer().map_or((0, 0), Sanitizer::operations);
        out_all.write(all as i64);
        out_unknown.write(unknown as i64);
        Ok(())
    })
}

/// Waits for the devices of all live blocks and of those that were freed of late, and reports what was written behind
/// their ends, or into those that are free.
///
/// Each block is followed by a guard zone (`SCONCE_SANITIZER_GUARD_BYTES`). After a free it is copied to the host, and
/// looked at when the library learns that the copy is done: with a later wait, or here. A program that ends without
/// either does not hear of its last blocks. Freed blocks that are still kept from being handed out
/// (`SCONCE_SANITIZER_QUARANTINE_MB`) are compared with what they were filled with, of large ones a kilobyte. Does
/// nothing without the sanitizer, or while it is off.
///
/// - Errors: those of `sconce_device_synchronize`, such as a stream that is being captured.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sanitizer_check() -> sconce_status {
    guard(|| {
        let mut wait = |device: DeviceIndex| stream::synchronize_device(device.as_i32());
        sanitizer().map_or(Ok(()), |sanitizer| sanitizer.check(&mut wait))
    })
}

/// Forgets all reports; what they found is reported again when it is found again. Does nothing without the sanitizer.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sanitizer_reset() -> sconce_status {
    guard(|| {
        if let Some(sanitizer) = sanitizer() {
            sanitizer.clear();
        }
        Ok(())
    })
}

struct User(*mut c_void);
// SAFETY: the comment of `sconce_sanitizer_set_callback` demands that any thread may pass `user` to the callback.
unsafe impl Send for User {}
// SAFETY: the comment of `sconce_sanitizer_set_callback` says that several threads may call the callback at once.
unsafe impl Sync for User {}

/// Sends reports to a function of the caller, beside the log and the file.
///
/// A report is delivered at the end of the call in which it was found, or of the next call of any thread. The library
/// holds no lock then, so the callback may call the library.
///
/// - `callback`: NULL sends them nowhere else.
/// - `user`: passed to each call of `callback`.
/// - Errors: `SCONCE_ERROR_INVALID_STATE` without the sanitizer.
/// - Ownership: the texts are borrowed for the call of `callback`. `callback` and `user` must stay usable until another
///   callback has been set and no call of the old one is under way.
/// - Threads: several threads may call `callback` at once.
/// - Safety: `callback` does not unwind, and `user` is what it expects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_set_callback(
    callback: sconce_sanitizer_callback,
    user: *mut c_void,
) -> sconce_status {
    guard(|| {
        let _ = runtime()?;
        let user = Arc::new(User(user));
        let made = callback.map(|function| -> Callback {
            Arc::new(move |report: &Report| {
                let text = CString::new(report.text()).unwrap_or_default();
                let json = CString::new(report.json().trim_end()).unwrap_or_default();
                // SAFETY: the function's comment demands that `callback` may be called with `user` by any thread until
                // another one is set, and the texts live until it returns.
                unsafe { function(text.as_ptr(), json.as_ptr(), user.0) }
            })
        });
        open_sanitizer()?.set_callback(made);
        Ok(())
    })
}
