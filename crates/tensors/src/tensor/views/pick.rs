//! A part of a dimension, one index of it, or any sizes and strides within the storage.

use sconce_base::error::{Error, Result};

use crate::tensor::dims::wrap_dim;
use crate::tensor::{Tensor, TensorLayout};

/// Sizes, strides and offset in the storage of the caller's choice (`torch.Tensor.as_strided`).
pub fn as_strided(
    tensor: &Tensor,
    sizes: &[i64],
    strides: &[i64],
    offset: Option<i64>,
) -> Result<Tensor> {
    let offset = offset.unwrap_or_else(|| tensor.offset());
    Tensor::checked(tensor.storage().clone(), tensor.dtype(), sizes, strides, offset)
}

/// One index of a dimension, which goes.
pub fn select(tensor: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    tensor.viewed(|view| select_in_place(view, dim, index))
}

/// As [`select`], of a layout.
#[inline(always)]
pub fn select_in_place(layout: &mut TensorLayout, dim: i64, index: i64) -> Result<()> {
    let at = dim_of("select", layout, dim)?;
    let size = layout.sizes()[at];
    if index < -size || index >= size {
        return Err(no_such_index(layout, dim, index));
    }
    let index = if index < 0 { index + size } else { index };
    layout.offset = layout.offset_after(index, layout.strides()[at]);
    layout.remove(at);
    layout.count_again();
    Ok(())
}

/// The dimension that a call names, of a tensor that must have one.
#[inline]
fn dim_of(call: &str, layout: &TensorLayout, dim: i64) -> Result<usize> {
    match layout.rank() {
        0 => Err(no_dimension(call)),
        rank => wrap_dim(dim, rank),
    }
}

#[cold]
#[inline(never)]
fn no_dimension(call: &str) -> Error {
    Error::invalid_argument(format!("{call}() cannot be applied to a 0-dim tensor."))
}

#[cold]
#[inline(never)]
fn no_such_index(layout: &TensorLayout, dim: i64, index: i64) -> Error {
    Error::invalid_argument(format!(
        "select(): index {index} out of range for tensor of size {:?} at dimension {dim}",
        layout.sizes()
    ))
}

/// Indices from `start` up to, but not including, `end`, every `step`-th. Both count from the end if they
/// are negative, and are cut to the dimension.
#[inline]
pub fn slice_in_place(
    layout: &mut TensorLayout,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<()> {
    let at = dim_of("slice", layout, dim)?;
    if step <= 0 {
        return Err(Error::invalid_argument("slice step must be positive"));
    }
    let size = layout.sizes()[at];
    let within = |index: i64| if index < 0 { (index + size).max(0) } else { index.min(size) };
    let start = within(start.unwrap_or(0));
    let end = within(end.unwrap_or(i64::MAX)).max(start);
    let (whole, rest) = ((end - start) / step, (end - start) % step);
    part_in_place(layout, at, start, whole + i64::from(rest != 0), step);
    Ok(())
}

/// `length` indices of a dimension, from `start` on.
pub fn narrow(tensor: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    tensor.viewed(|view| narrow_in_place(view, dim, start, length))
}

/// As [`narrow`], of a layout.
#[inline]
pub fn narrow_in_place(layout: &mut TensorLayout, dim: i64, start: i64, length: i64) -> Result<()> {
    if layout.rank() == 0 {
        return Err(no_dimension("narrow"));
    }
    if length < 0 {
        return Err(Error::invalid_argument("narrow(): length must be non-negative."));
    }
    let at = wrap_dim(dim, layout.rank())?;
    let size = layout.sizes()[at];
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
    part_in_place(layout, at, start, length, 1);
    Ok(())
}

/// `length` indices of a dimension from `start` on, each `step` further; all are within the dimension.
#[inline]
pub(super) fn part_in_place(
    layout: &mut TensorLayout,
    at: usize,
    start: i64,
    length: i64,
    step: i64,
) {
    layout.offset = layout.offset_after(start, layout.strides()[at]);
    let (sizes, strides) = layout.extents_mut();
    sizes[at] = length;
    // The stride of at most one element means nothing; a step may be as large as anything.
    strides[at] = strides[at].wrapping_mul(step).max(0);
    layout.count_again();
}
