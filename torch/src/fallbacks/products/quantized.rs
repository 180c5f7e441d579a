//! Products of integers, of 8-bit floating-point numbers, and with weights of 8 bits.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::arguments::{optional, optional_tensor};
use crate::abi::constants::dtype_of;
use crate::abi::tensors::dtype_of_tensor;
use crate::error::Error;
use crate::fallbacks::{give, operation};
use crate::operations::products::scaled::{Scales, scaled_mm, scaled_mm_out};
use crate::operations::products::scaled_grouped::ScaledGroups;
use crate::operations::products::weights::int8_weights;
use crate::operations::products::widened::{int_mm, mm_dtype};
use crate::sconce::api;
use crate::sconce::tensor::TensorHandle;

/// Scales as the ABI passes them.
///
/// # Safety
/// The pointers are NULL or valid for reads.
unsafe fn scales(
    of: [TensorHandle; 2],
    bias: *const TensorHandle,
    result: *const TensorHandle,
) -> Scales {
    // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
    let bias = unsafe { optional_tensor(bias) };
    // SAFETY: `result` is an optional tensor of the ABI: NULL, or the address of a handle.
    let result = unsafe { optional_tensor(result) };
    Scales { of, bias, result }
}

fallbacks! {
    /// Writes the product of two matrices of int8 to a matrix of int32.
    aoti_torch_cpu__int_mm_out | aoti_torch_cuda__int_mm_out(
        out: TensorHandle,
        first: TensorHandle,
        second: TensorHandle,
    ) {
        int_mm(first, second, out)
    }

    /// Returns the product of two matrices of 8-bit floating-point numbers, times their scales.
    aoti_torch_cpu__scaled_mm | aoti_torch_cuda__scaled_mm(
        first: TensorHandle,
        second: TensorHandle,
        scale_a: TensorHandle,
        scale_b: TensorHandle,
        bias: *const TensorHandle,
        scale_result: *const TensorHandle,
        out_dtype: *const i32,
        _use_fast_accum: i32,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: bias and scale of the result are optional tensors of the ABI: NULL, or addresses of handles.
        let scales = unsafe { scales([scale_a, scale_b], bias, scale_result) };
        // SAFETY: `out_dtype` is an optional argument of the ABI: NULL, or the address of a value.
        let dtype = match unsafe { optional(out_dtype) } {
            Some(number) => dtype_of(number)?,
            None => dtype_of_tensor(first)?,
        };
        let product = scaled_mm(first, second, &scales, dtype)?;
        give(ret0, product)
    }

    /// Writes the product of two matrices of 8-bit floating-point numbers, times their scales.
    aoti_torch_cpu__scaled_mm_out | aoti_torch_cuda__scaled_mm_out(
        out: TensorHandle,
        first: TensorHandle,
        second: TensorHandle,
        scale_a: TensorHandle,
        scale_b: TensorHandle,
        bias: *const TensorHandle,
        scale_result: *const TensorHandle,
        out_dtype: *const i32,
        _use_fast_accum: i32,
    ) {
        // SAFETY: bias and scale of the result are optional tensors of the ABI: NULL, or addresses of handles.
        let scales = unsafe { scales([scale_a, scale_b], bias, scale_result) };
        // SAFETY: `out_dtype` is an optional argument of the ABI: NULL, or the address of a value.
        let dtype = unsafe { optional(out_dtype) }.map(dtype_of).transpose()?;
        scaled_mm_out(first, second, &scales, dtype, out)
    }

    /// Returns the product of a matrix and rows of int8 that have a scale each.
    aoti_torch_cpu__weight_int8pack_mm | aoti_torch_cuda__weight_int8pack_mm(
        input: TensorHandle,
        weights: TensorHandle,
        scales: TensorHandle,
        ret0: *mut TensorHandle,
    ) {
        let product = int8_weights(input, weights, scales)?;
        give(ret0, product)
    }
}

/// Writes the product of two matrices in their type, or of 16-bit types in float32. The ABI has no such function of the
/// CPU.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_cuda_mm_dtype_out(
    out: TensorHandle,
    first: TensorHandle,
    second: TensorHandle,
    out_dtype: i32,
) -> i32 {
    operation("aoti_torch_cuda_mm_dtype_out", || mm_dtype(first, second, dtype_of(out_dtype)?, out))
}

/// Returns the products of groups of matrices of 8-bit floating-point numbers, times the scales of their lines. The ABI
/// has no such function of the CPU.
///
/// # Safety
/// Pointers are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__scaled_grouped_mm(
    first: TensorHandle,
    second: TensorHandle,
    scale_a: TensorHandle,
    scale_b: TensorHandle,
    offs: *const TensorHandle,
    bias: *const TensorHandle,
    scale_result: *const TensorHandle,
    out_dtype: *const i32,
    _use_fast_accum: i32,
    ret0: *mut TensorHandle,
) -> i32 {
    places!(ret0);
    operation("aoti_torch_cuda__scaled_grouped_mm", || {
        // SAFETY: `offs` is an optional tensor of the ABI: NULL, or the address of a handle.
        let offsets = unsafe { optional_tensor(offs) };
        // SAFETY: `bias` is an optional tensor of the ABI: NULL, or the address of a handle.
        let bias = unsafe { optional_tensor(bias) };
        // SAFETY: `scale_result` is an optional tensor of the ABI: NULL, or the address of a handle.
        let scale_result = unsafe { optional_tensor(scale_result) };
        // SAFETY: `out_dtype` is an optional argument of the ABI: NULL, or the address of a value.
        let dtype = unsafe { optional(out_dtype) }.map(dtype_of).transpose()?;
        for (name, other) in [("Bias", bias), ("Scale result", scale_result)] {
            if other.is_some() {
                let why = format!("{name} not supported yet; apply it to the product");
                return Err(Error::not_supported(why));
            }
        }
        if dtype.is_some_and(|dtype| dtype != api::SCONCE_DTYPE_BF16) {
            return Err(Error::invalid_argument(
                "Only bf16 high precision output types are supported for grouped gemm",
            ));
        }
        let (factors, scales) = ([first, second], [scale_a, scale_b]);
        let product = ScaledGroups { factors, scales, offsets }.multiply()?;
        give(ret0, product)
    })
}
