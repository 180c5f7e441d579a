//! The C API. DLPack: tensors exchanged with other libraries without a copy. See `docs/design/dlpack.md`.
//!
//! | file | idea |
//! |---|---|
//! | `tensors` | tensors of this library as structs of DLPack, and the other way round |
//! | `exchange` | the functions of the C exchange table |
//! | `types` | types of elements as DLPack describes them |

mod exchange;
mod tensors;
mod types;

pub use exchange::*;
pub use tensors::*;
pub use types::*;

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_tensors::dlpack::{DlpackExport, DlpackManagedVersioned};

use crate::{guard, misaligned, null};

/// More dimensions than any tensor has: a larger number is one that was not set.
const MOST_DIMENSIONS: i32 = 1 << 16;

/// Refuses a pointer that cannot be one to a `T`.
fn check_pointer<T>(pointer: *const T, name: &str) -> Result<()> {
    match pointer {
        pointer if pointer.is_null() => Err(null(name)),
        pointer if !pointer.is_aligned() => Err(misaligned(name)),
        _ => Ok(()),
    }
}

/// The array of a struct's field.
///
/// # Safety
/// If `values` is neither NULL nor misaligned, it points to `count` numbers that stay as they are during the
/// call.
unsafe fn array<'a>(values: *const i64, count: i32, name: &str) -> Result<&'a [i64]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_pointer(values, name)?;
    if !(0..=MOST_DIMENSIONS).contains(&count) {
        return Err(Error::invalid_argument(format!(
            "ndim is {count}; it must be between 0 and {MOST_DIMENSIONS}"
        )));
    }
    // SAFETY: neither NULL nor misaligned; this function demands `count` numbers.
    Ok(unsafe { std::slice::from_raw_parts(values, count as usize) })
}

/// The deleter of structs with a version.
unsafe extern "C" fn delete_versioned(managed: *mut c_void) {
    let _ = guard(|| {
        if !managed.is_null() {
            // SAFETY: this is the deleter of structs that were exported with a version.
            unsafe { DlpackExport::<DlpackManagedVersioned>::delete(managed) };
        }
        Ok(())
    });
}
