//! The order, the number and the repetition of dimensions.

use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::tensor::dims::wrap_dim;
use crate::tensor::{Dims, Tensor};

/// Two dimensions exchanged; the tensor becomes the view.
#[inline]
pub(crate) fn transpose_in_place(tensor: &mut Tensor, first: i64, second: i64) -> Result<()> {
    let (first, second) = (wrap_dim(first, tensor.rank())?, wrap_dim(second, tensor.rank())?);
    if tensor.rank() != 0 {
        tensor.change_view(|sizes, strides, _| {
            sizes.swap(first, second);
            strides.swap(first, second);
        });
    }
    Ok(())
}

/// All dimensions in another order.
pub(crate) fn permute(tensor: &Tensor, order: &[i64]) -> Result<Tensor> {
    let rank = tensor.rank();
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
        sizes.push(tensor.sizes()[at]);
        strides.push(tensor.strides()[at]);
    }
    Ok(tensor.view_of(sizes, strides, tensor.offset()))
}

/// Without the given dimensions, as far as they have one element.
pub(crate) fn squeeze(tensor: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let rank = tensor.rank();
    let mut named: SmallVec<[bool; 8]> = SmallVec::from_elem(false, rank.max(1));
    for dim in dims {
        let at = wrap_dim(*dim, rank)?;
        if std::mem::replace(&mut named[at], true) {
            return Err(Error::invalid_argument(format!(
                "dim {at} appears multiple times in the list of dims"
            )));
        }
    }
    Ok(without(tensor, |dim| named[dim] && tensor.sizes()[dim] == 1))
}

/// Without all dimensions of one element.
pub(crate) fn squeeze_all(tensor: &Tensor) -> Tensor {
    without(tensor, |dim| tensor.sizes()[dim] == 1)
}

fn without(tensor: &Tensor, goes: impl Fn(usize) -> bool) -> Tensor {
    let stays = (0..tensor.rank()).filter(|dim| !goes(*dim));
    let (sizes, strides) = stays.map(|dim| (tensor.sizes()[dim], tensor.strides()[dim])).unzip();
    tensor.view_of(sizes, strides, tensor.offset())
}

/// With one more dimension, of one element.
pub(crate) fn unsqueeze(tensor: &Tensor, dim: i64) -> Result<Tensor> {
    tensor.viewed(|view| unsqueeze_in_place(view, dim))
}

/// As [`unsqueeze`]; the tensor becomes the view.
#[inline]
pub(crate) fn unsqueeze_in_place(tensor: &mut Tensor, dim: i64) -> Result<()> {
    let at = wrap_dim(dim, tensor.rank() + 1)?;
    tensor.change_view(|sizes, strides, _| {
        let stride = if at < sizes.len() { sizes[at].wrapping_mul(strides[at]) } else { 1 };
        sizes.insert(at, 1);
        strides.insert(at, stride.max(0));
    });
    Ok(())
}

/// With dimensions of one element repeated; -1 keeps a size, and new dimensions come first.
pub(crate) fn expand(tensor: &Tensor, wanted: &[i64]) -> Result<Tensor> {
    let (rank, new) = (wanted.len(), wanted.len().checked_sub(tensor.rank()));
    let Some(new) = new else {
        return Err(Error::invalid_argument(format!(
            "expand(tensor{{{:?}}}, size={wanted:?}): the number of sizes provided ({rank}) must be greater \
             or equal to the number of dimensions in the tensor ({})",
            tensor.sizes(),
            tensor.rank()
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
        let size = tensor.sizes()[own];
        if wanted[dim] == -1 || wanted[dim] == size {
            (sizes[dim], strides[dim]) = (size, tensor.strides()[own]);
        } else if size != 1 {
            return Err(Error::invalid_argument(format!(
                "The expanded size of the tensor ({}) must match the existing size ({size}) at \
                 non-singleton dimension {dim}.  Target sizes: {wanted:?}.  Tensor sizes: {:?}",
                wanted[dim],
                tensor.sizes()
            )));
        }
    }
    crate::tensor::dims::count(&sizes)?;
    Ok(tensor.view_of(sizes, strides, tensor.offset()))
}

/// The diagonal of two dimensions, `above` the main one, as the last dimension.
pub(crate) fn diagonal(tensor: &Tensor, above: i64, first: i64, second: i64) -> Result<Tensor> {
    let (rows, columns) = (wrap_dim(first, tensor.rank())?, wrap_dim(second, tensor.rank())?);
    if rows == columns {
        return Err(Error::invalid_argument(format!(
            "diagonal dimensions cannot be identical {first}, {second}"
        )));
    }
    let (height, width) = (tensor.sizes()[rows], tensor.sizes()[columns]);
    let (down, right) = (tensor.strides()[rows], tensor.strides()[columns]);
    let length = if above >= 0 {
        height.min(width.saturating_sub(above))
    } else {
        width.min(height.saturating_add(above))
    }
    .max(0);
    let offset = match length {
        0 => tensor.offset(),
        _ if above >= 0 => tensor.offset_after(above, right),
        _ => tensor.offset_after(-above, down),
    };
    let others = (0..tensor.rank()).filter(|dim| *dim != rows && *dim != columns);
    let (mut sizes, mut strides): (Dims, Dims) =
        others.map(|dim| (tensor.sizes()[dim], tensor.strides()[dim])).unzip();
    sizes.push(length);
    strides.push(down.saturating_add(right));
    Ok(tensor.view_of(sizes, strides, offset))
}
