//! Convolutions and transposed ones. Results have their channels innermost in memory if the images or the filter have,
//! or if PyTorch packed the filter: the next kernels of a model rely on that.

use super::after::{After, check_same_type};
use crate::abi::tensors::{dtype_of_tensor, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::convolution::{Steps, forward, transposed};
use crate::operations::layout::{Layout, format_of_images, has_channels_last};
use crate::operations::packed::unpack::was_packed;
use crate::operations::tensors::{check_floating, in_format};
use crate::sconce::operations::{binary_in_place, reshape, to_dtype, transpose, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// The convolution of images with a filter, a bias added, and what follows.
pub fn convolution(
    images: TensorHandle,
    filter: TensorHandle,
    bias: Option<TensorHandle>,
    steps: Steps<'_>,
    after: After,
) -> Result<Tensor> {
    check_types(images, filter, bias)?;
    let format = result_format(images, filter)?;
    let given = in_format(widened(images)?.handle(), format)?;
    let wide = widened(filter)?;
    let bias = bias.map(widened).transpose()?;
    let bias = bias.as_ref().map_or(std::ptr::null_mut(), Tensor::handle);
    let result = forward(given.handle(), wide.handle(), bias, steps)?;
    finished(result, images, None, format, after)
}

/// The transposed convolution, a bias added, and what follows.
pub fn transposed_convolution(
    images: TensorHandle,
    filter: TensorHandle,
    bias: Option<TensorHandle>,
    steps: Steps<'_>,
    output_padding: &[i64],
    after: After,
) -> Result<Tensor> {
    check_types(images, filter, bias)?;
    let format = result_format(images, filter)?;
    let given = in_format(widened(images)?.handle(), format)?;
    let wide = match was_packed(filter)? {
        true => widened(unpacked_order(filter, steps.groups)?.handle())?,
        false => widened(filter)?,
    };
    let none = std::ptr::null_mut();
    let result = transposed(given.handle(), wide.handle(), none, steps, output_padding)?;
    finished(result, images, bias, format, after)
}

fn check_types(
    images: TensorHandle,
    filter: TensorHandle,
    bias: Option<TensorHandle>,
) -> Result<()> {
    check_floating(dtype_of_tensor(images)?)?;
    if !matches!(rank_of(images)?, 3..=5) {
        return Err(Error::invalid_argument(format!(
            "images must have one to three spatial dimensions, but their sizes are {:?}",
            sizes_of(images)?
        )));
    }
    check_same_type("weight", filter, images)?;
    bias.map_or(Ok(()), |bias| check_same_type("bias", bias, images))
}

/// The memory format of the result.
fn result_format(images: TensorHandle, filter: TensorHandle) -> Result<i32> {
    let rank = rank_of(images)?;
    let innermost = |tensor| -> Result<bool> {
        let layout = Layout::of(tensor)?;
        Ok(layout.rank() > 3 && has_channels_last(&layout.sizes, &layout.strides))
    };
    let is_last = rank > 3 && (was_packed(filter)? || innermost(images)? || innermost(filter)?);
    Ok(format_of_images(is_last, rank))
}

/// The bias, what follows, the type of the images, and the order in memory.
fn finished(
    result: Tensor,
    images: TensorHandle,
    bias: Option<TensorHandle>,
    format: i32,
    after: After,
) -> Result<Tensor> {
    let sizes = sizes_of(result.handle())?;
    after.check(images, &sizes)?;
    let sum = match bias {
        Some(bias) => {
            let column = channel_column(widened(bias)?.handle(), &sizes)?;
            binary_in_place(api::SCONCE_BINARY_ADD, result, &column)?
        }
        None => result,
    };
    let found = to_dtype(after.apply(sum)?.handle(), dtype_of_tensor(images)?)?;
    in_format(found.handle(), format)
}

/// A number for each channel of a result of these sizes, so that it is repeated over images and places.
pub fn channel_column(numbers: TensorHandle, sizes: &[i64]) -> Result<Tensor> {
    let found = sizes_of(numbers)?;
    if found != sizes[1..2] {
        return Err(Error::invalid_argument(format!(
            "bias must have {} elements, but its sizes are {found:?}",
            sizes[1]
        )));
    }
    let mut column = vec![1; sizes.len() - 1];
    column[0] = sizes[1];
    reshape(numbers, &column)
}

/// The filter of a transposed convolution as PyTorch's modules have it, inputs before outputs. oneDNN's has the outputs
/// of all groups first.
fn unpacked_order(filter: TensorHandle, groups: i64) -> Result<Tensor> {
    let sizes = sizes_of(filter)?;
    if groups < 1 || sizes.len() < 3 || sizes[0] % groups != 0 {
        return Err(Error::invalid_argument(format!(
            "a weight of sizes {sizes:?} cannot be divided into groups={groups}"
        )));
    }
    let (outputs, inputs) = (sizes[0] / groups, sizes[1]);
    let mut grouped = vec![groups, outputs];
    grouped.extend(&sizes[1..]);
    let exchanged = transpose(reshape(filter, &grouped)?.handle(), 1, 2)?;
    let mut joined = vec![groups * inputs, outputs];
    joined.extend(&sizes[2..]);
    reshape(exchanged.handle(), &joined)
}
