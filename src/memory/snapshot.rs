//! Device memory: snapshots as text and in files, and the recording of history.

use std::ffi::c_char;

use sconce_runtime::memory::{self, report};

use crate::{CBool, guard, sconce_status, string};

/// Returns every segment and block of every device, and the recorded history, as JSON for torch's
/// viewer.
///
/// - `out_json`: receives the text.
/// - Ordering: does not wait for devices. Other threads that allocate wait while the records of the
///   blocks of their stream are copied.
/// - torch: `json.dumps(torch.cuda.memory._snapshot())`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_get_snapshot_json(
    out_json: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let out_json = out!(out_json);
        out_json.write(string::into_raw(report::snapshot_json(&memory::snapshot()?)));
        Ok(())
    })
}

/// Writes a snapshot to a file.
///
/// - `path`: the file, which is overwritten; its ending selects the format: `.pickle` or `.json` for torch's
///   viewer (`pytorch.org/memory_viz`), or `.html` for a page that a browser shows without a network.
/// - Errors: INVALID_ARGUMENT: `path` has another ending. IO: the file cannot be written.
/// - Ordering: as `sconce_memory_get_snapshot_json`.
/// - torch: `torch.cuda.memory._dump_snapshot()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_save_snapshot(path: *const c_char) -> sconce_status {
    guard(|| {
        let path = path!(path);
        report::save_snapshot(path, &memory::snapshot()?)
    })
}

/// Starts or stops the recording of memory events for snapshots. Stopping discards the recorded
/// events; starting again without stopping keeps them. Needs no device.
///
/// While recording, every allocation and free takes a little longer.
///
/// - `enabled`: whether to record.
/// - `max_entries`: the number of entries that are kept for each device; further entries replace
///   the oldest. More than 0 if `enabled`, else ignored.
/// - torch: `torch.cuda.memory._record_memory_history()`; stack traces are not recorded.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_record_history(
    enabled: CBool,
    max_entries: usize,
) -> sconce_status {
    guard(|| memory::record_history(enabled.is_true(), max_entries))
}
