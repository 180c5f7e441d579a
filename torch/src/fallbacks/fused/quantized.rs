//! Convolutions and products of integers of 8 bits, and what follows them.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::c_char;

use super::attributes::{ElementFunction, Movement, optional_text};
use crate::abi::arguments::{optional, optional_tensor};
use crate::abi::constants::dtype_of;
use crate::abi::errors::text_of;
use crate::error::Result;
use crate::fallbacks::{give, operation};
use crate::operations::quantized::behind::{Added, Behind};
use crate::operations::quantized::convolution::convolution;
use crate::operations::quantized::linear::linear;
use crate::operations::quantized::numbers::Scale;
use crate::sconce::api;
use crate::sconce::tensor::TensorHandle;

/// The result's scale and type: integers without a sign, unless another type is named.
///
/// # Safety
/// The type is NULL or valid for a read.
unsafe fn of_result(factor: f64, zero_point: i64, dtype: *const i32) -> Result<(Scale, i32)> {
    // SAFETY: `dtype` is an optional argument of the ABI: NULL, or the address of a value.
    let dtype = unsafe { optional(dtype) }.map(dtype_of).transpose()?;
    Ok((Scale { factor, zero_point }, dtype.unwrap_or(api::SCONCE_DTYPE_U8)))
}

/// Returns the product of integers with the columns of weights, and a function of each element.
///
/// # Safety
/// Arrays have as many entries as is said beside them; texts end with NUL; other pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__qlinear_pointwise_tensor(
    input: TensorHandle,
    act_scale: TensorHandle,
    act_zero_point: TensorHandle,
    weights: TensorHandle,
    weight_scales: TensorHandle,
    _weight_zero_points: TensorHandle,
    bias: *const TensorHandle,
    output_scale: f64,
    output_zero_point: i64,
    output_dtype: *const i32,
    post_op_name: *const c_char,
    post_op_args: *const *const f64,
    post_op_args_len: i64,
    post_op_algorithm: *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu__qlinear_pointwise_tensor", || {
        let (name, numbers, algorithm) = (post_op_name, post_op_args, post_op_algorithm);
        let function = ElementFunction { name, numbers, count: post_op_args_len, algorithm };
        // SAFETY: `function` holds arguments of the ABI: texts that end with NUL, and numbers with their count.
        let activation = unsafe { function.read() }?;
        // SAFETY: `output_scale`, `output_zero_point` and `output_dtype` are arguments of the ABI, NULL or addresses
        // of values.
        let (scale, dtype) = unsafe { of_result(output_scale, output_zero_point, output_dtype) }?;
        let behind = Behind { added: None, activation, dtype, scale };
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        let given = Scale::of(act_scale, act_zero_point)?;
        let made = linear(input, given, weights, weight_scales, bias, &behind)?;
        give(ret0, made)
    })
}

/// Returns the product of integers with the columns of weights, another tensor added, and a function of each element.
///
/// # Safety
/// As [`aoti_torch_cpu__qlinear_pointwise_tensor`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__qlinear_pointwise_binary_tensor(
    input: TensorHandle,
    act_scale: TensorHandle,
    act_zero_point: TensorHandle,
    weights: TensorHandle,
    weight_scales: TensorHandle,
    _weight_zero_points: TensorHandle,
    other: *const TensorHandle,
    bias: *const TensorHandle,
    output_scale: f64,
    output_zero_point: i64,
    output_dtype: *const i32,
    other_scale: f64,
    other_zero_point: i64,
    binary_post_op: *const c_char,
    binary_alpha: f64,
    unary_post_op: *const c_char,
    unary_post_op_args: *const *const f64,
    unary_post_op_args_len: i64,
    unary_post_op_algorithm: *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu__qlinear_pointwise_binary_tensor", || {
        let function = ElementFunction {
            name: unary_post_op,
            numbers: unary_post_op_args,
            count: unary_post_op_args_len,
            algorithm: unary_post_op_algorithm,
        };
        // SAFETY: `function` holds arguments of the ABI: texts that end with NUL, and numbers with their count.
        let activation = unsafe { function.read() }?;
        // SAFETY: `output_scale`, `output_zero_point` and `output_dtype` are arguments of the ABI, NULL or addresses
        // of values.
        let (scale, dtype) = unsafe { of_result(output_scale, output_zero_point, output_dtype) }?;
        // SAFETY: `other` is an optional tensor of the ABI: NULL, or the address of a handle.
        let other = unsafe { optional_tensor(other) };
        // SAFETY: `binary_post_op` is a text of the ABI: NULL, or bytes that end with NUL.
        let name = unsafe { text_of(binary_post_op) };
        let of_other = Scale { factor: other_scale, zero_point: other_zero_point };
        let added = Added::of(&name, other, of_other, binary_alpha)?;
        let behind = Behind { added, activation, dtype, scale };
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        let given = Scale::of(act_scale, act_zero_point)?;
        let made = linear(input, given, weights, weight_scales, bias, &behind)?;
        give(ret0, made)
    })
}

