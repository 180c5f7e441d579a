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
#[inline]
pub(crate) fn select(tensor: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
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
    let (mut sizes, mut strides) =
        (Dims::from_slice(tensor.sizes()), Dims::from_slice(tensor.strides()));
    sizes.remove(at);
    strides.remove(at);
    Ok(tensor.view_of(sizes, strides, offset))
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
pub(crate) fn slice(
    tensor: &Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
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
    Ok(part(tensor, at, start, whole + i64::from(rest != 0), step))
}

/// `length` indices of a dimension, from `start` on.
#[inline]
pub(crate) fn narrow(tensor: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
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
    Ok(part(tensor, at, start, length, 1))
}

/// `length` indices of a dimension from `start` on, each `step` further; all are within the dimension.
#[inline]
pub(super) fn part(tensor: &Tensor, at: usize, start: i64, length: i64, step: i64) -> Tensor {
    let (mut sizes, mut strides) =
        (Dims::from_slice(tensor.sizes()), Dims::from_slice(tensor.strides()));
    let offset = tensor.offset_after(start, strides[at]);
    sizes[at] = length;
    // The stride of at most one element means nothing; a step may be as large as anything.
    strides[at] = strides[at].wrapping_mul(step).max(0);
    tensor.view_of(sizes, strides, offset)
}
