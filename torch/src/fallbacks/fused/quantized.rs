//! Convolutions and products of integers of 8 bits, and what follows them.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::attributes::{Movement, function_of};
use crate::abi::arguments::CText;
use crate::abi::constants::dtype_of;
use crate::error::Result;
use crate::fallbacks::{Place, give};
use crate::operations::quantized::behind::{Added, Behind};
use crate::operations::quantized::convolution::convolution;
use crate::operations::quantized::linear::linear;
use crate::operations::quantized::numbers::Scale;
use crate::sconce::api;
use crate::sconce::tensor::TensorHandle;

/// The result's scale and type: integers without a sign, unless another type is named.
fn of_result(factor: f64, zero_point: i64, dtype: Option<i32>) -> Result<(Scale, i32)> {
    let dtype = dtype.map(dtype_of).transpose()?;
    Ok((Scale { factor, zero_point }, dtype.unwrap_or(api::SCONCE_DTYPE_U8)))
}

abi_functions! {
    /// Returns the product of integers with the columns of weights, and a function of each element.
    aoti_torch_cpu__qlinear_pointwise_tensor(
        input as X: TensorHandle, act_scale: TensorHandle, act_zero_point: TensorHandle,
        weights as onednn_weight: TensorHandle, weight_scales: TensorHandle, _weight_zero_points: TensorHandle,
        bias as B: Option<TensorHandle>, output_scale: f64, output_zero_point: i64, output_dtype: Option<i32>,
        post_op_name: CText, post_op_args: [Option<f64>], post_op_algorithm: CText, ret0: Place,
    ) {
        let activation = function_of(Some(post_op_name), &post_op_args, Some(post_op_algorithm))?;
        let (scale, dtype) = of_result(output_scale, output_zero_point, output_dtype)?;
        let behind = Behind { added: None, activation, dtype, scale };
        let given = Scale::of(act_scale, act_zero_point)?;
        let made = linear(input, given, weights, weight_scales, bias, &behind)?;
        give(ret0, made)
    }

    /// Returns the product of integers with the columns of weights, another tensor added, and a function of each
    /// element.
    aoti_torch_cpu__qlinear_pointwise_binary_tensor(
        input as X: TensorHandle, act_scale: TensorHandle, act_zero_point: TensorHandle,
        weights as onednn_weight: TensorHandle, weight_scales: TensorHandle, _weight_zero_points: TensorHandle,
        other: Option<TensorHandle>, bias as B: Option<TensorHandle>, output_scale: f64, output_zero_point: i64,
        output_dtype: Option<i32>, other_scale: f64, other_zero_point: i64, binary_post_op: CText, binary_alpha: f64,
        unary_post_op: CText, unary_post_op_args: [Option<f64>], unary_post_op_algorithm: CText, ret0: Place,
    ) {
        let (name, algorithm) = (Some(unary_post_op), Some(unary_post_op_algorithm));
        let activation = function_of(name, &unary_post_op_args, algorithm)?;
        let (scale, dtype) = of_result(output_scale, output_zero_point, output_dtype)?;
        let name = binary_post_op.text();
        let of_other = Scale { factor: other_scale, zero_point: other_zero_point };
        let added = Added::of(&name, other, of_other, binary_alpha)?;
        let behind = Behind { added, activation, dtype, scale };
        let given = Scale::of(act_scale, act_zero_point)?;
        let made = linear(input, given, weights, weight_scales, bias, &behind)?;
        give(ret0, made)
    }

    /// Returns the convolution of images of integers with a filter, and a function of each element.
    aoti_torch_cpu__qconv_pointwise_tensor(
        images as X: TensorHandle, act_scale: TensorHandle, act_zero_point: TensorHandle,
        filter as onednn_weight: TensorHandle, weight_scales: TensorHandle, _weight_zero_points: TensorHandle,
        bias as B: Option<TensorHandle>, stride: &[i64], padding: &[i64], dilation: &[i64], groups: i64,
        output_scale: f64, output_zero_point: i64, output_dtype: Option<i32>, attr: CText, post_op_args: [Option<f64>],
        algorithm: Option<CText>, ret0: Place,
    ) {
        let moved = Movement::read(images, [stride, padding, dilation], groups)?;
        let activation = function_of(Some(attr), &post_op_args, algorithm)?;
        let (scale, dtype) = of_result(output_scale, output_zero_point, output_dtype)?;
        let behind = Behind { added: None, activation, dtype, scale };
        let (given, steps) = (Scale::of(act_scale, act_zero_point)?, moved.steps());
        let made = convolution(images, given, filter, weight_scales, bias, steps, &behind)?;
        give(ret0, made)
    }

    /// Returns the convolution of images of integers with a filter, another tensor added, and a function of each
    /// element.
    aoti_torch_cpu__qconv2d_pointwise_binary_tensor(
        images as X: TensorHandle, act_scale: TensorHandle, act_zero_point: TensorHandle,
        filter as onednn_weight: TensorHandle, weight_scales: TensorHandle, _weight_zero_points: TensorHandle,
        accum: TensorHandle, bias as B: Option<TensorHandle>, stride: &[i64], padding: &[i64], dilation: &[i64],
        groups: i64, output_scale: f64, output_zero_point: i64, output_dtype: Option<i32>, accum_scale: f64,
        accum_zero_point: i64, binary_attr: CText, alpha: Option<f64>, unary_attr: Option<CText>,
        unary_scalars: [Option<f64>], unary_algorithm: Option<CText>, ret0: Place,
    ) {
        let moved = Movement::read(images, [stride, padding, dilation], groups)?;
        let activation = function_of(unary_attr, &unary_scalars, unary_algorithm)?;
        let (scale, dtype) = of_result(output_scale, output_zero_point, output_dtype)?;
        let name = binary_attr.text();
        let of_other = Scale { factor: accum_scale, zero_point: accum_zero_point };
        let added = Added::of(&name, Some(accum), of_other, alpha.unwrap_or(1.0))?;
        let behind = Behind { added, activation, dtype, scale };
        let (given, steps) = (Scale::of(act_scale, act_zero_point)?, moved.steps());
        let made = convolution(images, given, filter, weight_scales, bias, steps, &behind)?;
        give(ret0, made)
    }
}
