//! Convolutions, transposed ones, and the gradients of both.
//!
//! A transposed convolution is the gradient of a convolution for its input. On a device cuDNN has that gradient and the
//! one for the filter; on the CPU, and where the output's padding leaves one place more, both are convolutions of
//! rearranged tensors.

#![allow(unsafe_code, reason = "calls libsconce.so")]

mod composed;
mod device;

#[cfg(test)]
mod tests;

use crate::abi::tensors::sizes_of;
use crate::error::{Error, Result};
use crate::operations::layout::{Layout, format_of_images, has_channels_last};
use crate::operations::tensors::check_device;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

/// How a filter moves over images: an entry for each spatial dimension.
#[derive(Clone, Copy)]
pub struct Steps<'a> {
    /// From one place of the filter to the next.
    pub stride: &'a [i64],
    /// Zeros on each side of an image.
    pub padding: &'a [i64],
    /// Between neighbouring elements of the filter.
    pub dilation: &'a [i64],
    /// The groups into which channels are divided.
    pub groups: i64,
}

/// cuDNN counts steps in 32 bits.
const MOST_STEP: i64 = i32::MAX as i64;

impl Steps<'_> {
    /// The number of spatial dimensions, which all entries must have.
    fn spatial(&self) -> Result<usize> {
        let spatial = self.stride.len();
        if !(1..=3).contains(&spatial) {
            return Err(Error::invalid_argument(format!(
                "stride must have one to three entries, but has {spatial}"
            )));
        }
        if self.padding.len() != spatial || self.dilation.len() != spatial {
            return Err(Error::invalid_argument(
                "stride, padding and dilation have different lengths",
            ));
        }
        if self.stride.iter().chain(self.dilation).any(|&step| step < 1) {
            return Err(Error::invalid_argument("stride and dilation must be at least 1"));
        }
        if self.padding.iter().any(|&zeros| zeros < 0) {
            return Err(Error::invalid_argument("padding must not be negative"));
        }
        if self.groups < 1 {
            return Err(Error::invalid_argument("groups must be at least 1"));
        }
        let all = self.stride.iter().chain(self.padding).chain(self.dilation);
        if all.chain([&self.groups]).any(|&step| step > MOST_STEP) {
            return Err(Error::invalid_argument(format!(
                "stride, padding, dilation and groups must be at most {MOST_STEP}"
            )));
        }
        Ok(spatial)
    }

    /// What a filter covers along a dimension.
    fn reach(&self, axis: usize, filter: i64) -> i64 {
        self.dilation[axis].saturating_mul(filter - 1).saturating_add(1)
    }
}

/// The convolution of images with a filter, and a bias added.
pub fn forward(
    images: TensorHandle,
    filter: TensorHandle,
    bias: TensorHandle,
    steps: Steps<'_>,
) -> Result<Tensor> {
    let spatial = steps.spatial()?;
    let (stride, padding) = (steps.stride.as_ptr(), steps.padding.as_ptr());
    let dilation = steps.dilation.as_ptr();
    // SAFETY: the arrays have `spatial` entries; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_convolution(
            images,
            filter,
            bias,
            stride,
            padding,
            dilation,
            spatial,
            steps.groups,
            made,
        )
    })
}

