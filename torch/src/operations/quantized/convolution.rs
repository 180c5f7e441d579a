//! Convolutions of integers of 8 bits, as oneDNN has them. Results have their channels innermost in memory.

use super::behind::Behind;
use super::linear::bias_of;
use super::numbers::{Scale, check_types, exact_type, weight_scales, without_zero_point};
use crate::abi::tensors::{rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::convolution::{Steps, forward};
use crate::operations::fused::convolution::channel_column;
use crate::operations::layout::format_of_images;
use crate::operations::tensors::in_format;
use crate::sconce::Tensor;
use crate::sconce::operations::{squeeze, to_dtype, unsqueeze};
use crate::sconce::tensor::TensorHandle;

/// The convolution of images with a filter, and what follows. Images of one spatial dimension have a filter of two.
pub fn convolution(
    images: TensorHandle,
    scale: Scale,
    filter: TensorHandle,
    scales: TensorHandle,
    bias: Option<TensorHandle>,
    steps: Steps<'_>,
    behind: &Behind,
) -> Result<Tensor> {
    check_types(images, filter)?;
    if rank_of(images)? == 3 && rank_of(filter)? == 4 {
        let stride = [&[1], steps.stride].concat();
        let padding = [&[0], steps.padding].concat();
        let dilation = [&[1], steps.dilation].concat();
        let (stride, padding, dilation) = (&stride, &padding, &dilation);
        let steps = Steps { stride, padding, dilation, groups: steps.groups };
        let flat = unsqueeze(images, 2)?;
        let found = convolution(flat.handle(), scale, filter, scales, bias, steps, behind)?;
        // A result that was added to has its own dimensions already.
        return match rank_of(found.handle())? {
            4 => squeeze(found.handle(), 2),
            _ => Ok(found),
        };
    }
    let (sizes, rank) = (sizes_of(filter)?, rank_of(images)?);
    if !(4..=5).contains(&rank) || sizes.len() != rank {
        return Err(Error::invalid_argument(format!(
            "the weights have the sizes {sizes:?}, but must have as many dimensions as the images, which have {rank}"
        )));
    }
    let wide = exact_type(sizes[1..].iter().product());
    let format = format_of_images(true, rank);
    let given = without_zero_point(images, scale.zero_point, wide)?;
    let given = in_format(given.handle(), format)?;
    let whole =
        forward(given.handle(), to_dtype(filter, wide)?.handle(), std::ptr::null_mut(), steps)?;
    let result = sizes_of(whole.handle())?;
    behind.check(&result)?;
    let scales = weight_scales(scales, sizes[0])?;
    let scales = match sizes_of(scales.handle())?[..] {
        [1] => scales,
        _ => channel_column(scales.handle(), &result)?,
    };
    let column = |bias: TensorHandle| {
        let bias = bias_of(bias, sizes[0])?;
        channel_column(bias.handle(), &result)
    };
    let bias = bias.map(column).transpose()?;
    let found = behind.apply(&whole, scale.factor, &scales, bias.as_ref())?;
    match behind.added {
        Some(added) if added.in_place => Ok(found),
        _ => in_format(found.handle(), format),
    }
}
