//! Tensors on several devices. See `docs/design/comm_tensors.md`.
//!
//! | file | idea |
//! |---|---|
//! | `spread` | one or many tensors to devices, whole or in parts |
//! | `collect` | tensors of devices to one place: sums, and tensors joined |

mod collect;
mod spread;

pub use collect::*;
pub use spread::*;

use sconce_base::error::{Error, Result};
use sconce_tensors::tensor::{Tensor, handle};

use super::arguments::{check_count, entries, misaligned, null};
use super::tensor::handle::tensors_of;
use super::tensor::sconce_tensor;
use crate::handle::OpaqueHandle;

/// A result: a new tensor, or one of the caller's, owned once more.
enum Returned {
    New(Tensor),
    Again(*mut sconce_tensor),
}

/// Writes the handles of results to the caller's array. If that fails, none has been made.
///
/// # Safety
/// If `out_tensors` is neither NULL nor misaligned, it points to so many writable handles.
unsafe fn write_all(results: Vec<Returned>, out_tensors: *mut *mut sconce_tensor) -> Result<()> {
    check_place(out_tensors, results.len())?;
    let mut made = Vec::with_capacity(results.len());
    for result in results {
        let next = match result {
            Returned::New(tensor) => handle::insert(tensor),
            Returned::Again(tensor) => {
                let key = sconce_tensor::key(tensor, "tensor");
                key.and_then(|key| handle::retain(key, "tensor").map(|()| key))
            }
        };
        match next {
            Ok(key) => made.push(key),
            Err(error) => {
                for key in made {
                    handle::release(key, "tensor")?;
                }
                return Err(error);
            }
        }
    }
    for (index, key) in made.into_iter().enumerate() {
        // SAFETY: the caller promises so many places.
        let place = unsafe { out_tensors.add(index) };
        // SAFETY: neither NULL nor misaligned, and the caller promises that it is writable.
        unsafe { place.write(sconce_tensor::from_key(key)) };
    }
    Ok(())
}

/// Checks an array of results before any work.
fn check_place(out_tensors: *mut *mut sconce_tensor, count: usize) -> Result<()> {
    if count != 0 && out_tensors.is_null() {
        return Err(null("out_tensors"));
    }
    if !out_tensors.is_aligned() {
        return Err(misaligned("out_tensors"));
    }
    Ok(())
}

/// The tensors of some lists of equal length, one list after another.
///
/// # Safety
/// If `tensors` is neither NULL nor misaligned, it points to `lists * count` handles.
unsafe fn lists_of(
    tensors: *const *mut sconce_tensor,
    lists: usize,
    count: usize,
) -> Result<Vec<Vec<Tensor>>> {
    let all = lists.checked_mul(count).ok_or_else(|| {
        Error::invalid_argument(format!("{lists} lists of {count} tensors are too many"))
    })?;
    check_count(lists, "lists")?;
    // SAFETY: the caller promises so many handles.
    let all = unsafe { tensors_of(tensors, all, "tensors") }?;
    if count == 0 {
        return Ok(vec![Vec::new(); lists]);
    }
    Ok(all.chunks(count).map(<[Tensor]>::to_vec).collect())
}
