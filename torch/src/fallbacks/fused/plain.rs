//! Convolutions and products of floating-point numbers, and what follows them.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::c_char;

use super::attributes::{ElementFunction, Movement, optional_text, spread};
use crate::abi::arguments::{IntList, optional, optional_tensor};
use crate::abi::errors::text_of;
use crate::abi::handles::another_handle;
use crate::abi::tensors::{rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::{give, operation};
use crate::operations::fused::activation::Activation;
use crate::operations::fused::after::{After, Combination};
use crate::operations::fused::convolution::{convolution, transposed_convolution};
use crate::operations::fused::linear::linear;
use crate::sconce::operations::copy;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, operations};

/// What follows a convolution with another tensor: how this is combined, and a function that may be missing.
///
/// # Safety
/// Texts are NULL or end with NUL; other pointers are NULL or valid for reads; there are `count` numbers.
unsafe fn combined(
    other: TensorHandle,
    name: *const c_char,
    alpha: *const f64,
    function: *const *const c_char,
    (numbers, count): (*const *const f64, i64),
    algorithm: *const *const c_char,
) -> Result<After> {
    // SAFETY: `alpha` is an optional argument of the ABI: NULL, or the address of a value.
    let alpha = unsafe { optional(alpha) };
    if let Some(alpha) = alpha.filter(|&alpha| alpha != 1.0) {
        return Err(Error::invalid_argument(format!(
            "the alpha value should be none or 1.0, but is {alpha}"
        )));
    }
    // SAFETY: `name` is a text of the ABI: NULL, or bytes that end with NUL.
    let combination = Combination::of(&unsafe { text_of(name) })?;
    // SAFETY: `function` is an optional text of the ABI: NULL, or the address of a text.
    let name = unsafe { optional_text(function) };
    // SAFETY: `algorithm` is an optional text of the ABI: NULL, or the address of a text.
    let algorithm = unsafe { optional_text(algorithm) };
    let function = ElementFunction { name, numbers, count, algorithm };
    // SAFETY: `function` holds arguments of the ABI: texts that end with NUL, and numbers with their count.
    let activation = unsafe { function.read() }?;
    Ok(After { other: Some((other, combination)), activation })
}

/// What follows where nothing is combined: a function.
///
/// # Safety
/// Texts are NULL or end with NUL; there are `count` numbers, which are NULL or valid for reads.
unsafe fn function_alone(
    name: *const c_char,
    (numbers, count): (*const *const f64, i64),
    algorithm: *const *const c_char,
) -> Result<After> {
    // SAFETY: `algorithm` is an optional text of the ABI: NULL, or the address of a text.
    let algorithm = unsafe { optional_text(algorithm) };
    let function = ElementFunction { name, numbers, count, algorithm };
    // SAFETY: `function` holds arguments of the ABI: texts that end with NUL, and numbers with their count.
    Ok(After::only(unsafe { function.read() }?))
}

/// The convolution of images, whose filter moves as the lists stride, padding and dilation say.
///
/// # Safety
/// The lists have as many entries as is said beside them; `bias` is NULL or valid for a read.
unsafe fn convolved(
    images: TensorHandle,
    filter: TensorHandle,
    bias: *const TensorHandle,
    [stride, padding, dilation]: [IntList; 3],
    groups: i64,
    after: After,
) -> Result<Tensor> {
    // SAFETY: the ABI has the number of entries of each list beside it.
    let moved = unsafe { Movement::read(images, stride, padding, dilation, groups) }?;
    // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
    let bias = unsafe { optional_tensor(bias) };
    convolution(images, filter, bias, moved.steps(), after)
}

/// Returns the convolution of images with a filter, and a function of each element.
///
/// # Safety
/// Arrays have as many entries as is said beside them; texts end with NUL; other pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu_mkldnn__convolution_pointwise(
    images: TensorHandle,
    filter: TensorHandle,
    bias: *const TensorHandle,
    padding: *const i64,
    padding_len: i64,
    stride: *const i64,
    stride_len: i64,
    dilation: *const i64,
    dilation_len: i64,
    groups: i64,
    attr: *const c_char,
    scalars: *const *const f64,
    scalars_len: i64,
    algorithm: *const *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu_mkldnn__convolution_pointwise", || {
        let lists = [(stride, stride_len), (padding, padding_len), (dilation, dilation_len)];
        // SAFETY: `scalars` has `scalars_len` entries by the ABI; the texts are NULL or end with NUL.
        let after = unsafe { function_alone(attr, (scalars, scalars_len), algorithm) }?;
        // SAFETY: the ABI has the number of entries of each list beside it; `bias` is NULL or the address of a handle.
        let made = unsafe { convolved(images, filter, bias, lists, groups, after) }?;
        give(ret0, made)
    })
}

/// Returns the convolution of images with a filter, combined with another tensor, and a function of each element.
///
/// # Safety
/// As [`aoti_torch_cpu_mkldnn__convolution_pointwise`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu_mkldnn__convolution_pointwise_binary(
    images: TensorHandle,
    other: TensorHandle,
    filter: TensorHandle,
    bias: *const TensorHandle,
    padding: *const i64,
    padding_len: i64,
    stride: *const i64,
    stride_len: i64,
    dilation: *const i64,
    dilation_len: i64,
    groups: i64,
    binary_attr: *const c_char,
    alpha: *const f64,
    unary_attr: *const *const c_char,
    unary_scalars: *const *const f64,
    unary_scalars_len: i64,
    unary_algorithm: *const *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu_mkldnn__convolution_pointwise_binary", || {
        let lists = [(stride, stride_len), (padding, padding_len), (dilation, dilation_len)];
        let numbers = (unary_scalars, unary_scalars_len);
        // SAFETY: texts of the ABI end with NUL, `alpha` is NULL or a value's address, and `numbers` has its count.
        let after =
            unsafe { combined(other, binary_attr, alpha, unary_attr, numbers, unary_algorithm) }?;
        // SAFETY: the ABI has the number of entries of each list beside it; `bias` is NULL or the address of a handle.
        let made = unsafe { convolved(images, filter, bias, lists, groups, after) }?;
        give(ret0, made)
    })
}

