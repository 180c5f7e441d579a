//! Gradients by cuDNN, which libsconce.so calls.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::Steps;
use crate::abi::devices::with_device;
use crate::abi::tensors::numel_of;
use crate::error::Result;
use crate::operations::layout::Layout;
use crate::operations::tensors::contiguous_as;
use crate::sconce::operations::fill;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::integer;
use crate::sconce::{Tensor, api, check};

/// The gradient for the images, `result`.
pub(super) fn input_gradient(
    gradient: TensorHandle,
    filter: TensorHandle,
    result: &Tensor,
    steps: Steps<'_>,
) -> Result<()> {
    run(api::SCONCE_CONVOLUTION_BACKWARD_DATA, gradient, filter, result, steps)
}

/// The gradient for the filter, `result`.
pub(super) fn filter_gradient(
    gradient: TensorHandle,
    images: TensorHandle,
    result: &Tensor,
    steps: Steps<'_>,
) -> Result<()> {
    run(api::SCONCE_CONVOLUTION_BACKWARD_FILTER, gradient, images, result, steps)
}

fn run(
    operation: i32,
    gradient: TensorHandle,
    other: TensorHandle,
    result: &Tensor,
    steps: Steps<'_>,
) -> Result<()> {
    if numel_of(result.handle())? == 0 {
        return Ok(());
    }
    let gradient = contiguous_as(gradient, result.handle())?;
    let other = contiguous_as(other, result.handle())?;
    let (given, second) = (Layout::of(gradient.handle())?, Layout::of(other.handle())?);
    if given.numel() == 0 || second.numel() == 0 {
        return fill(result.handle(), &integer(0));
    }
    let made = Layout::of(result.handle())?;
    let (images, filter) = match operation {
        api::SCONCE_CONVOLUTION_BACKWARD_DATA => (&made, &second),
        _ => (&second, &made),
    };
    let desc = api::sconce_convolution_desc {
        struct_size: size_of::<api::sconce_convolution_desc>() as u32,
        dtype: given.dtype,
        operation,
        spatial_rank: steps.stride.len() as i32,
        batch: images.sizes[0],
        in_channels: images.sizes[1],
        out_channels: filter.sizes[0],
        groups: steps.groups,
        input_sizes: padded(&images.sizes[2..]),
        filter_sizes: padded(&filter.sizes[2..]),
        stride: padded(steps.stride),
        padding: padded(steps.padding),
        dilation: padded(steps.dilation),
        input_strides: padded(&images.strides),
        filter_strides: padded(&filter.strides),
        output_strides: padded(&given.strides),
    };
    with_device(given.device, || {
        // SAFETY: the description is that of the three tensors, which live until the call is queued on the current
        // stream; their memory is freed in its order.
        check(unsafe { api::sconce_convolution(&desc, given.data, second.data, made.data) })
    })
}

/// The numbers, and zeros behind them, which are not read.
fn padded<const N: usize>(numbers: &[i64]) -> [i64; N] {
    std::array::from_fn(|at| numbers.get(at).copied().unwrap_or_default())
}