/// Returns the convolution of images of integers with a filter, and a function of each element.
///
/// # Safety
/// As [`aoti_torch_cpu__qlinear_pointwise_tensor`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__qconv_pointwise_tensor(
    images: TensorHandle,
    act_scale: TensorHandle,
    act_zero_point: TensorHandle,
    filter: TensorHandle,
    weight_scales: TensorHandle,
    _weight_zero_points: TensorHandle,
    bias: *const TensorHandle,
    stride: *const i64,
    stride_len: i64,
    padding: *const i64,
    padding_len: i64,
    dilation: *const i64,
    dilation_len: i64,
    groups: i64,
    output_scale: f64,
    output_zero_point: i64,
    output_dtype: *const i32,
    attr: *const c_char,
    post_op_args: *const *const f64,
    post_op_args_len: i64,
    algorithm: *const *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu__qconv_pointwise_tensor", || {
        let lists = [(stride, stride_len), (padding, padding_len), (dilation, dilation_len)];
        // SAFETY: the ABI has the number of entries of each list beside it.
        let moved = unsafe { Movement::read(images, lists[0], lists[1], lists[2], groups) }?;
        // SAFETY: `algorithm` is an optional text of the ABI: NULL, or the address of a text.
        let algorithm = unsafe { optional_text(algorithm) };
        let (numbers, count) = (post_op_args, post_op_args_len);
        let function = ElementFunction { name: attr, numbers, count, algorithm };
        // SAFETY: `function` holds arguments of the ABI: texts that end with NUL, and numbers with their count.
        let activation = unsafe { function.read() }?;
        // SAFETY: `output_scale`, `output_zero_point` and `output_dtype` are arguments of the ABI, NULL or addresses
        // of values.
        let (scale, dtype) = unsafe { of_result(output_scale, output_zero_point, output_dtype) }?;
        let behind = Behind { added: None, activation, dtype, scale };
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        let (given, steps) = (Scale::of(act_scale, act_zero_point)?, moved.steps());
        let made = convolution(images, given, filter, weight_scales, bias, steps, &behind)?;
        give(ret0, made)
    })
}

/// Returns the convolution of images of integers with a filter, another tensor added, and a function of each element.
///
/// # Safety
/// As [`aoti_torch_cpu__qlinear_pointwise_tensor`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__qconv2d_pointwise_binary_tensor(
    images: TensorHandle,
    act_scale: TensorHandle,
    act_zero_point: TensorHandle,
    filter: TensorHandle,
    weight_scales: TensorHandle,
    _weight_zero_points: TensorHandle,
    accum: TensorHandle,
    bias: *const TensorHandle,
    stride: *const i64,
    stride_len: i64,
    padding: *const i64,
    padding_len: i64,
    dilation: *const i64,
    dilation_len: i64,
    groups: i64,
    output_scale: f64,
    output_zero_point: i64,
    output_dtype: *const i32,
    accum_scale: f64,
    accum_zero_point: i64,
    binary_attr: *const c_char,
    alpha: *const f64,
    unary_attr: *const *const c_char,
    unary_scalars: *const *const f64,
    unary_scalars_len: i64,
    unary_algorithm: *const *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu__qconv2d_pointwise_binary_tensor", || {
        let lists = [(stride, stride_len), (padding, padding_len), (dilation, dilation_len)];
        // SAFETY: the ABI has the number of entries of each list beside it.
        let moved = unsafe { Movement::read(images, lists[0], lists[1], lists[2], groups) }?;
        // SAFETY: `unary_attr` is an optional text of the ABI: NULL, or the address of a text.
        let name = unsafe { optional_text(unary_attr) };
        // SAFETY: `unary_algorithm` is an optional text of the ABI: NULL, or the address of a text.
        let algorithm = unsafe { optional_text(unary_algorithm) };
        let (numbers, count) = (unary_scalars, unary_scalars_len);
        let function = ElementFunction { name, numbers, count, algorithm };
        // SAFETY: `function` holds arguments of the ABI: texts that end with NUL, and numbers with their count.
        let activation = unsafe { function.read() }?;
        // SAFETY: `output_scale`, `output_zero_point` and `output_dtype` are arguments of the ABI, NULL or addresses
        // of values.
        let (scale, dtype) = unsafe { of_result(output_scale, output_zero_point, output_dtype) }?;
        // SAFETY: `binary_attr` is a text of the ABI: NULL, or bytes that end with NUL.
        let name = unsafe { text_of(binary_attr) };
        // SAFETY: `alpha` is an optional argument of the ABI: NULL, or the address of a value.
        let alpha = unsafe { optional(alpha) };
        let of_other = Scale { factor: accum_scale, zero_point: accum_zero_point };
        let added = Added::of(&name, Some(accum), of_other, alpha.unwrap_or(1.0))?;
        let behind = Behind { added, activation, dtype, scale };
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        let (given, steps) = (Scale::of(act_scale, act_zero_point)?, moved.steps());
        let made = convolution(images, given, filter, weight_scales, bias, steps, &behind)?;
        give(ret0, made)
    })
}
