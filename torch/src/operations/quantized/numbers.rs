//! Integers as real numbers, `scale * (integer - zero point)`, and back.

use crate::abi::tensors::{dtype_of_tensor, numel_of};
use crate::error::{Error, Result};
use crate::operations::fused::activation::clamped;
use crate::operations::tensors::name_of;
use crate::sconce::operations::{Operand, binary, item, reshape, to_dtype, unary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// The largest product of an integer without its zero point and a weight.
const LARGEST_PRODUCT: i64 = 255 * 128;
/// Up to this number float32 has every whole one.
const WHOLE_IN_SINGLE: i64 = 1 << 24;

/// What an integer stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The real number from one integer to the next.
    pub factor: f64,
    /// The integer that stands for 0.
    pub zero_point: i64,
}

impl Scale {
    /// Real numbers are themselves.
    pub const NONE: Scale = Scale { factor: 1.0, zero_point: 0 };

    /// The scale in two tensors of one element.
    pub fn of(factor: TensorHandle, zero_point: TensorHandle) -> Result<Scale> {
        let number = |name, tensor| -> Result<f64> {
            if numel_of(tensor)? != 1 {
                return Err(Error::invalid_argument(format!(
                    "{name} must have one element, but has {}",
                    numel_of(tensor)?
                )));
            }
            let value = item(tensor)?;
            let is_real = value.kind == api::SCONCE_SCALAR_REAL;
            Ok(if is_real { value.real } else { value.integer as f64 })
        };
        let factor = number("act_scale", factor)?;
        Ok(Scale { factor, zero_point: number("act_zero_point", zero_point)? as i64 })
    }
}

/// The least and the largest number of an integer type of 8 bits; `None` of other types.
pub fn bounds(dtype: i32) -> Option<(f64, f64)> {
    match dtype {
        api::SCONCE_DTYPE_U8 => Some((0.0, 255.0)),
        api::SCONCE_DTYPE_I8 => Some((-128.0, 127.0)),
        _ => None,
    }
}

/// The type in which sums of so many products are whole numbers.
pub fn exact_type(count: i64) -> i32 {
    match count.saturating_mul(LARGEST_PRODUCT) <= WHOLE_IN_SINGLE {
        true => api::SCONCE_DTYPE_F32,
        false => api::SCONCE_DTYPE_F64,
    }
}

/// Integers less their zero point, in a wider type.
pub fn without_zero_point(tensor: TensorHandle, zero_point: i64, dtype: i32) -> Result<Tensor> {
    let wide = to_dtype(tensor, dtype)?;
    match zero_point {
        0 => Ok(wide),
        zero => binary(api::SCONCE_BINARY_SUB, &wide, Operand::Number(zero as f64)),
    }
}

/// The real numbers in float32 for which a tensor of any type stands.
pub fn real_numbers(tensor: TensorHandle, scale: Scale) -> Result<Tensor> {
    let wide = without_zero_point(tensor, scale.zero_point, api::SCONCE_DTYPE_F32)?;
    match scale.factor {
        1.0 => Ok(wide),
        factor => binary(api::SCONCE_BINARY_MUL, &wide, Operand::Number(factor)),
    }
}

/// Real numbers in float32 as a type: integers are rounded to the nearest, the even one of two, and stay within bounds.
pub fn in_type(numbers: &Tensor, scale: Scale, dtype: i32) -> Result<Tensor> {
    let Some((least, most)) = bounds(dtype) else {
        if scale != Scale::NONE {
            return Err(Error::invalid_argument(format!(
                "expect scale=1 and zero point=0 for output of {}, but they are {} and {}",
                name_of(dtype),
                scale.factor,
                scale.zero_point
            )));
        }
        return to_dtype(numbers.handle(), dtype);
    };
    let scaled = match scale.factor {
        1.0 => Tensor::retained(numbers.handle())?,
        factor => binary(api::SCONCE_BINARY_MUL, numbers, Operand::Number(1.0 / factor))?,
    };
    let moved = match scale.zero_point {
        0 => scaled,
        zero => binary(api::SCONCE_BINARY_ADD, &scaled, Operand::Number(zero as f64))?,
    };
    let rounded = unary(api::SCONCE_UNARY_ROUND, &moved)?;
    to_dtype(clamped(&rounded, least, most)?.handle(), dtype)
}

/// Scales of weights as a vector of float32, with one element or one for each output.
pub fn weight_scales(scales: TensorHandle, outputs: i64) -> Result<Tensor> {
    let (dtype, count) = (dtype_of_tensor(scales)?, numel_of(scales)?);
    if !matches!(dtype, api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F64) {
        return Err(Error::invalid_argument(format!(
            "weight scales should be dtype float32, but are {}",
            name_of(dtype)
        )));
    }
    if count != 1 && count != outputs {
        return Err(Error::invalid_argument(format!(
            "weight_scales must have one element or {outputs}, but have {count}"
        )));
    }
    reshape(to_dtype(scales, api::SCONCE_DTYPE_F32)?.handle(), &[count])
}

/// Refuses inputs and weights of types that PyTorch does not take either.
pub fn check_types(input: TensorHandle, weights: TensorHandle) -> Result<()> {
    let (of_input, of_weights) = (dtype_of_tensor(input)?, dtype_of_tensor(weights)?);
    if bounds(of_input).is_none() {
        return Err(Error::invalid_argument(format!(
            "data type of input should be uint8 or int8, but is {}",
            name_of(of_input)
        )));
    }
    if of_weights != api::SCONCE_DTYPE_I8 {
        return Err(Error::invalid_argument(format!(
            "data type of weight should be int8, but is {}",
            name_of(of_weights)
        )));
    }
    Ok(())
}
