//! Gradients as convolutions of rearranged tensors.

use super::{Steps, forward};
use crate::abi::tensors::{numel_of, sizes_of};
use crate::error::Result;
use crate::operations::tensors::filled_like;
use crate::sconce::Tensor;
use crate::sconce::operations::{
    contiguous, copy, fill, flip, narrow, permute, reshape, slice, transpose,
};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::integer;

/// The gradient for the images: elements of the given gradient lie `stride` apart among zeros, and a filter that is
/// turned around, with inputs and outputs exchanged, goes over them in steps of one.
pub(super) fn input_gradient(
    gradient: TensorHandle,
    filter: TensorHandle,
    result: &Tensor,
    steps: Steps<'_>,
) -> Result<()> {
    let (given, weights) = (sizes_of(gradient)?, sizes_of(filter)?);
    if [gradient, filter, result.handle()].into_iter().any(is_empty) {
        return fill(result.handle(), &integer(0));
    }
    let images = sizes_of(result.handle())?;
    let mut room = given.clone();
    // Along each dimension: where the first element lies, and where the part begins that the filter goes over.
    let mut starts = Vec::new();
    for axis in 0..steps.stride.len() {
        let front = steps.reach(axis, weights[axis + 2]) - 1 - steps.padding[axis];
        let wanted = images[axis + 2] + steps.reach(axis, weights[axis + 2]) - 1;
        let last = (given[axis + 2] - 1) * steps.stride[axis];
        let (place, begin) = (front.max(0), (-front).max(0));
        room[axis + 2] = (place + last + 1).max(begin + wanted);
        starts.push((place, begin, wanted));
    }
    let zeros = filled_like(gradient, &room, 0.0)?;
    let (mut holes, mut seen) =
        (Tensor::retained(zeros.handle())?, Tensor::retained(zeros.handle())?);
    for (axis, &(place, begin, wanted)) in starts.iter().enumerate() {
        let (dim, stride) = (axis as i64 + 2, steps.stride[axis]);
        let end = place + (given[axis + 2] - 1) * stride + 1;
        holes = slice(holes.handle(), dim, Some(place), Some(end), stride)?;
        seen = narrow(seen.handle(), dim, begin, wanted)?;
    }
    copy(&holes, gradient)?;
    let turned = turned(filter, &weights, steps.groups)?;
    let ones = vec![1; starts.len()];
    let unpadded = vec![0; starts.len()];
    let over = Steps { stride: &ones, padding: &unpadded, ..steps };
    let found = forward(seen.handle(), turned.handle(), std::ptr::null_mut(), over)?;
    copy(result, found.handle())
}

fn is_empty(tensor: TensorHandle) -> bool {
    numel_of(tensor).is_ok_and(|count| count == 0)
}

/// A filter that is turned around, with inputs and outputs exchanged inside each group.
fn turned(filter: TensorHandle, sizes: &[i64], groups: i64) -> Result<Tensor> {
    let mut grouped = vec![groups, sizes[0] / groups];
    grouped.extend(&sizes[1..]);
    let grouped = reshape(filter, &grouped)?;
    let exchanged = transpose(grouped.handle(), 1, 2)?;
    let mut joined = vec![groups * sizes[1], sizes[0] / groups];
    joined.extend(&sizes[2..]);
    let mut turned = reshape(exchanged.handle(), &joined)?;
    for dim in 2..sizes.len() {
        turned = flip(turned.handle(), dim as i64)?;
    }
    Ok(turned)
}

/// The gradient for the filter: the given gradient goes over the images as a filter whose elements lie `stride` apart,
/// in steps of `dilation`. Images and channels change places, so that sums run over images.
pub(super) fn filter_gradient(
    gradient: TensorHandle,
    images: TensorHandle,
    result: &Tensor,
    steps: Steps<'_>,
) -> Result<()> {
    let seen = sizes_of(images)?;
    if [gradient, images, result.handle()].into_iter().any(is_empty) {
        return fill(result.handle(), &integer(0));
    }
    let (batch, channels) = (seen[0], seen[1] / steps.groups);
    // [batch, groups, channels, …] becomes [channels, groups * batch, …].
    let mut grouped = vec![batch, steps.groups, channels];
    grouped.extend(&seen[2..]);
    let grouped = reshape(images, &grouped)?;
    let mut order: Vec<i64> = vec![2, 1, 0];
    order.extend(3..seen.len() as i64 + 1);
    let exchanged = permute(grouped.handle(), &order)?;
    let mut joined = vec![channels, steps.groups * batch];
    joined.extend(&seen[2..]);
    let inputs = reshape(exchanged.handle(), &joined)?;
    let filter = contiguous(transpose(gradient, 0, 1)?.handle())?;
    let over = Steps { stride: steps.dilation, dilation: steps.stride, ..steps };
    let mut found = forward(inputs.handle(), filter.handle(), std::ptr::null_mut(), over)?;
    // The last steps of the convolution may have left places, which no element of the filter has.
    for (at, &size) in sizes_of(result.handle())?.iter().enumerate().skip(2) {
        found = narrow(found.handle(), at as i64, 0, size)?;
    }
    copy(result, transpose(found.handle(), 0, 1)?.handle())
}