/// The transposed convolution: each element of the images spreads the filter over the result.
pub fn transposed(
    images: TensorHandle,
    filter: TensorHandle,
    bias: TensorHandle,
    steps: Steps<'_>,
    output_padding: &[i64],
) -> Result<Tensor> {
    let spatial = steps.spatial()?;
    let (given, weights) = (Layout::of(images)?, Layout::of(filter)?);
    check_ranks(&given, &weights, spatial)?;
    if output_padding.len() != spatial {
        return Err(Error::invalid_argument("output_padding must have as many entries as stride"));
    }
    let mut sizes = vec![given.sizes[0], weights.sizes[1].saturating_mul(steps.groups)];
    for (axis, &more) in output_padding.iter().enumerate() {
        if more < 0 || more >= steps.stride[axis].max(steps.dilation[axis]) {
            return Err(Error::invalid_argument(format!(
                "output padding must be smaller than either stride or dilation, but is {more}"
            )));
        }
        // Numbers of the caller, whose products need not fit.
        let [length, taps] = [&given, &weights].map(|of| i128::from(of.sizes[axis + 2]));
        let [stride, padding, dilation] =
            [steps.stride, steps.padding, steps.dilation].map(|of| i128::from(of[axis]));
        let reach = dilation * (taps - 1) + 1;
        let size = (length - 1) * stride - 2 * padding + reach + i128::from(more);
        let fits = i64::try_from(size).ok().filter(|size| *size >= 0);
        sizes.push(fits.ok_or_else(|| {
            Error::invalid_argument(format!(
                "the result would have {size} elements along spatial dimension {axis}; less padding leaves some"
            ))
        })?);
    }
    let result = for_input(images, filter, &sizes, steps, FilterPlaces::AtMost)?;
    if bias.is_null() {
        return Ok(result);
    }
    let mut column = vec![1; spatial + 1];
    column[0] = sizes[1];
    let column = operations::reshape(bias, &column)?;
    operations::binary_in_place(api::SCONCE_BINARY_ADD, result, &column)
}

/// The gradients of a transposed convolution for its images and its filter, in this order, as far as they are wanted.
pub fn transposed_gradients(
    gradient: TensorHandle,
    images: TensorHandle,
    filter: TensorHandle,
    steps: Steps<'_>,
    [wants_images, wants_filter]: [bool; 2],
) -> Result<(Tensor, Tensor)> {
    let mut for_images = operations::undefined()?;
    if wants_images {
        for_images = forward(gradient, filter, std::ptr::null_mut(), steps)?;
        // Padding of the output may leave one place more.
        for (dim, &size) in sizes_of(images)?.iter().enumerate().skip(2) {
            for_images = operations::narrow(for_images.handle(), dim as i64, 0, size)?;
        }
    }
    let for_filter = if wants_filter {
        for_filter(images, gradient, &sizes_of(filter)?, steps, FilterPlaces::AtMost)?
    } else {
        operations::undefined()?
    };
    Ok((for_images, for_filter))
}

/// The gradient of a convolution for its images, which have these sizes.
pub fn input_gradient(
    gradient: TensorHandle,
    filter: TensorHandle,
    sizes: &[i64],
    steps: Steps<'_>,
) -> Result<Tensor> {
    for_input(gradient, filter, sizes, steps, FilterPlaces::Exact)
}

fn for_input(
    gradient: TensorHandle,
    filter: TensorHandle,
    sizes: &[i64],
    steps: Steps<'_>,
    places: FilterPlaces,
) -> Result<Tensor> {
    let spatial = steps.spatial()?;
    let (given, weights) = (Layout::of(gradient)?, Layout::of(filter)?);
    check_ranks(&given, &weights, spatial)?;
    check_device("weight", weights.device, given.device)?;
    let channels = weights.sizes[1].checked_mul(steps.groups);
    if given.sizes[1] != weights.sizes[0]
        || channels != sizes.get(1).copied()
        || weights.sizes[0] % steps.groups != 0
        || sizes.len() != spatial + 2
        || sizes[0] != given.sizes[0]
    {
        return Err(misfit(&given.sizes, &weights.sizes, steps.groups));
    }
    let is_exact = check_gradient(&given.sizes, sizes, &weights.sizes[2..], steps, places)?;
    let result = like_factors(sizes, [&given, &weights])?;
    if given.is_on_cpu() || !is_exact {
        composed::input_gradient(gradient, filter, &result, steps)?;
    } else {
        device::input_gradient(gradient, filter, &result, steps)?;
    }
    Ok(result)
}

/// The gradient of a convolution for its filter, which has these sizes.
pub fn filter_gradient(
    gradient: TensorHandle,
    images: TensorHandle,
    sizes: &[i64],
    steps: Steps<'_>,
) -> Result<Tensor> {
    for_filter(gradient, images, sizes, steps, FilterPlaces::Exact)
}

