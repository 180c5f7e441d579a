//! A problem's sizes, checked so that later arithmetic cannot overflow.
#![forbid(unsafe_code)]

use sconce_base::element::Dtype;
use sconce_driver::{Convolution, ConvolutionTensor, MOST_SPATIAL};
use sconce_math::unfolding::Geometry;

use super::codes::{NOT_SUPPORTED, OUT_OF_BOUND, SHAPE_MISMATCH};
use crate::libraries::reals;

/// The sizes of a problem, or the library's number for what is wrong with it.
pub(crate) fn geometry_of(problem: &Convolution) -> Result<Geometry, i32> {
    let Convolution { input, filter, output, groups, spatial, .. } = *problem;
    let tensors = [input, filter, output];
    if !reals::is_calculated(problem.element) {
        return Err(NOT_SUPPORTED);
    }
    let in_range = (1..=MOST_SPATIAL).contains(&spatial)
        && groups >= 1
        && tensors.iter().all(|tensor| fits(tensor, problem.element, spatial));
    if !in_range {
        return Err(OUT_OF_BOUND);
    }
    if !filter.is_dense() {
        return Err(NOT_SUPPORTED);
    }
    let [channels, features] = [filter.sizes[1], filter.sizes[0] / groups];
    let matches = input.sizes[0] == output.sizes[0]
        && groups.checked_mul(channels) == Some(input.sizes[1])
        && groups * features == filter.sizes[0]
        && output.sizes[1] == filter.sizes[0];
    if !matches {
        return Err(SHAPE_MISMATCH);
    }
    let sizes = |tensor: ConvolutionTensor| {
        let [_, _, spatial @ ..] = tensor.sizes;
        spatial.map(|size| size as usize)
    };
    let mut geometry = Geometry {
        images: input.sizes[0] as usize,
        groups: groups as usize,
        channels: channels as usize,
        features: features as usize,
        input: sizes(input),
        filter: sizes(filter),
        output: sizes(output),
        stride: [1; MOST_SPATIAL],
        padding: [0; MOST_SPATIAL],
        dilation: [1; MOST_SPATIAL],
    };
    for axis in 0..spatial {
        let moves = [problem.stride[axis], problem.padding[axis], problem.dilation[axis]];
        if moves[0] < 1 || moves[1] < 0 || moves[2] < 1 {
            return Err(OUT_OF_BOUND);
        }
        let [size, width, result] = tensors.map(|tensor| tensor.sizes[2 + axis]);
        match output_size(size, width, moves) {
            None => return Err(OUT_OF_BOUND),
            Some(wanted) if wanted != result => return Err(SHAPE_MISMATCH),
            Some(_) => {}
        }
        [geometry.stride[axis], geometry.padding[axis], geometry.dilation[axis]] = moves;
    }
    let bytes = [geometry.taps(), geometry.positions(), number_bytes(problem.element)]
        .iter()
        .try_fold(1_usize, |all, size| all.checked_mul(*size));
    match bytes {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(geometry),
        _ => Err(OUT_OF_BOUND),
    }
}

/// Bytes of a number that is calculated with.
fn number_bytes(element: Dtype) -> usize {
    element.bytes().max(4)
}

/// Bytes of the unfolded input of one image and group.
pub(crate) fn unfolded_bytes(geometry: &Geometry, element: Dtype) -> usize {
    geometry.taps() * geometry.positions() * number_bytes(element)
}

/// Whether sizes and strides are in range, and can be multiplied without care.
fn fits(tensor: &ConvolutionTensor, element: Dtype, spatial: usize) -> bool {
    let positive = tensor.sizes.iter().chain(&tensor.strides).all(|number| *number >= 1);
    let beyond = tensor.sizes[2 + spatial..].iter().all(|size| *size == 1);
    let limit = i64::MAX / 16;
    let count = tensor.sizes.iter().try_fold(1_i64, |all, size| all.checked_mul(*size));
    let mut reach = Some(element.bytes() as i64);
    for (size, stride) in tensor.sizes.iter().zip(&tensor.strides) {
        let along = (size - 1).checked_mul(*stride);
        let bytes = along.and_then(|along| along.checked_mul(element.bytes() as i64));
        reach = reach.zip(bytes).and_then(|(reach, bytes)| reach.checked_add(bytes));
    }
    positive && beyond && count.is_some_and(|n| n <= limit) && reach.is_some_and(|n| n <= limit)
}

/// How often a filter of this width fits; `None` when not at all.
fn output_size(size: i64, width: i64, [stride, padding, dilation]: [i64; 3]) -> Option<i64> {
    let padded = padding.checked_mul(2)?.checked_add(size)?;
    let reach = dilation.checked_mul(width - 1)?.checked_add(1)?;
    let span = padded.checked_sub(reach)?;
    (span >= 0).then_some(span / stride + 1)
}
