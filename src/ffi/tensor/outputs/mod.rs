//! Operations whose results go to tensors of the caller's choice. See `docs/design/outputs.md`.
//!
//! | file | idea |
//! |---|---|
//! | `calculate` | elementwise operations, reductions, calculations along a dimension |
//! | `order` | tensors joined, selected, sorted |
//! | `product` | products of matrices, Fourier transforms |
//! | `create` | other sizes; numbers in a sequence |

mod calculate;
mod create;
mod order;
mod product;

pub use calculate::*;
pub use create::*;
pub use order::*;
pub use product::*;

use super::handle::{sconce_tensor, tensor_of};
use crate::error::{Error, Result};
use crate::ffi::handle::OpaqueHandle;
use crate::tensor::{Tensor, handle};

/// Writes a result to the tensor of a handle, which may be undefined: `write` returns the tensor that the handle is
/// to hold.
pub(super) fn written_to(
    into: *mut sconce_tensor,
    write: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let before = tensor_of(into, "into")?;
    let result = write(&before)?;
    assign(into, "into", &before, result)
}

/// Lets a handle hold a result, unless it does.
fn assign(into: *mut sconce_tensor, name: &str, before: &Tensor, result: Tensor) -> Result<()> {
    if before.is_same_view(&result) {
        return Ok(());
    }
    handle::assign(sconce_tensor::key(into, name)?, name, result)
}

/// As [`written_to`], for an operation of two results.
fn two_written_to(
    into: [*mut sconce_tensor; 2],
    names: [&str; 2],
    write: impl FnOnce(&[Tensor; 2]) -> Result<[Tensor; 2]>,
) -> Result<()> {
    if into[0] == into[1] {
        return Err(Error::invalid_argument(format!(
            "{} and {} are one tensor; pass two",
            names[0], names[1]
        )));
    }
    let before = [tensor_of(into[0], names[0])?, tensor_of(into[1], names[1])?];
    let [first, second] = write(&before)?;
    assign(into[0], names[0], &before[0], first)?;
    assign(into[1], names[1], &before[1], second)
}
