//! Gradients of attention, as products and operations on elements, in float32 for the 16-bit types.

use super::{Attention, Shapes, merged_heads};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::sconce::operations::{self, Operand, binary, choose, reshape, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// What attention returned, and the gradient of its result. All have batch, heads and positions first.
pub(super) struct Returned {
    /// The gradient of the result.
    pub(super) gradient: TensorHandle,
    pub(super) output: TensorHandle,
    /// The logarithms of the sums of exponentials; a line may be longer than the queries are.
    pub(super) log_sums: TensorHandle,
}

/// Gradients in the type that is calculated in, with the sizes of what they are of.
pub(super) struct AttentionGradients {
    pub(super) query: Tensor,
    pub(super) key: Tensor,
    pub(super) value: Tensor,
    /// That of what is added to the scores.
    pub(super) bias: Option<Tensor>,
}

impl AttentionGradients {
    /// Those of query, keys and values, packed, each with the order of what it is of.
    pub(super) fn in_layout_of_inputs(&self, attention: &Attention) -> Result<[Tensor; 3]> {
        Ok([
            like(&self.query, attention.query)?,
            like(&self.key, attention.key)?,
            like(&self.value, attention.value)?,
        ])
    }

    /// Those of query, keys and values in a type, packed, with the positions before the heads in memory.
    pub(super) fn positions_first(&self, dtype: i32) -> Result<[Tensor; 3]> {
        let of = |gradient| positions_first(gradient, dtype);
        Ok([of(&self.query)?, of(&self.key)?, of(&self.value)?])
    }
}

fn multiply(first: &Tensor, second: Operand<'_>) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_MUL, first, second)
}

/// A sum over dimensions, which stay with one element.
fn sum(tensor: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let default = api::SCONCE_DTYPE_DEFAULT;
    operations::reduce(api::SCONCE_REDUCE_SUM, tensor.handle(), dims, true, default)
}

fn transposed(tensor: &Tensor) -> Result<Tensor> {
    operations::transpose(tensor.handle(), 1, 2)
}

impl Attention {
    /// The gradients of query, keys and values, and of the bias if that is wanted.
    pub(super) fn gradients(
        &self,
        returned: &Returned,
        with_bias: bool,
    ) -> Result<AttentionGradients> {
        let shapes = self.shapes()?;
        let &Shapes { batch, heads, queries, keys, width, value_width } = &shapes;
        let sizes = [batch, heads, queries, value_width];
        for (name, tensor) in [("grad_out", returned.gradient), ("out", returned.output)] {
            let found = sizes_of(tensor)?;
            if found != sizes {
                return Err(Error::invalid_argument(format!(
                    "{name} has the sizes {found:?}, but the result of attention has {sizes:?}"
                )));
            }
        }
        let merged = batch * heads;
        let scale = self.scale.unwrap_or(1.0 / (width as f64).sqrt());
        let gradient = merged_heads(returned.gradient, &shapes, queries, value_width)?;
        let weights = self.weights_again(&shapes, returned.log_sums)?;
        let weights = reshape(weights.handle(), &[merged, queries, keys])?;
        let value = merged_heads(self.value, &shapes, keys, value_width)?;
        let of_values = operations::bmm(&transposed(&weights)?, &gradient)?;
        // The derivative of softmax: each weight times what its score adds beyond the mean.
        let of_weights = operations::bmm(&gradient, &transposed(&value)?)?;
        let output = merged_heads(returned.output, &shapes, queries, value_width)?;
        let means = sum(&multiply(&gradient, Operand::Tensor(&output))?, &[-1])?;
        let beyond = binary(api::SCONCE_BINARY_SUB, &of_weights, Operand::Tensor(&means))?;
        let of_scores = multiply(&weights, Operand::Tensor(&beyond))?;
        let key = merged_heads(self.key, &shapes, keys, width)?;
        let query = merged_heads(self.query, &shapes, queries, width)?;
        let of_query = operations::bmm(&of_scores, &key)?;
        let of_keys = operations::bmm(&transposed(&of_scores)?, &query)?;
        let scaled = |tensor: &Tensor| multiply(tensor, Operand::Number(scale));
        let bias = match self.mask.filter(|_| with_bias) {
            Some(bias) => Some(summed_to(&of_scores, &[batch, heads, queries, keys], bias)?),
            None => None,
        };
        Ok(AttentionGradients {
            query: reshape(scaled(&of_query)?.handle(), &[batch, heads, queries, width])?,
            key: self.split_heads(&scaled(&of_keys)?, &shapes, width)?,
            value: self.split_heads(&of_values, &shapes, value_width)?,
            bias,
        })
    }

    /// The weights of the values, from the scores and the logarithms of their sums. A score that does not count has none,
    /// also where a query meets no key.
    fn weights_again(&self, shapes: &Shapes, log_sums: TensorHandle) -> Result<Tensor> {
        let &Shapes { batch, heads, queries, .. } = shapes;
        let sizes = sizes_of(log_sums)?;
        let lines = match sizes[..] {
            [first, second, length] if (first, second) == (batch, heads) && length >= queries => {
                operations::narrow(log_sums, 2, 0, queries)?
            }
            [first, second, length, 1] if (first, second, length) == (batch, heads, queries) => {
                Tensor::retained(log_sums)?
            }
            _ => {
                return Err(Error::invalid_argument(format!(
                    "logsumexp has the sizes {sizes:?}; expected {batch} batches of {heads} heads of {queries} queries"
                )));
            }
        };
        let scores = self.scores(shapes)?;
        let lines = to_dtype(lines.handle(), dtype_of_tensor(scores.handle())?)?;
        let lines = reshape(lines.handle(), &[batch, heads, queries, 1])?;
        let less = binary(api::SCONCE_BINARY_SUB, &scores, Operand::Tensor(&lines))?;
        let weights = operations::unary(api::SCONCE_UNARY_EXP, &less)?;
        if self.mask.is_none() && !self.is_causal {
            return Ok(weights);
        }
        let never = Operand::Number(f64::NEG_INFINITY);
        let counts = binary(api::SCONCE_BINARY_NE, &scores, never)?;
        choose(&counts, Operand::Tensor(&weights), Operand::Number(0.0))
    }

    /// Gradients of keys or values, summed over the heads of the query that share a head of keys.
    fn split_heads(&self, merged: &Tensor, shapes: &Shapes, width: i64) -> Result<Tensor> {
        let &Shapes { batch, heads, keys, .. } = shapes;
        let has = sizes_of(self.key)?[1];
        if has == heads {
            return reshape(merged.handle(), &[batch, heads, keys, width]);
        }
        let groups = reshape(merged.handle(), &[batch, has, heads / has.max(1), keys, width])?;
        reshape(sum(&groups, &[2])?.handle(), &[batch, has, keys, width])
    }
}

/// Gradients of scores, summed where the bias was repeated.
fn summed_to(of_scores: &Tensor, whole: &[i64; 4], bias: TensorHandle) -> Result<Tensor> {
    let scores = reshape(of_scores.handle(), whole)?;
    let sizes = sizes_of(bias)?;
    let before = whole.len() - sizes.len();
    let repeated: Vec<i64> = (0..whole.len())
        .filter(|&dim| dim < before || sizes[dim - before] == 1 && whole[dim] != 1)
        .map(|dim| dim as i64)
        .collect();
    if repeated.is_empty() {
        return reshape(scores.handle(), &sizes);
    }
    reshape(sum(&scores, &repeated)?.handle(), &sizes)
}

/// A packed copy in the type of a tensor, with that tensor's order of dimensions in memory.
pub(super) fn like(gradient: &Tensor, tensor: TensorHandle) -> Result<Tensor> {
    let result = operations::empty_like(tensor, dtype_of_tensor(tensor)?)?;
    operations::copy(&result, gradient.handle())?;
    Ok(result)
}

/// A packed copy in a type, whose positions lie before the heads in memory.
fn positions_first(gradient: &Tensor, dtype: i32) -> Result<Tensor> {
    let typed = to_dtype(gradient.handle(), dtype)?;
    let swapped = transposed(&typed)?;
    transposed(&operations::contiguous(swapped.handle())?)
}

/// As [`positions_first`], of the gradient of a bias: its lines lie a multiple of 16 elements apart, as in PyTorch.
pub(super) fn with_padded_lines(gradient: &Tensor, like: TensorHandle) -> Result<Tensor> {
    let mut sizes = sizes_of(gradient.handle())?;
    let (dtype, device) = (dtype_of_tensor(like)?, device_of_tensor(like)?);
    let Some(last) = sizes.last_mut() else { return to_dtype(gradient.handle(), dtype) };
    let length = *last;
    *last = (length + 15) / 16 * 16;
    let padded = operations::empty(&sizes, &options(dtype, device))?;
    let result = operations::narrow(padded.handle(), -1, 0, length)?;
    operations::copy(&result, gradient.handle())?;
    Ok(result)
}
