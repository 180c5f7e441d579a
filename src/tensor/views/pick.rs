//! A part of a dimension, one index of it, or any sizes and strides within the storage.

use crate::error::{Error, Result};
use crate::tensor::dims::wrap_dim;
use crate::tensor::{Dims, Tensor};

/// Sizes, strides and offset in the storage of the caller's choice (`torch.Tensor.as_strided`).
pub(crate) fn as_strided(
    tensor: &Tensor,
    sizes: &[i64],
    strides: &[i64],
    offset: Option<i64>,
) -> Result<Tensor> {
    let offset = offset.unwrap_or_else(|| tensor.offset());
    Tensor::checked(tensor.storage().clone(), tensor.dtype(), sizes, strides, offset)
}

/// One index of a dimension, which goes.
pub(crate) fn select(tensor: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    tensor.viewed(|view| select_in_place(view, dim, index))
}

/// As [`select`]; the tensor becomes the view.
#[inline]
pub(crate) fn select_in_place(tensor: &mut Tensor, dim: i64, index: i64) -> Result<()> {
    if tensor.rank() == 0 {
        return Err(Error::invalid_argument("select() cannot be applied to a 0-dim tensor."));
    }
    let at = wrap_dim(dim, tensor.rank())?;
    let size = tensor.sizes()[at];
    if index < -size || index >= size {
        return Err(no_such_index(tensor, dim, index));
    }
    let index = if index < 0 { index + size } else { index };
    let offset = tensor.offset_after(index, tensor.strides()[at]);
    tensor.change_view(|sizes, strides, first| {
        remove(sizes, at);
        remove(strides, at);
        *first = offset;
    });
    Ok(())
}

#[cold]
fn no_such_index(tensor: &Tensor, dim: i64, index: i64) -> Error {
    Error::invalid_argument(format!(
        "select(): index {index} out of range for tensor of size {:?} at dimension {dim}",
        tensor.sizes()
    ))
}

/// Indices from `start` up to, but not including, `end`, every `step`-th. Both count from the end if they
/// are negative, and are cut to the dimension.
#[inline]
pub(crate) fn slice_in_place(
    tensor: &mut Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<()> {
    if tensor.rank() == 0 {
        return Err(Error::invalid_argument("slice() cannot be applied to a 0-dim tensor."));
    }
    let at = wrap_dim(dim, tensor.rank())?;
    if step <= 0 {
        return Err(Error::invalid_argument("slice step must be positive"));
    }
    let size = tensor.sizes()[at];
    let within = |index: i64| if index < 0 { (index + size).max(0) } else { index.min(size) };
    let start = within(start.unwrap_or(0));
    let end = within(end.unwrap_or(i64::MAX)).max(start);
    let (whole, rest) = ((end - start) / step, (end - start) % step);
    part_in_place(tensor, at, start, whole + i64::from(rest != 0), step);
    Ok(())
}

/// `length` indices of a dimension, from `start` on.
pub(crate) fn narrow(tensor: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    tensor.viewed(|view| narrow_in_place(view, dim, start, length))
}

/// As [`narrow`]; the tensor becomes the view.
#[inline]
pub(crate) fn narrow_in_place(
    tensor: &mut Tensor,
    dim: i64,
    start: i64,
    length: i64,
) -> Result<()> {
    if tensor.rank() == 0 {
        return Err(Error::invalid_argument("narrow() cannot be applied to a 0-dim tensor."));
    }
    if length < 0 {
        return Err(Error::invalid_argument("narrow(): length must be non-negative."));
    }
    let at = wrap_dim(dim, tensor.rank())?;
    let size = tensor.sizes()[at];
    if start < -size || start > size {
        return Err(Error::invalid_argument(format!(
            "start out of range (expected to be in range of [{}, {size}], but got {start})",
            -size
        )));
    }
    let start = if start < 0 { start + size } else { start };
    if start > size - length {
        return Err(Error::invalid_argument(format!(
            "start ({start}) + length ({length}) exceeds dimension size ({size})."
        )));
    }
    part_in_place(tensor, at, start, length, 1);
    Ok(())
}

/// `length` indices of a dimension from `start` on, each `step` further; all are within the dimension.
pub(super) fn part(tensor: &Tensor, at: usize, start: i64, length: i64, step: i64) -> Tensor {
    let mut view = tensor.clone();
    part_in_place(&mut view, at, start, length, step);
    view
}

/// As [`part`]; the tensor becomes the view.
#[inline]
fn part_in_place(tensor: &mut Tensor, at: usize, start: i64, length: i64, step: i64) {
    let offset = tensor.offset_after(start, tensor.strides()[at]);
    tensor.change_view(|sizes, strides, first| {
        sizes[at] = length;
        // The stride of at most one element means nothing; a step may be as large as anything.
        strides[at] = strides[at].wrapping_mul(step).max(0);
        *first = offset;
    });
}

/// Removes a number, without the call that moves any number of them.
#[inline]
fn remove(numbers: &mut Dims, at: usize) {
    for dim in at + 1..numbers.len() {
        numbers[dim - 1] = numbers[dim];
    }
    numbers.pop();
}
