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

/// The gradient for the images. Along a dimension, images whose places leave the same rest when they are divided by the
/// stride meet the same elements of the filter, `apart` from each other. For each combination of rests these elements,
/// turned around, with inputs and outputs exchanged, go over the given gradient in steps of one.
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
    let axes: Vec<Vec<Phase>> = (0..steps.stride.len())
        .map(|axis| Phase::all(images[axis + 2], weights[axis + 2], steps, axis))
        .collect();
    // Zeros around the gradient, as many as any of them reads.
    let mut whole = given.clone();
    let mut fronts = Vec::new();
    for (axis, phases) in axes.iter().enumerate() {
        let front = phases.iter().map(|phase| -phase.begin).fold(0, i64::max);
        let end = phases.iter().map(|phase| phase.begin + phase.length()).fold(0, i64::max);
        whole[axis + 2] = front + end.max(given[axis + 2]);
        fronts.push(front);
    }
    let seen = match whole == given {
        true => Tensor::retained(gradient)?,
        false => surrounded(gradient, &given, &whole, &fronts)?,
    };
    let combinations: usize = axes.iter().map(Vec::len).product();
    let covered = |phases: &Vec<Phase>| phases.iter().map(|phase| phase.count).sum::<i64>();
    if axes.iter().map(covered).ne(images[2..].iter().copied()) {
        fill(result.handle(), &integer(0))?;
    }
    let ones = vec![1; axes.len()];
    let unpadded = vec![0; axes.len()];
    for combination in 0..combinations {
        let (mut part, mut taps) = (Tensor::retained(seen.handle())?, Tensor::retained(filter)?);
        let mut place = Tensor::retained(result.handle())?;
        let (mut rest, mut dilation, mut counts) = (combination, Vec::new(), weights.clone());
        for (axis, phases) in axes.iter().enumerate() {
            let (phase, dim) = (&phases[rest % phases.len()], axis as i64 + 2);
            rest /= phases.len();
            part = narrow(part.handle(), dim, fronts[axis] + phase.begin, phase.length())?;
            taps = slice(taps.handle(), dim, Some(phase.tap), None, phase.apart)?;
            place = slice(place.handle(), dim, Some(phase.place), None, steps.stride[axis])?;
            dilation.push(phase.dilation);
            counts[axis + 2] = phase.taps;
        }
        let turned = turned(taps.handle(), &counts, steps.groups)?;
        let over =
            Steps { stride: &ones, padding: &unpadded, dilation: &dilation, groups: steps.groups };
        let found = forward(part.handle(), turned.handle(), std::ptr::null_mut(), over)?;
        copy(&place, found.handle())?;
    }
    Ok(())
}
/// Along a dimension: the images that meet the same elements of a filter.
struct Phase {
    /// The first image, and how many there are, a stride apart.
    place: i64,
    count: i64,
    /// The first element of the filter, from each to the next, and how many there are.
    tap: i64,
    apart: i64,
    taps: i64,
    /// Elements of the gradient from what one element of the filter meets to what the next does.
    dilation: i64,
    /// The first element of the gradient that is read; it may lie before the gradient.
    begin: i64,
}

impl Phase {
    /// All that there are, for so many images and elements of the filter. Other images meet no element.
    fn all(images: i64, taps: i64, steps: Steps<'_>, axis: usize) -> Vec<Phase> {
        let (stride, padding, dilation) =
            (steps.stride[axis], steps.padding[axis], steps.dilation[axis]);
        let common = greatest_divisor(stride, dilation);
        let (apart, dilation_of_phase) = (stride / common, dilation / common);
        let phase = |tap: i64| {
            let place = (tap * dilation - padding).rem_euclid(stride);
            let taps = (taps - tap + apart - 1) / apart;
            // Where the first image's first element of the filter lies on the gradient.
            let first = (place + padding - tap * dilation) / stride;
            Phase {
                place,
                count: (images - place + stride - 1) / stride,
                tap,
                apart,
                taps,
                dilation: dilation_of_phase,
                begin: first - dilation_of_phase * (taps - 1),
            }
        };
        (0..apart.min(taps)).map(phase).filter(|phase| phase.count > 0).collect()
    }

    /// Elements of the gradient that are read.
    fn length(&self) -> i64 {
        self.count + self.dilation * (self.taps - 1)
    }
}

fn greatest_divisor(first: i64, second: i64) -> i64 {
    if second == 0 { first } else { greatest_divisor(second, first % second) }
}

/// A tensor with zeros before and behind it, so that it has larger sizes.
fn surrounded(
    tensor: TensorHandle,
    sizes: &[i64],
    whole: &[i64],
    fronts: &[i64],
) -> Result<Tensor> {
    let zeros = filled_like(tensor, whole, 0.0)?;
    let mut inner = Tensor::retained(zeros.handle())?;
    for (axis, &front) in fronts.iter().enumerate() {
        inner = narrow(inner.handle(), axis as i64 + 2, front, sizes[axis + 2])?;
    }
    copy(&inner, tensor)?;
    Ok(zeros)
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
