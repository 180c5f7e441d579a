//! The order, the number and the repetition of dimensions.

use sconce_base::error::{Error, Result};
use smallvec::SmallVec;

use crate::tensor::dims::{count, wrap_dim};
use crate::tensor::{Dims, Tensor, TensorLayout};

/// Two dimensions exchanged, of a layout.
#[inline]
pub fn transpose_in_place(layout: &mut TensorLayout, first: i64, second: i64) -> Result<()> {
    let (first, second) = (wrap_dim(first, layout.rank())?, wrap_dim(second, layout.rank())?);
    if layout.rank() != 0 {
        let (sizes, strides) = layout.extents_mut();
        sizes.swap(first, second);
        strides.swap(first, second);
    }
    Ok(())
}

/// All dimensions in another order.
pub fn permute(tensor: &Tensor, order: &[i64]) -> Result<Tensor> {
    tensor.viewed(|layout| permute_in_place(layout, order))
}

/// As [`permute`], of a layout.
pub fn permute_in_place(layout: &mut TensorLayout, order: &[i64]) -> Result<()> {
    let rank = layout.rank();
    if order.len() != rank {
        return Err(Error::invalid_argument(format!(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of \
             the desired ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {}",
            order.len()
        )));
    }
    let mut seen: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank);
    let (mut sizes, mut strides) = (Dims::new(), Dims::new());
    for dim in order {
        let at = wrap_dim(*dim, rank)?;
        if std::mem::replace(&mut seen[at], true) {
            return Err(Error::invalid_argument("permute(): duplicate dims are not allowed."));
        }
        sizes.push(layout.sizes()[at]);
        strides.push(layout.strides()[at]);
    }
    layout.set(&sizes, &strides);
    Ok(())
}

/// Without the given dimensions, as far as they have one element; of a layout.
pub fn squeeze_in_place(layout: &mut TensorLayout, dims: &[i64]) -> Result<()> {
    let rank = layout.rank();
    let mut named: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank.max(1));
    for dim in dims {
        let at = wrap_dim(*dim, rank)?;
        if std::mem::replace(&mut named[at], true) {
            return Err(Error::invalid_argument(format!(
                "dim {at} appears multiple times in the list of dims"
            )));
        }
    }
    layout.keep(|dim, size| size != 1 || !named[dim]);
    Ok(())
}

/// Without all dimensions of one element; of a layout.
pub fn squeeze_all_in_place(layout: &mut TensorLayout) {
    layout.keep(|_, size| size != 1);
}

/// With one more dimension, of one element.
pub fn unsqueeze(tensor: &Tensor, dim: i64) -> Result<Tensor> {
    tensor.viewed(|view| unsqueeze_in_place(view, dim))
}

/// As [`unsqueeze`], of a layout.
#[inline]
pub fn unsqueeze_in_place(layout: &mut TensorLayout, dim: i64) -> Result<()> {
    let at = wrap_dim(dim, layout.rank() + 1)?;
    let stride = match (layout.sizes().get(at), layout.strides().get(at)) {
        (Some(size), Some(stride)) => size.wrapping_mul(*stride),
        _ => 1,
    };
    layout.insert(at, 1, stride.max(0));
    Ok(())
}

/// With dimensions of one element repeated; -1 keeps a size, and new dimensions come first.
pub fn expand(tensor: &Tensor, wanted: &[i64]) -> Result<Tensor> {
    tensor.viewed(|layout| expand_in_place(layout, wanted))
}

/// As [`expand`], of a layout.
pub fn expand_in_place(layout: &mut TensorLayout, wanted: &[i64]) -> Result<()> {
    let (rank, new) = (wanted.len(), wanted.len().checked_sub(layout.rank()));
    let Some(new) = new else {
        return Err(Error::invalid_argument(format!(
            "expand(tensor{{{:?}}}, size={wanted:?}): the number of sizes provided ({rank}) must be greater \
             or equal to the number of dimensions in the tensor ({})",
            layout.sizes(),
            layout.rank()
        )));
    };
    let (mut sizes, mut strides) = (Dims::from_slice(wanted), Dims::from_elem(0, rank));
    for dim in 0..rank {
        let Some(own) = dim.checked_sub(new) else {
            if wanted[dim] == -1 {
                return Err(Error::invalid_argument(format!(
                    "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing \
                     dimension {dim}"
                )));
            }
            continue;
        };
        let size = layout.sizes()[own];
        if wanted[dim] == -1 || wanted[dim] == size {
            (sizes[dim], strides[dim]) = (size, layout.strides()[own]);
        } else if size != 1 {
            return Err(Error::invalid_argument(format!(
                "The expanded size of the tensor ({}) must match the existing size ({size}) at \
                 non-singleton dimension {dim}.  Target sizes: {wanted:?}.  Tensor sizes: {:?}",
                wanted[dim],
                layout.sizes()
            )));
        }
    }
    layout.numel = count(&sizes)?;
    // A new dimension of one element repeats nothing, and gets the stride of a whole.
    if layout.rank() > 0 {
        for dim in (0..new).rev().filter(|dim| wanted[*dim] == 1) {
            strides[dim] = sizes[dim + 1].wrapping_mul(strides[dim + 1]);
        }
    }
    layout.set(&sizes, &strides);
    Ok(())
}

/// The diagonal of two dimensions, `above` the main one, as the last dimension.
pub fn diagonal(tensor: &Tensor, above: i64, first: i64, second: i64) -> Result<Tensor> {
    tensor.viewed(|layout| diagonal_in_place(layout, above, first, second))
}

/// As [`diagonal`], of a layout.
pub fn diagonal_in_place(
    layout: &mut TensorLayout,
    above: i64,
    first: i64,
    second: i64,
) -> Result<()> {
    let (rows, columns) = (wrap_dim(first, layout.rank())?, wrap_dim(second, layout.rank())?);
    if rows == columns {
        return Err(Error::invalid_argument(format!(
            "diagonal dimensions cannot be identical {first}, {second}"
        )));
    }
    let (height, width) = (layout.sizes()[rows], layout.sizes()[columns]);
    let (down, right) = (layout.strides()[rows], layout.strides()[columns]);
    let length = if above >= 0 {
        height.min(width.saturating_sub(above))
    } else {
        width.min(height.saturating_add(above))
    }
    .max(0);
    if length > 0 {
        let (steps, stride) = if above >= 0 { (above, right) } else { (-above, down) };
        layout.offset = layout.offset_after(steps, stride);
    }
    layout.keep(|dim, _| dim != rows && dim != columns);
    layout.insert(layout.rank(), length, down.saturating_add(right));
    layout.count_again();
    Ok(())
}
