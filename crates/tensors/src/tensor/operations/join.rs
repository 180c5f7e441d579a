//! Tensors joined along a dimension.

use sconce_base::error::{Error, Result};
use sconce_compute::ordering::{JoinCall, JoinPart, PlacedOperand};
use smallvec::SmallVec;

use super::operand::{TensorOperand, common_type, same_place};
use super::output::{Destination, InPlace};
use crate::tensor::dims::{self, strides_in_order, wrap_dim};
use crate::tensor::launch;
use crate::tensor::transfer::copy_into;
use crate::tensor::{Dims, Tensor, TensorOptions, views};

/// Tensors one after another along an existing dimension, in a new tensor or in `into`. Tensors of shape `[0]` are
/// left out, as in torch.
pub fn cat(tensors: &[Tensor], dim: i64, into: Option<&Tensor>) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::invalid_argument("cat(): expected a non-empty list of tensors"));
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
    let mut destination = Destination::at(place, into)?.castable(dtype)?;
    for tensor in tensors {
        destination = destination.reads(tensor, InPlace::Refused)?;
    }
    let Some((_, first)) = parts.first() else {
        return destination.packed(options, &[0])?.finish();
    };
    let at = wrap_dim(dim, first.rank())?;
    let mut sizes = Dims::from_slice(first.sizes());
    sizes[at] = 0;
    for (position, tensor) in &parts {
        check_part(first, tensor, at, *position)?;
        sizes[at] += tensor.sizes()[at];
    }
    let result = if parts.iter().all(|(_, tensor)| looks_channels_last(tensor)) {
        let rank = sizes.len();
        let order = std::iter::once(1).chain((2..rank).rev()).chain([0]);
        destination.output(options, &sizes, strides_in_order(&sizes, order))?
    } else {
        destination.packed(options, &sizes)?
    };
    let output = result.tensor();
    if output.numel() == 0 {
        return result.finish();
    }
    if parts.iter().any(|(_, tensor)| tensor.dtype() != output.dtype()) {
        convert_parts(output, &parts, at)?;
        return result.finish();
    }
    let parts: SmallVec<[JoinPart<'_>; 8]> = parts
        .iter()
        .map(|(_, tensor)| JoinPart { size: tensor.sizes()[at], operand: placed(tensor) })
        .collect();
    launch::join(
        output,
        &JoinCall { dtype, sizes: &sizes, axis: at, output: placed(output), parts: &parts },
    )?;
    result.finish()
}

/// As [`cat`] into a new tensor, which `result` becomes.
pub fn cat_in_place(tensors: &[Tensor], dim: i64, result: &mut Tensor) -> Result<()> {
    if !cat_packed(tensors, dim, result)? {
        *result = cat(tensors, dim, None)?;
    }
    Ok(())
}

/// Joins what most calls join: contiguous tensors of one type and place, whose elements lie one after another in the
/// result, too. `false` for all else, and for what is refused.
fn cat_packed(tensors: &[Tensor], dim: i64, result: &mut Tensor) -> Result<bool> {
    let Some(first) = tensors.first() else { return Ok(false) };
    let Ok(at) = wrap_dim(dim, first.rank()) else { return Ok(false) };
    if first.rank() == 0 || first.sizes()[..at].iter().any(|size| *size != 1) {
        return Ok(false);
    }
    let mut length = 0;
    for tensor in tensors {
        let fits = tensor.dtype() == first.dtype()
            && tensor.place() == first.place()
            && tensor.numel() > 0
            && tensor.is_contiguous()
            && have_one_shape(first.sizes(), tensor.sizes(), at);
        if !fits {
            return Ok(false);
        }
        length += tensor.sizes()[at];
    }
    // Those may lie otherwise in the result.
    if tensors.iter().all(looks_channels_last) {
        return Ok(false);
    }
    let mut sizes = Dims::from_slice(first.sizes());
    sizes[at] = length;
    let options = TensorOptions { dtype: first.dtype(), place: first.place(), pinned: false };
    options.empty_in_place(&sizes, result)?;
    join_packed(result, tensors)?;
    Ok(true)
}

/// Whether two shapes differ in one dimension at most.
fn have_one_shape(one: &[i64], other: &[i64], at: usize) -> bool {
    let mut pairs = one.iter().zip(other).enumerate();
    one.len() == other.len() && pairs.all(|(dim, (one, other))| dim == at || one == other)
}

/// The elements of tensors, one after another. The callers have checked that they are contiguous, and of the output's
/// type and place.
fn join_packed<'a>(output: &Tensor, tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<()> {
    let packed = |tensor: &Tensor| PlacedOperand { address: tensor.raw(), strides: &[1] };
    let part = |tensor: &'a Tensor| JoinPart { size: tensor.numel(), operand: packed(tensor) };
    let parts: SmallVec<[JoinPart<'_>; 8]> = tensors.into_iter().map(part).collect();
    let sizes = &[output.numel()];
    let (dtype, output_operand) = (output.dtype(), packed(output));
    launch::join(output, &JoinCall { dtype, sizes, axis: 0, output: output_operand, parts: &parts })
}

/// The elements of contiguous tensors of one type and place, one after another, in a new tensor of one dimension.
pub(crate) fn cat_flat(tensors: &[&Tensor]) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        return Err(Error::invalid_argument("no tensors to join"));
    };
    let fits = |tensor: &&Tensor| {
        tensor.is_contiguous() && tensor.dtype() == first.dtype() && tensor.place() == first.place()
    };
    if !tensors.iter().all(fits) {
        return Err(Error::invalid_argument(
            "tensors that are joined as they lie must be contiguous, and have one type and one place",
        ));
    }
    let numel = tensors.iter().map(|tensor| tensor.numel()).sum();
    let output = TensorOptions::of(first).empty(&[numel])?;
    if numel == 0 {
        return Ok(output);
    }
    join_packed(&output, tensors.iter().copied())?;
    Ok(output)
}

fn looks_channels_last(tensor: &Tensor) -> bool {
    dims::looks_channels_last(tensor.sizes(), tensor.strides())
}

/// Each part is converted into its place.
fn convert_parts(output: &Tensor, parts: &[(usize, &Tensor)], at: usize) -> Result<()> {
    let mut start = 0;
    for (_, tensor) in parts {
        let length = tensor.sizes()[at];
        copy_into(&views::narrow(output, at as i64, start, length)?, tensor, true)?;
        start += length;
    }
    Ok(())
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

/// Tensors of one shape along a new dimension, in a new tensor or in `into`.
pub fn stack(tensors: &[Tensor], dim: i64, into: Option<&Tensor>) -> Result<Tensor> {
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
    if into.is_none() && (at as usize) < first.rank() {
        // Joined along the dimension that comes after the new one, the elements lie as they shall.
        let joined = cat(tensors, at, None)?;
        let mut sizes = Dims::from_slice(first.sizes());
        sizes.insert(at as usize, tensors.len() as i64);
        if views::view_strides(joined.sizes(), joined.strides(), &sizes).is_some() {
            return views::view(&joined, &sizes);
        }
    }
    let raised: Result<Vec<Tensor>> =
        tensors.iter().map(|tensor| views::unsqueeze(tensor, at)).collect();
    cat(&raised?, at, into)
}
