//! Products with weights that a model packs itself when it runs. FBGEMM's form of them is its own business; here they are
//! ordinary tensors, which a model passes from one function to the other and does not read.

use super::numbers::{Scale, in_type, real_numbers};
use crate::abi::tensors::{dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::fused::activation::Activation;
use crate::operations::fused::after::After;
use crate::operations::fused::linear::linear;
use crate::operations::tensors::name_of;
use crate::sconce::operations::{cat, narrow, reshape, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

const F32: i32 = api::SCONCE_DTYPE_F32;

fn check_weights(weights: TensorHandle) -> Result<[i64; 2]> {
    let dtype = dtype_of_tensor(weights)?;
    let sizes = <[i64; 2]>::try_from(sizes_of(weights)?);
    match sizes {
        Ok(sizes) if dtype == F32 => Ok(sizes),
        _ => Err(Error::invalid_argument(format!(
            "weight must be a matrix of float32, but is of {} with the sizes {:?}",
            name_of(dtype),
            sizes_of(weights)?
        ))),
    }
}

/// `wrapped_fbgemm_pack_gemm_matrix_fp16(W)`: the weights in float16.
pub fn pack_halves(weights: TensorHandle) -> Result<Tensor> {
    check_weights(weights)?;
    to_dtype(weights, api::SCONCE_DTYPE_F16)
}

/// `wrapped_fbgemm_linear_fp16_weight(X, W, B, out_channel)`: the product with the rows of packed weights.
pub fn linear_halves(
    input: TensorHandle,
    packed: TensorHandle,
    bias: Option<TensorHandle>,
    outputs: i64,
) -> Result<Tensor> {
    let sizes = sizes_of(packed)?;
    let is_packed = dtype_of_tensor(packed)? == api::SCONCE_DTYPE_F16
        && sizes.len() == 2
        && sizes[0] == outputs;
    if !is_packed {
        return Err(not_packed_here("wrapped_fbgemm_pack_gemm_matrix_fp16"));
    }
    let weights = to_dtype(packed, F32)?;
    linear(input, weights.handle(), bias, After::only(Activation::None))
}

/// `_wrapped_linear_prepack(W, W_scale, W_zero_point, B)`: rows of what the weights stand for once they are integers,
/// with the bias last.
pub fn pack_integers(
    weights: TensorHandle,
    scale: Scale,
    bias: Option<TensorHandle>,
) -> Result<Tensor> {
    let [outputs, _] = check_weights(weights)?;
    let integers = in_type(&Tensor::retained(weights)?, scale, api::SCONCE_DTYPE_I8)?;
    let rounded = real_numbers(integers.handle(), scale)?;
    let bias = match bias.filter(|&bias| numel_of(bias).is_ok_and(|count| count > 0)) {
        Some(bias) => super::linear::bias_of(bias, outputs)?,
        None => crate::operations::tensors::filled_like(weights, &[outputs], 0.0)?,
    };
    cat(&[rounded.handle(), reshape(bias.handle(), &[outputs, 1])?.handle()], 1)
}

/// `_wrapped_quantized_linear_prepacked(…)`: the product of what the input stands for once it is integers with packed
/// weights, as what it stands for once it is integers of `result`.
pub fn linear_integers(
    input: TensorHandle,
    scale: Scale,
    packed: TensorHandle,
    result: Scale,
    outputs: i64,
) -> Result<Tensor> {
    let inner = sizes_of(input)?.last().copied().unwrap_or(0);
    if sizes_of(packed)? != [outputs, inner + 1] || dtype_of_tensor(packed)? != F32 {
        return Err(not_packed_here("_wrapped_linear_prepack"));
    }
    let bytes = api::SCONCE_DTYPE_U8;
    let given = in_type(&Tensor::retained(input)?, scale, bytes)?;
    let given = real_numbers(given.handle(), scale)?;
    let weights = narrow(packed, 1, 0, inner)?;
    let bias = reshape(narrow(packed, 1, inner, 1)?.handle(), &[outputs])?;
    let after = After::only(Activation::None);
    let found = linear(given.handle(), weights.handle(), Some(bias.handle()), after)?;
    real_numbers(in_type(&found, result, bytes)?.handle(), result)
}

#[cold]
fn not_packed_here(by: &str) -> Error {
    Error::not_supported(format!(
        "weight was not packed by {by} in this process. Weights that FBGEMM packed when the model was compiled are \
         addresses of that process: compile with torch._inductor.config.freezing = False"
    ))
}
