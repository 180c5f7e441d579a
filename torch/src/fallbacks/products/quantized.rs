//! Products of integers, of 8-bit floating-point numbers, and with weights of 8 bits.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::constants::dtype_of;
use crate::abi::tensors::dtype_of_tensor;
use crate::error::Error;
use crate::fallbacks::{Place, give};
use crate::operations::products::scaled::{Scales, scaled_mm, scaled_mm_out};
use crate::operations::products::scaled_grouped::ScaledGroups;
use crate::operations::products::weights::int8_weights;
use crate::operations::products::widened::{int_mm, mm_dtype};
use crate::sconce::api;
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Writes the product of two matrices of int8 to a matrix of int32.
    aoti_torch_cpu__int_mm_out | aoti_torch_cuda__int_mm_out(
        out: TensorHandle, first as self: TensorHandle, second as mat2: TensorHandle,
    ) {
        int_mm(first, second, out)
    }

    /// Returns the product of two matrices of 8-bit floating-point numbers, times their scales.
    aoti_torch_cpu__scaled_mm | aoti_torch_cuda__scaled_mm(
        first as self: TensorHandle, second as mat2: TensorHandle, scale_a: TensorHandle, scale_b: TensorHandle,
        bias: Option<TensorHandle>, scale_result: Option<TensorHandle>, out_dtype: Option<i32>, _use_fast_accum: bool,
        ret0: Place,
    ) {
        let scales = Scales { of: [scale_a, scale_b], bias, result: scale_result };
        let dtype = match out_dtype {
            Some(number) => dtype_of(number)?,
            None => dtype_of_tensor(first)?,
        };
        let product = scaled_mm(first, second, &scales, dtype)?;
        give(ret0, product)
    }

    /// Writes the product of two matrices of 8-bit floating-point numbers, times their scales.
    aoti_torch_cpu__scaled_mm_out | aoti_torch_cuda__scaled_mm_out(
        out: TensorHandle, first as self: TensorHandle, second as mat2: TensorHandle, scale_a: TensorHandle,
        scale_b: TensorHandle, bias: Option<TensorHandle>, scale_result: Option<TensorHandle>, out_dtype: Option<i32>,
        _use_fast_accum: bool,
    ) {
        let scales = Scales { of: [scale_a, scale_b], bias, result: scale_result };
        let dtype = out_dtype.map(dtype_of).transpose()?;
        scaled_mm_out(first, second, &scales, dtype, out)
    }

    /// Returns the product of a matrix and rows of int8 that have a scale each.
    aoti_torch_cpu__weight_int8pack_mm | aoti_torch_cuda__weight_int8pack_mm(
        input as self: TensorHandle, weights as mat2: TensorHandle, scales: TensorHandle, ret0: Place,
    ) {
        let product = int8_weights(input, weights, scales)?;
        give(ret0, product)
    }

    /// Writes the product of two matrices in their type, or of 16-bit types in float32. The ABI has no such function of
    /// the CPU.
    aoti_torch_cuda_mm_dtype_out(
        out: TensorHandle, first as self: TensorHandle, second as mat2: TensorHandle, out_dtype: i32,
    ) {
        mm_dtype(first, second, dtype_of(out_dtype)?, out)
    }

    /// Returns the products of groups of matrices of 8-bit floating-point numbers, times the scales of their lines. The
    /// ABI has no such function of the CPU.
    aoti_torch_cuda__scaled_grouped_mm(
        first as self: TensorHandle, second as mat2: TensorHandle, scale_a: TensorHandle, scale_b: TensorHandle,
        offs: Option<TensorHandle>, bias: Option<TensorHandle>, scale_result: Option<TensorHandle>,
        out_dtype: Option<i32>, _use_fast_accum: bool, ret0: Place,
    ) {
        let dtype = out_dtype.map(dtype_of).transpose()?;
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
        let product = ScaledGroups { factors, scales, offsets: offs }.multiply()?;
        give(ret0, product)
    }
}
