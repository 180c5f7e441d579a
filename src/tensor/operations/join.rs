//! Tensors joined along a dimension.

use smallvec::SmallVec;

use super::operand::{TensorOperand, common_type, same_place};
use crate::error::{Error, Result};
use crate::ordering::{JoinCall, JoinPart, PlacedOperand};
use crate::tensor::dims::{self, strides_in_order, wrap_dim};
use crate::tensor::launch;
use crate::tensor::transfer::copy_into;
use crate::tensor::{Dims, Tensor, TensorOptions, views};

/// Tensors one after another along an existing dimension. Tensors of shape [0] are left out, as in torch.
pub(crate) fn cat(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::invalid_argument("torch.cat(): expected a non-empty list of Tensors"));
    }
    if let Some(at) = tensors.iter().position(|tensor| tensor.rank() == 0) {
        return Err(Error::invalid_argument(format!(
            "zero-dimensional tensor (at position {at}) cannot be concatenated"
        )));
    }
    let place = same_place(tensors)?;
    let operands: SmallVec<[TensorOperand<'_>; 8]> =
        tensors.iter().map(TensorOperand::Tensor).collect();
    let dtype = common_type(&operands)?;
    let is_skipped = |tensor: &&Tensor| tensor.sizes() == [0];
    let parts: SmallVec<[(usize, &Tensor); 8]> =
        tensors.iter().enumerate().filter(|(_, tensor)| !is_skipped(tensor)).collect();
    let options = TensorOptions { dtype, place, pinned: false };
    let Some((_, first)) = parts.first() else { return options.empty(&[0]) };
    let at = wrap_dim(dim, first.rank())?;
    let mut sizes = Dims::from_slice(first.sizes());
    sizes[at] = 0;
    for (position, tensor) in &parts {
        check_part(first, tensor, at, *position)?;
        sizes[at] += tensor.sizes()[at];
    }
    let output = if parts.iter().all(|(_, tensor)| looks_channels_last(tensor)) {
        let rank = sizes.len();
        let order = std::iter::once(1).chain((2..rank).rev()).chain([0]);
        options.empty_strided(&sizes, &strides_in_order(&sizes, order))?
    } else {
        options.empty(&sizes)?
    };
    if output.numel() == 0 {
        return Ok(output);
    }
    if parts.iter().any(|(_, tensor)| tensor.dtype() != dtype) {
        return convert_parts(&output, &parts, at);
    }
    let parts: SmallVec<[JoinPart<'_>; 8]> = parts
        .iter()
        .map(|(_, tensor)| JoinPart { size: tensor.sizes()[at], operand: placed(tensor) })
        .collect();
    launch::join(
        &output,
        &JoinCall { dtype, sizes: &sizes, axis: at, output: placed(&output), parts: &parts },
    )?;
    Ok(output)
}

fn looks_channels_last(tensor: &Tensor) -> bool {
    dims::looks_channels_last(tensor.sizes(), tensor.strides())
}

/// Each part is converted into its place.
fn convert_parts(output: &Tensor, parts: &[(usize, &Tensor)], at: usize) -> Result<Tensor> {
    let mut start = 0;
    for (_, tensor) in parts {
        let length = tensor.sizes()[at];
        copy_into(&views::narrow(output, at as i64, start, length)?, tensor, true)?;
        start += length;
    }
    Ok(output.clone())
}

pub(super) fn placed(tensor: &Tensor) -> PlacedOperand<'_> {
    PlacedOperand { address: tensor.raw(), strides: tensor.strides() }
}

fn check_part(first: &Tensor, tensor: &Tensor, at: usize, position: usize) -> Result<()> {
    if tensor.rank() != first.rank() {
        return Err(Error::invalid_argument(format!(
            "Tensors must have same number of dimensions: got {} and {}",
            first.rank(),
            tensor.rank()
        )));
    }
    let differs = |dim: &usize| *dim != at && first.sizes()[*dim] != tensor.sizes()[*dim];
    match (0..first.rank()).find(differs) {
        None => Ok(()),
        Some(dim) => Err(Error::invalid_argument(format!(
            "Sizes of tensors must match except in dimension {at}. Expected size {} but got size {} for tensor \
             number {position} in the list.",
            first.sizes()[dim],
            tensor.sizes()[dim]
        ))),
    }
}

/// Tensors of one shape along a new dimension.
pub(crate) fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(Error::invalid_argument("stack expects a non-empty TensorList"));
    };
    let at = wrap_dim(dim, first.rank() + 1)? as i64;
    for (position, tensor) in tensors.iter().enumerate() {
        if tensor.sizes() != first.sizes() {
            return Err(Error::invalid_argument(format!(
                "stack expects each tensor to be equal size, but got {:?} at entry 0 and {:?} at entry \
                 {position}",
                first.sizes(),
                tensor.sizes()
            )));
        }
    }
    if (at as usize) < first.rank() {
        // Joined along the dimension that comes after the new one, the elements lie as they shall.
        let joined = cat(tensors, at)?;
        let mut sizes = Dims::from_slice(first.sizes());
        sizes.insert(at as usize, tensors.len() as i64);
        if views::view_strides(joined.sizes(), joined.strides(), &sizes).is_some() {
            return views::view(&joined, &sizes);
        }
    }
    let raised: Result<Vec<Tensor>> =
        tensors.iter().map(|tensor| views::unsqueeze(tensor, at)).collect();
    cat(&raised?, at)
}
