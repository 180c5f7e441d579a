//! Convolutions and products of floating-point numbers, and what follows them.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::attributes::{Movement, function_of, spread};
use crate::abi::arguments::CText;
use crate::abi::handles::another_handle;
use crate::abi::tensors::{rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::{Place, give};
use crate::operations::fused::activation::Activation;
use crate::operations::fused::after::{After, Combination};
use crate::operations::fused::convolution::{convolution, transposed_convolution};
use crate::operations::fused::linear::linear;
use crate::sconce::operations::copy;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, operations};

/// What follows a convolution with another tensor: how this is combined, and a function that may be missing.
fn combined(
    other: TensorHandle,
    name: CText<'_>,
    alpha: Option<f64>,
    activation: Result<Activation>,
) -> Result<After> {
    if let Some(alpha) = alpha.filter(|&alpha| alpha != 1.0) {
        return Err(Error::invalid_argument(format!(
            "the alpha value should be none or 1.0, but is {alpha}"
        )));
    }
    let combination = Combination::of(&name.text())?;
    Ok(After { other: Some((other, combination)), activation: activation? })
}

abi_functions! {
    /// Returns the convolution of images with a filter, and a function of each element.
    aoti_torch_cpu_mkldnn__convolution_pointwise(
        images as X: TensorHandle, filter as W: TensorHandle, bias as B: Option<TensorHandle>, padding: &[i64],
        stride: &[i64], dilation: &[i64], groups: i64, attr: CText, scalars: [Option<f64>], algorithm: Option<CText>,
        ret0: Place,
    ) {
        let after = After::only(function_of(Some(attr), &scalars, algorithm)?);
        let moved = Movement::read(images, [stride, padding, dilation], groups)?;
        let made = convolution(images, filter, bias, moved.steps(), after)?;
        give(ret0, made)
    }

    /// Returns the convolution of images with a filter, combined with another tensor, and a function of each element.
    aoti_torch_cpu_mkldnn__convolution_pointwise_binary(
        images as X: TensorHandle, other: TensorHandle, filter as W: TensorHandle, bias as B: Option<TensorHandle>,
        padding: &[i64], stride: &[i64], dilation: &[i64], groups: i64, binary_attr: CText, alpha: Option<f64>,
        unary_attr: Option<CText>, unary_scalars: [Option<f64>], unary_algorithm: Option<CText>, ret0: Place,
    ) {
        let function = function_of(unary_attr, &unary_scalars, unary_algorithm);
        let after = combined(other, binary_attr, alpha, function)?;
        let moved = Movement::read(images, [stride, padding, dilation], groups)?;
        let made = convolution(images, filter, bias, moved.steps(), after)?;
        give(ret0, made)
    }

    /// Adds the convolution of images with a filter to another tensor, applies a function to each element, and returns
    /// a further handle of that tensor.
    aoti_torch_cpu_mkldnn__convolution_pointwise_binary_(
        other: TensorHandle, images as X: TensorHandle, filter as W: TensorHandle, bias as B: Option<TensorHandle>,
        padding: &[i64], stride: &[i64], dilation: &[i64], groups: i64, binary_attr: CText, alpha: Option<f64>,
        unary_attr: Option<CText>, unary_scalars: [Option<f64>], unary_algorithm: Option<CText>, ret0: Place,
    ) {
        let function = function_of(unary_attr, &unary_scalars, unary_algorithm);
        let after = combined(other, binary_attr, alpha, function)?;
        let moved = Movement::read(images, [stride, padding, dilation], groups)?;
        let made = convolution(images, filter, bias, moved.steps(), after)?;
        copy(&Tensor::retained(other)?, made.handle())?;
        give(ret0, another_handle(other)?)
    }

    /// Returns the transposed convolution of images with a filter, and a function of each element.
    aoti_torch_cpu_mkldnn__convolution_transpose_pointwise(
        images as X: TensorHandle, filter as W: TensorHandle, bias as B: Option<TensorHandle>, padding: &[i64],
        output_padding: &[i64], stride: &[i64], dilation: &[i64], groups: i64, attr: CText, scalars: [Option<f64>],
        algorithm: Option<CText>, ret0: Place,
    ) {
        let moved = Movement::read(images, [stride, padding, dilation], groups)?;
        let spatial = rank_of(images)?.saturating_sub(2);
        let more = spread(output_padding, spatial, "output_padding")?;
        let after = After::only(function_of(Some(attr), &scalars, algorithm)?);
        let made = transposed_convolution(images, filter, bias, moved.steps(), &more, after)?;
        give(ret0, made)
    }

    /// Returns the products of the input's lines and the rows of weights, and a function of each element.
    aoti_torch_cpu__linear_pointwise(
        input as X: TensorHandle, weights as W: TensorHandle, bias as B: Option<TensorHandle>, attr: CText,
        scalars: [Option<f64>], algorithm: Option<CText>, ret0: Place,
    ) {
        let after = After::only(function_of(Some(attr), &scalars, algorithm)?);
        give(ret0, linear(input, weights, bias, after)?)
    }

    /// Returns the products of the input's lines and the rows of weights, combined with another tensor.
    aoti_torch_cpu__linear_pointwise_binary(
        input as X: TensorHandle, other: TensorHandle, weights as W: TensorHandle, bias as B: Option<TensorHandle>,
        attr: CText, ret0: Place,
    ) {
        let combination = Combination::of(&attr.text())?;
        // Another tensor of as many elements may have other dimensions in front.
        let mut sizes = sizes_of(input)?;
        if let (Some(last), Some(rows)) = (sizes.last_mut(), sizes_of(weights)?.first()) {
            *last = *rows;
        }
        let other = operations::reshape(other, &sizes)?;
        let other = Some((other.handle(), combination));
        let after = After { other, activation: Activation::None };
        let made = linear(input, weights, bias, after)?;
        give(ret0, made)
    }

    /// Returns the products of the input's lines and the rows of weights, of which MKL has a packed copy that is not
    /// read.
    aoti_torch_cpu__mkl_linear(
        input as X: TensorHandle, _packed as W: TensorHandle, weights as origin_W: TensorHandle,
        bias as B: Option<TensorHandle>, _prepack_batch_size: i64, ret0: Place,
    ) {
        let made = linear(input, weights, bias, After::only(Activation::None))?;
        give(ret0, made)
    }
}