fn for_filter(
    gradient: TensorHandle,
    images: TensorHandle,
    sizes: &[i64],
    steps: Steps<'_>,
    places: FilterPlaces,
) -> Result<Tensor> {
    let spatial = steps.spatial()?;
    let (given, seen) = (Layout::of(gradient)?, Layout::of(images)?);
    check_ranks(&given, &seen, spatial)?;
    check_device("input", seen.device, given.device)?;
    let fits = sizes.len() == spatial + 2
        && sizes[0] == given.sizes[1]
        && sizes[1].checked_mul(steps.groups) == Some(seen.sizes[1])
        && sizes[0] % steps.groups == 0
        && seen.sizes[0] == given.sizes[0];
    if !fits {
        return Err(misfit(&seen.sizes, sizes, steps.groups));
    }
    let is_exact = check_gradient(&given.sizes, &seen.sizes, &sizes[2..], steps, places)?;
    let result = like_factors(sizes, [&given, &seen])?;
    if given.is_on_cpu() || !is_exact {
        composed::filter_gradient(gradient, images, &result, steps)?;
    } else {
        device::filter_gradient(gradient, images, &result, steps)?;
    }
    Ok(result)
}

/// The gradient of a convolution for its bias: the sum over images and places.
pub fn bias_gradient(gradient: TensorHandle) -> Result<Tensor> {
    let rank = Layout::of(gradient)?.rank() as i64;
    let dims: Vec<i64> = std::iter::once(0).chain(2..rank).collect();
    let (operation, dtype) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_DEFAULT);
    operations::reduce(operation, gradient, &dims, false, dtype)
}

fn check_ranks(first: &Layout, second: &Layout, spatial: usize) -> Result<()> {
    if first.rank() == spatial + 2 && second.rank() == spatial + 2 {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "tensors of a convolution over {spatial} dimensions must have {}, but have {} and {}",
        spatial + 2,
        first.rank(),
        second.rank()
    )))
}

#[cold]
fn misfit(images: &[i64], filter: &[i64], groups: i64) -> Error {
    Error::invalid_argument(format!(
        "images of sizes {images:?} do not fit a weight of sizes {filter:?} with groups={groups}"
    ))
}

/// How many places of a filter a gradient may have.
#[derive(Clone, Copy, PartialEq)]
enum FilterPlaces {
    /// All that the convolution has.
    Exact,
    /// Fewer, where the images of a transposed convolution are padded at their end.
    AtMost,
}

/// Checks the spatial sizes of a gradient, and returns whether it has all places of the convolution of the images.
fn check_gradient(
    gradient: &[i64],
    images: &[i64],
    filter: &[i64],
    steps: Steps<'_>,
    places: FilterPlaces,
) -> Result<bool> {
    let mut is_exact = true;
    for (axis, &taps) in filter.iter().enumerate() {
        let padded = images[axis + 2].saturating_add(2 * steps.padding[axis]);
        let rest = padded.saturating_sub(steps.reach(axis, taps));
        let (found, expected) =
            (gradient[axis + 2], if rest < 0 { 0 } else { rest / steps.stride[axis] + 1 });
        // Images without elements have no gradient to fill.
        let fits = found == expected
            || found < expected && places == FilterPlaces::AtMost
            || images[axis + 2] == 0;
        if !fits {
            return Err(Error::invalid_argument(format!(
                "the gradient has {found} elements along spatial dimension {axis}, but the convolution {expected}"
            )));
        }
        is_exact &= found == expected;
    }
    Ok(is_exact)
}

/// A tensor whose channels lie innermost in memory if those of one of the factors do, as cuDNN's results in PyTorch.
fn like_factors(sizes: &[i64], factors: [&Layout; 2]) -> Result<Tensor> {
    let is_last = |layout: &&Layout| {
        layout.rank() > 3 && layout.numel() > 0 && has_channels_last(&layout.sizes, &layout.strides)
    };
    let mut options = options(factors[0].dtype, factors[0].device);
    options.memory_format = format_of_images(factors.iter().any(is_last), sizes.len());
    operations::empty(sizes, &options)
}
