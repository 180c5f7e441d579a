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

use super::arguments::{OutEntries, check_count};
use super::tensor::handle::tensors_of;
use super::tensor::sconce_tensor;
use crate::handle::OpaqueHandle;

/// A result: a new tensor, or one of the caller's, owned once more.
enum Returned {
    New(Tensor),
    Again(*mut sconce_tensor),
}

/// Writes the handles of results to the caller's array. If that fails, none has been made.
fn write_all(results: Vec<Returned>, out_tensors: OutEntries<*mut sconce_tensor>) -> Result<()> {
    out_tensors.check(results.len())?;
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
    let made: Vec<_> = made.into_iter().map(sconce_tensor::from_key).collect();
    out_tensors.write(&made)
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
    let all = checked!(tensors_of, tensors, all);
    if count == 0 {
        return Ok(vec![Vec::new(); lists]);
    }
    Ok(all.chunks(count).map(<[Tensor]>::to_vec).collect())
}
