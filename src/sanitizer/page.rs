//! The page of a run.

use std::ffi::c_char;

use sconce_base::error::Error;
use sconce_runtime::context::runtime;

use super::control::open_sanitizer;
use crate::{CBool, guard, sconce_status};

/// Begins or ends to keep what `sconce_sanitizer_save_page` draws. `SCONCE_SANITIZER_PAGE` begins it with the library,
/// with 4096 operations, and writes the page at the end of the process.
///
/// While it is kept, each operation and each wait costs the sanitizer a little more time, and up to about a kilobyte.
///
/// - `enabled`: whether to keep it. Ending discards what was kept; beginning again does not.
/// - `max_operations`: how many of the newest operations are kept, beside those near reports; ignored if `enabled` is
///   false.
/// - Errors: `SCONCE_ERROR_INVALID_ARGUMENT` for 0 operations, `SCONCE_ERROR_INVALID_STATE` without the sanitizer.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sanitizer_record_history(
    enabled: CBool,
    max_operations: usize,
) -> sconce_status {
    guard(|| {
        let enabled = enabled.is_true();
        if enabled && max_operations == 0 {
            return Err(Error::invalid_argument("max_operations is 0; pass at least 1"));
        }
        let _ = runtime()?;
        open_sanitizer()?.record_history(enabled.then_some(max_operations));
        Ok(())
    })
}

/// Writes the page of the run so far: streams, operations, waits and reports, for a browser without a network.
///
/// - `path`: the file, which is overwritten.
/// - Errors: `SCONCE_ERROR_INVALID_STATE` without the sanitizer, or if nothing was kept; `SCONCE_ERROR_IO` if the file
///   cannot be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_save_page(path: *const c_char) -> sconce_status {
    guard(|| {
        let path = path!(path);
        open_sanitizer()?.save_page(path)
    })
}
