//! Device memory: everything at one time, as text and in files, and the recording of history.

use std::ffi::{OsStr, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::ffi::{CBool, Out, guard, sconce_status, string, text};
use crate::memory::{self, report};

/// Gives every segment and block of every device, and the recorded history, as JSON that torch's
/// viewer reads.
///
/// # Parameters
/// `out_json` [out].
/// # Errors
/// INVALID_ARGUMENT: `out_json` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller frees the text with `sconce_string_free`.
/// # Ordering
/// Does not wait for devices; other threads' allocations wait while a stream's blocks are copied.
/// # Threads
/// Any.
/// # Safety
/// `out_json` is NULL or valid for writing one value.
/// # Upstream
/// `json.dumps(torch.cuda.memory._snapshot())`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_snapshot_json(
    out_json: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_json = unsafe { Out::new(out_json, "out_json") }?;
        out_json.write(string::into_raw(report::snapshot_json(&memory::snapshot()?)));
        Ok(())
    })
}

/// Writes a snapshot to a file, for torch's viewer (`pytorch.org/memory_viz`).
///
/// # Parameters
/// `path`: the file; what is there is replaced. Its ending decides: `.pickle` or `.json`.
/// # Errors
/// INVALID_ARGUMENT: `path` is NULL or has another ending. NOT_SUPPORTED: the ending is `.html`. IO:
/// the file cannot be written. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not wait for devices; other threads' allocations wait while a stream's blocks are copied.
/// # Threads
/// Any.
/// # Safety
/// `path` is NULL or a NUL-terminated string.
/// # Upstream
/// `torch.cuda.memory._dump_snapshot()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_save_snapshot(path: *const c_char) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a NUL-terminated string.
        let path = unsafe { text(path, "path") }?;
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        report::save_snapshot(path, &memory::snapshot()?)
    })
}

/// Starts or stops the recording of what happens to memory, for snapshots. Stopping forgets what was
/// recorded; starting again keeps it.
///
/// # Parameters
/// `enabled`: whether to record. `max_entries`: how many entries a device keeps; older ones make
/// room for newer ones. Ignored when `enabled` is false.
/// # Errors
/// INVALID_ARGUMENT: `max_entries` is 0 though `enabled`. FORKED. Works without a device.
/// # Ownership
/// None.
/// # Ordering
/// Does not block. While recording, every allocation and free takes a little longer.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.memory._record_memory_history()`; stack traces are not recorded.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_record_history(
    enabled: CBool,
    max_entries: usize,
) -> sconce_status {
    guard(|| memory::record_history(enabled.is_true(), max_entries))
}