/// Adds the convolution of images with a filter to another tensor, applies a function to each element, and returns a
/// further handle of that tensor.
///
/// # Safety
/// As [`aoti_torch_cpu_mkldnn__convolution_pointwise`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu_mkldnn__convolution_pointwise_binary_(
    other: TensorHandle,
    images: TensorHandle,
    filter: TensorHandle,
    bias: *const TensorHandle,
    padding: *const i64,
    padding_len: i64,
    stride: *const i64,
    stride_len: i64,
    dilation: *const i64,
    dilation_len: i64,
    groups: i64,
    binary_attr: *const c_char,
    alpha: *const f64,
    unary_attr: *const *const c_char,
    unary_scalars: *const *const f64,
    unary_scalars_len: i64,
    unary_algorithm: *const *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu_mkldnn__convolution_pointwise_binary_", || {
        let lists = [(stride, stride_len), (padding, padding_len), (dilation, dilation_len)];
        let numbers = (unary_scalars, unary_scalars_len);
        // SAFETY: texts of the ABI end with NUL, `alpha` is NULL or a value's address, and `numbers` has its count.
        let after =
            unsafe { combined(other, binary_attr, alpha, unary_attr, numbers, unary_algorithm) }?;
        // SAFETY: the ABI has the number of entries of each list beside it; `bias` is NULL or the address of a handle.
        let made = unsafe { convolved(images, filter, bias, lists, groups, after) }?;
        copy(&Tensor::retained(other)?, made.handle())?;
        give(ret0, another_handle(other)?)
    })
}

/// Returns the transposed convolution of images with a filter, and a function of each element.
///
/// # Safety
/// As [`aoti_torch_cpu_mkldnn__convolution_pointwise`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu_mkldnn__convolution_transpose_pointwise(
    images: TensorHandle,
    filter: TensorHandle,
    bias: *const TensorHandle,
    padding: *const i64,
    padding_len: i64,
    output_padding: *const i64,
    output_padding_len: i64,
    stride: *const i64,
    stride_len: i64,
    dilation: *const i64,
    dilation_len: i64,
    groups: i64,
    attr: *const c_char,
    scalars: *const *const f64,
    scalars_len: i64,
    algorithm: *const *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu_mkldnn__convolution_transpose_pointwise", || {
        let lists = [(stride, stride_len), (padding, padding_len), (dilation, dilation_len)];
        // SAFETY: the ABI has the number of entries of each list beside it.
        let moved = unsafe { Movement::read(images, lists[0], lists[1], lists[2], groups) }?;
        let spatial = rank_of(images)?.saturating_sub(2);
        let list = (output_padding, output_padding_len);
        // SAFETY: `list` is a list of the ABI with its number of entries.
        let more = unsafe { spread(list, spatial, "output_padding") }?;
        // SAFETY: `scalars` has `scalars_len` entries by the ABI; the texts are NULL or end with NUL.
        let after = unsafe { function_alone(attr, (scalars, scalars_len), algorithm) }?;
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        let made = transposed_convolution(images, filter, bias, moved.steps(), &more, after)?;
        give(ret0, made)
    })
}

/// Returns the products of the input's lines and the rows of weights, and a function of each element.
///
/// # Safety
/// As [`aoti_torch_cpu_mkldnn__convolution_pointwise`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__linear_pointwise(
    input: TensorHandle,
    weights: TensorHandle,
    bias: *const TensorHandle,
    attr: *const c_char,
    scalars: *const *const f64,
    scalars_len: i64,
    algorithm: *const *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu__linear_pointwise", || {
        // SAFETY: `scalars` has `scalars_len` entries by the ABI; the texts are NULL or end with NUL.
        let after = unsafe { function_alone(attr, (scalars, scalars_len), algorithm) }?;
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        give(ret0, linear(input, weights, bias, after)?)
    })
}

/// Returns the products of the input's lines and the rows of weights, combined with another tensor.
///
/// # Safety
/// As [`aoti_torch_cpu_mkldnn__convolution_pointwise`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__linear_pointwise_binary(
    input: TensorHandle,
    other: TensorHandle,
    weights: TensorHandle,
    bias: *const TensorHandle,
    attr: *const c_char,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu__linear_pointwise_binary", || {
        // SAFETY: `attr` is a text of the ABI: NULL, or bytes that end with NUL.
        let combination = Combination::of(&unsafe { text_of(attr) })?;
        // Another tensor of as many elements may have other dimensions in front.
        let mut sizes = sizes_of(input)?;
        if let (Some(last), Some(rows)) = (sizes.last_mut(), sizes_of(weights)?.first()) {
            *last = *rows;
        }
        let other = operations::reshape(other, &sizes)?;
        let other = Some((other.handle(), combination));
        let after = After { other, activation: Activation::None };
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        let made = linear(input, weights, bias, after)?;
        give(ret0, made)
    })
}

/// Returns the products of the input's lines and the rows of weights, of which MKL has a packed copy that is not read.
///
/// # Safety
/// As [`aoti_torch_cpu_mkldnn__convolution_pointwise`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__mkl_linear(
    input: TensorHandle,
    _packed: TensorHandle,
    weights: TensorHandle,
    bias: *const TensorHandle,
    _prepack_batch_size: i64,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cpu__mkl_linear", || {
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        let made = linear(input, weights, bias, After::only(Activation::None))?;
        give(ret0, made)
    })
}
