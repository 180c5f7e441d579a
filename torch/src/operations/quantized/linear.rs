//! Products of integers of 8 bits with the columns of weights, as oneDNN has them.

use super::behind::Behind;
use super::numbers::{Scale, check_types, exact_type, weight_scales, without_zero_point};
use crate::abi::tensors::sizes_of;
use crate::error::{Error, Result};
use crate::operations::fused::linear::product;
use crate::sconce::operations::{reshape, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// The product of the input's lines with weights of inputs times outputs, and what follows.
pub fn linear(
    input: TensorHandle,
    scale: Scale,
    weights: TensorHandle,
    scales: TensorHandle,
    bias: Option<TensorHandle>,
    behind: &Behind,
) -> Result<Tensor> {
    check_types(input, weights)?;
    let (mut sizes, of_weights) = (sizes_of(input)?, sizes_of(weights)?);
    let ([inner, outputs], Some(last)) = (&of_weights[..], sizes.last_mut()) else {
        return Err(Error::invalid_argument(format!(
            "the weights must be a matrix, and the input have a dimension, but their sizes are {of_weights:?} and \
             {sizes:?}"
        )));
    };
    if last != inner {
        return Err(Error::invalid_argument(format!(
            "the last dimension of the input has {last} elements, but columns of the weights have {inner}"
        )));
    }
    *last = *outputs;
    behind.check(&sizes)?;
    let wide = exact_type(*inner);
    let lines = without_zero_point(input, scale.zero_point, wide)?;
    let whole = product(&lines, &to_dtype(weights, wide)?)?;
    let scales = weight_scales(scales, *outputs)?;
    let bias = bias.map(|bias| bias_of(bias, *outputs)).transpose()?;
    let result = behind.apply(&whole, scale.factor, &scales, bias.as_ref())?;
    reshape(result.handle(), &sizes)
}

/// A bias in float32 with one element for each output.
pub fn bias_of(bias: TensorHandle, outputs: i64) -> Result<Tensor> {
    let wide = to_dtype(bias, api::SCONCE_DTYPE_F32)?;
    let sizes = sizes_of(bias)?;
    if sizes.iter().product::<i64>() != outputs {
        return Err(Error::invalid_argument(format!(
            "bias must have {outputs} elements, but its sizes are {sizes:?}"
        )));
    }
    reshape(wide.handle(), &[outputs])
}
