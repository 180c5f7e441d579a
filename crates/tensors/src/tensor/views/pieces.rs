//! Several views at once, which cover a dimension.

use sconce_base::error::{Error, Result};

use super::pick::{narrow_in_place, part_in_place};
use super::select;
use super::shape::view_in_place;
use crate::tensor::Tensor;
use crate::tensor::dims::wrap_dim;

/// Refuses more pieces than the caller has capacity for, before there are any: there may be more than fit into memory.
fn check_capacity(pieces: i64, capacity: usize) -> Result<()> {
    if usize::try_from(pieces).is_ok_and(|pieces| pieces <= capacity) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "capacity is {capacity}, but there are {pieces} pieces; out_tensors needs an entry for each"
    )))
}

/// `length` indices of a dimension from `start` on, which are within the dimension.
fn part(tensor: &Tensor, at: usize, start: i64, length: i64) -> Result<Tensor> {
    tensor.viewed(|layout| {
        part_in_place(layout, at, start, length, 1);
        Ok(())
    })
}

/// At most `count` pieces of equal size, the last one as large as what is left.
pub fn chunk(tensor: &Tensor, count: i64, dim: i64, capacity: usize) -> Result<Vec<Tensor>> {
    if tensor.rank() == 0 {
        return Err(Error::invalid_argument("chunk expects at least a 1-dimensional tensor"));
    }
    if count <= 0 {
        return Err(Error::invalid_argument(format!(
            "chunk expects `chunks` to be greater than 0, got: {count}"
        )));
    }
    let at = wrap_dim(dim, tensor.rank())?;
    let size = tensor.sizes()[at];
    let each = (size.saturating_add(count - 1)) / count;
    if each == 0 {
        // A dimension of no elements gives as many empty pieces as were asked for.
        check_capacity(count, capacity)?;
        return (0..count).map(|_| part(tensor, at, 0, 0)).collect();
    }
    split(tensor, each, dim, capacity)
}

/// Pieces of a size, the last one as large as what is left.
pub fn split(tensor: &Tensor, each: i64, dim: i64, capacity: usize) -> Result<Vec<Tensor>> {
    if tensor.rank() == 0 {
        return Err(Error::invalid_argument("split expects at least a 1-dimensional tensor"));
    }
    if each < 0 {
        return Err(Error::invalid_argument(format!(
            "split expects split_size be non-negative, but got split_size={each}"
        )));
    }
    let at = wrap_dim(dim, tensor.rank())?;
    let size = tensor.sizes()[at];
    if each == 0 && size != 0 {
        return Err(Error::invalid_argument(format!(
            "split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )));
    }
    let pieces = if each == 0 { 1 } else { ((size - 1).div_euclid(each) + 1).max(1) };
    check_capacity(pieces, capacity)?;
    let piece = |index: i64| {
        let start = index * each;
        part(tensor, at, start, each.min(size - start))
    };
    (0..pieces).map(piece).collect()
}

/// Pieces of given sizes.
pub fn split_with_sizes(
    tensor: &Tensor,
    sizes: &[i64],
    dim: i64,
    capacity: usize,
) -> Result<Vec<Tensor>> {
    if tensor.rank() == 0 {
        return Err(Error::invalid_argument(
            "split_with_sizes expects at least a 1-dimensional tensor",
        ));
    }
    let at = wrap_dim(dim, tensor.rank())?;
    if sizes.iter().any(|size| *size < 0) {
        return Err(Error::invalid_argument(format!(
            "split_with_sizes expects split_sizes have only non-negative entries, but got \
             split_sizes={sizes:?}"
        )));
    }
    let whole = tensor.sizes()[at];
    if sizes.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size)) != Some(whole) {
        return Err(Error::invalid_argument(format!(
            "split_with_sizes expects split_sizes to sum exactly to {whole} (input tensor's size at dimension \
             {dim}), but got split_sizes={sizes:?}"
        )));
    }
    check_capacity(sizes.len() as i64, capacity)?;
    let mut start = 0;
    let piece = |size: &i64| {
        start += size;
        part(tensor, at, start - size, *size)
    };
    sizes.iter().map(piece).collect()
}

/// Pieces of a tensor of one dimension with the shapes of other tensors, one after another.
pub(crate) fn split_flat(flat: &Tensor, shapes: &[&Tensor]) -> Result<Vec<Tensor>> {
    let mut start = 0;
    // With capacity for all: tensors are large, and a vector that grows would move them.
    let mut pieces = Vec::with_capacity(shapes.len());
    for like in shapes {
        pieces.push(flat.viewed(|layout| {
            narrow_in_place(layout, 0, start, like.numel())?;
            view_in_place(layout, like.sizes())
        })?);
        start += like.numel();
    }
    Ok(pieces)
}

/// A view for each index of a dimension, without that dimension.
pub fn unbind(tensor: &Tensor, dim: i64, capacity: usize) -> Result<Vec<Tensor>> {
    if tensor.rank() == 0 {
        return Err(Error::invalid_argument(
            "Dimension specified as 0 but tensor has no dimensions",
        ));
    }
    let at = wrap_dim(dim, tensor.rank())?;
    check_capacity(tensor.sizes()[at], capacity)?;
    (0..tensor.sizes()[at]).map(|index| select(tensor, at as i64, index)).collect()
}
