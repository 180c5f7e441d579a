//! Products with the rows of weights.

use super::after::{After, check_same_type};
use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::tensors::check_floating;
use crate::sconce::operations::{binary_in_place, matmul, reshape, to_dtype, transpose, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// `input @ weights.t() + bias` for the last dimension of the input, and what follows.
pub fn linear(
    input: TensorHandle,
    weights: TensorHandle,
    bias: Option<TensorHandle>,
    after: After,
) -> Result<Tensor> {
    let dtype = dtype_of_tensor(input)?;
    check_floating(dtype)?;
    check_same_type("weight", weights, input)?;
    if let Some(bias) = bias {
        check_same_type("bias", bias, input)?;
    }
    let sizes = result_sizes(input, weights, bias)?;
    after.check(input, &sizes)?;
    let rows = transpose(widened(weights)?.handle(), 0, 1)?;
    let product = product(&widened(input)?, &rows)?;
    let sum = match bias {
        Some(bias) => binary_in_place(api::SCONCE_BINARY_ADD, product, &widened(bias)?)?,
        None => product,
    };
    let result = after.apply(reshape(sum.handle(), &sizes)?)?;
    to_dtype(result.handle(), dtype)
}

/// The product of all lines of a tensor, as a matrix, and a matrix.
pub fn product(input: &Tensor, matrix: &Tensor) -> Result<Tensor> {
    let sizes = sizes_of(input.handle())?;
    let inner = sizes.last().copied().unwrap_or(1);
    let lines = sizes.iter().rev().skip(1).product::<i64>();
    let lines = reshape(input.handle(), &[lines, inner])?;
    matmul(lines.handle(), matrix.handle())
}

/// The sizes of the result: those of the input with the number of weights' rows last.
fn result_sizes(
    input: TensorHandle,
    weights: TensorHandle,
    bias: Option<TensorHandle>,
) -> Result<Vec<i64>> {
    let (mut sizes, rows) = (sizes_of(input)?, sizes_of(weights)?);
    let ([count, inner], Some(last)) = (&rows[..], sizes.last_mut()) else {
        return Err(Error::invalid_argument(format!(
            "weight must be a matrix, and the input have a dimension, but their sizes are {rows:?} and {sizes:?}"
        )));
    };
    if last != inner {
        return Err(Error::invalid_argument(format!(
            "the last dimension of the input has {last} elements, but rows of the weight have {inner}"
        )));
    }
    if let Some(bias) = bias {
        let found = sizes_of(bias)?;
        if found != [*count] {
            return Err(Error::invalid_argument(format!(
                "bias must have {count} elements, but its sizes are {found:?}"
            )));
        }
    }
    *last = *count;
    Ok(sizes)
}
