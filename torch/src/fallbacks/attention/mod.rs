//! Scaled dot product attention, in float32 for the 16-bit types: one kernel on a GPU (`fused`), else products and
//! softmax.
//!
//! | file | idea |
//! |---|---|
//! | `functions` | functions of the ABI that return attention |
//! | `backward` | those that return its gradients |
//! | `gradients` | gradients as products |
//! | `sequences` | functions of the ABI whose positions come before the heads, also of sequences of several lengths |
//! | `spans` | where sequences lie, and which positions meet |
//! | `flexible` | C++ functions that generated code of flexible attention calls |
//! | `fused` | one kernel: a folder |
//! | `softmax` | weights on the CPU |

#![allow(unsafe_code, reason = "its files launch kernels and are called by C")]

pub mod backward;
pub mod flexible;
pub mod functions;
mod fused;
mod gradients;
pub mod sequences;
mod softmax;
mod spans;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::sconce::operations::{self, Operand};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{options, real};
use crate::sconce::{Tensor, api};

/// What a query, its keys and its values are, and how they meet. All have 4 dimensions: batch, heads, positions, and
/// numbers of a position.
#[derive(Clone, Copy)]
struct Attention {
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    /// Added to the scores, repeated as needed; of BOOL it says which scores count.
    mask: Option<TensorHandle>,
    /// Whether a position meets those up to its own only.
    is_causal: bool,
    /// `None` is 1 / sqrt(numbers of a position).
    scale: Option<f64>,
}

/// The order of the result's dimensions in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultOrder {
    /// Batch, positions, heads, width.
    PositionsFirst,
    /// That of the query.
    OfQuery,
}

/// The result, and the logarithms of the sums of exponentials, for a backward pass.
struct Attended {
    output: Tensor,
    log_sums: Option<Tensor>,
    shapes: Shapes,
}

/// The sizes of query, keys and values.
struct Shapes {
    batch: i64,
    heads: i64,
    queries: i64,
    keys: i64,
    width: i64,
    value_width: i64,
}

impl Attention {
    fn shapes(&self) -> Result<Shapes> {
        let [query, key, value] = [self.query, self.key, self.value].map(sizes_of);
        let (query, key, value) = (query?, key?, value?);
        match (query.as_slice(), key.as_slice(), value.as_slice()) {
            (
                &[batch, heads, queries, width],
                &[key_batch, key_heads, keys, key_width],
                &[value_batch, value_heads, values, value_width],
            ) if (key_batch, value_batch) == (batch, batch)
                && key_heads == value_heads
                && (key_heads == heads || key_heads > 0 && heads % key_heads == 0)
                && (key_width, values) == (width, keys) =>
            {
                self.check_mask([batch, heads, queries, keys])?;
                Ok(Shapes { batch, heads, queries, keys, width, value_width })
            }
            _ => Err(Error::invalid_argument(format!(
                "query, key and value have the sizes {query:?}, {key:?} and {value:?}; expected 4 dimensions each \
                 (batch, heads, positions, width), one batch, as many values as keys, and heads of the query that \
                 are a multiple of those of the keys"
            ))),
        }
    }

    /// Refuses a mask that is not repeated to the sizes of the scores.
    fn check_mask(&self, scores: [i64; 4]) -> Result<()> {
        let Some(mask) = self.mask else { return Ok(()) };
        let sizes = sizes_of(mask)?;
        let mut pairs = sizes.iter().rev().zip(scores.iter().rev());
        if sizes.len() <= scores.len() && pairs.all(|(own, whole)| *own == 1 || own == whole) {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "the mask or bias has the sizes {sizes:?}; expected sizes that are repeated to {scores:?} (batch, heads, \
             queries, keys)"
        )))
    }

    /// What scores are multiplied by, for positions of so many numbers.
    fn scale_of(&self, width: i64) -> f64 {
        scale_or_default(self.scale, width)
    }

    /// Calculates it.
    fn run(&self, order: ResultOrder, with_log_sums: bool) -> Result<Attended> {
        let shapes = self.shapes()?;
        let Shapes { batch, heads, queries, value_width, .. } = shapes;
        let output = self.output([batch, heads, queries, value_width], order)?;
        let log_sums = self.run_into(&output, with_log_sums)?;
        Ok(Attended { output, log_sums, shapes })
    }

    /// Calculates it into a tensor whose elements of a position lie side by side, and returns the log sums if they are
    /// asked for and there are any.
    fn run_into(&self, output: &Tensor, with_log_sums: bool) -> Result<Option<Tensor>> {
        let shapes = self.shapes()?;
        let dtype = dtype_of_tensor(self.query)?;
        for (name, tensor) in [("key", self.key), ("value", self.value)] {
            if dtype_of_tensor(tensor)? != dtype {
                return Err(Error::invalid_argument(format!("{name} has another type than query")));
            }
        }
        let Shapes { batch, heads, queries, keys, value_width, .. } = shapes;
        if batch * heads * queries * value_width == 0 {
            return Ok(None);
        }
        let options = options(api::SCONCE_DTYPE_F32, device_of_tensor(self.query)?);
        let lines = [batch, heads, queries];
        if keys == 0 {
            operations::fill(output.handle(), &real(0.0))?;
            let none = || operations::full(&lines, &real(f64::INFINITY), &options);
            return with_log_sums.then(none).transpose();
        }
        let log_sums = with_log_sums.then(|| operations::empty(&lines, &options)).transpose()?;
        if fused::attend(self, &shapes, output, log_sums.as_ref())? {
            return Ok(log_sums);
        }
        self.by_products(&shapes, output, with_log_sums)
    }

    /// Calculates the result into `output` as products and softmax, and returns the log sums if they are asked for.
    fn by_products(
        &self,
        shapes: &Shapes,
        output: &Tensor,
        with_log_sums: bool,
    ) -> Result<Option<Tensor>> {
        let &Shapes { batch, heads, queries, keys, value_width, .. } = shapes;
        let scores = self.scores(shapes)?;
        let (weights, log_sums) = if device_of_tensor(self.query)? == api::SCONCE_DEVICE_CPU {
            let scores = operations::contiguous(scores.handle())?;
            let log_sums = softmax::in_place(&scores)?;
            (scores, with_log_sums.then_some(log_sums))
        } else {
            let log_sums = with_log_sums.then(|| log_sums_of(&scores)).transpose()?;
            (self.weights(&scores)?, log_sums)
        };
        let weights = operations::reshape(weights.handle(), &[batch * heads, queries, keys])?;
        let values = merged_heads(self.value, shapes, keys, value_width)?;
        let attended = operations::bmm(&weights, &values)?;
        let split = [batch, heads, queries, value_width];
        operations::copy(output, operations::reshape(attended.handle(), &split)?.handle())?;
        Ok(log_sums)
    }

    /// A packed tensor for the result.
    fn output(&self, sizes: [i64; 4], order: ResultOrder) -> Result<Tensor> {
        let mut dims = [0, 2, 1, 3];
        if order == ResultOrder::OfQuery {
            let (strides, own) = (strides_of(self.query)?, sizes_of(self.query)?);
            if own == sizes {
                return operations::empty_like(self.query, dtype_of_tensor(self.query)?);
            }
            dims = [0, 1, 2, 3];
            // Where there is one index, the stride says nothing.
            dims.sort_by_key(|&dim| Reverse(if own[dim] == 1 { i64::MAX } else { strides[dim] }));
        }
        let mut strides = [0; 4];
        let mut next = 1;
        for dim in dims.into_iter().rev() {
            strides[dim] = next;
            next *= sizes[dim].max(1);
        }
        let options = options(dtype_of_tensor(self.query)?, device_of_tensor(self.query)?);
        operations::empty_strided(&sizes, &strides, &options)
    }

    /// Products of queries and keys, scaled and masked: batch, heads, queries, keys.
    fn scores(&self, shapes: &Shapes) -> Result<Tensor> {
        let &Shapes { batch, heads, queries, keys, width, .. } = shapes;
        let scale = self.scale_of(width);
        let query = merged_heads(self.query, shapes, queries, width)?;
        let query = operations::binary(api::SCONCE_BINARY_MUL, &query, Operand::Number(scale))?;
        let key = merged_heads(self.key, shapes, keys, width)?;
        let products = operations::bmm(&query, &operations::transpose(key.handle(), 1, 2)?)?;
        let mut scores = operations::reshape(products.handle(), &[batch, heads, queries, keys])?;
        if let Some(mask) = self.mask {
            scores = if dtype_of_tensor(mask)? == api::SCONCE_DTYPE_BOOL {
                let never = Operand::Number(f64::NEG_INFINITY);
                operations::choose(&Tensor::retained(mask)?, Operand::Tensor(&scores), never)?
            } else {
                let mask = operations::to_dtype(mask, dtype_of_tensor(scores.handle())?)?;
                operations::binary(api::SCONCE_BINARY_ADD, &scores, Operand::Tensor(&mask))?
            };
        }
        if self.is_causal {
            let options = options(api::SCONCE_DTYPE_I64, device_of_tensor(self.query)?);
            let positions = |count| operations::arange(0, count, 1, &options);
            let column = operations::unsqueeze(positions(queries)?.handle(), 1)?;
            let across = positions(keys)?;
            let not_behind = api::SCONCE_BINARY_GE;
            let meets = operations::binary(not_behind, &column, Operand::Tensor(&across))?;
            let never = Operand::Number(f64::NEG_INFINITY);
            scores = operations::choose(&meets, Operand::Tensor(&scores), never)?;
        }
        Ok(scores)
    }

    /// The softmax of the scores. A query that meets no key has weights of 0.
    fn weights(&self, scores: &Tensor) -> Result<Tensor> {
        let softmax = api::SCONCE_LINE_SOFTMAX;
        let weights = operations::along(softmax, scores.handle(), -1, api::SCONCE_DTYPE_DEFAULT)?;
        if self.mask.is_none() {
            return Ok(weights);
        }
        let largest = operations::reduce_last(api::SCONCE_REDUCE_AMAX, scores)?;
        let never = Operand::Number(f64::NEG_INFINITY);
        let meets = operations::binary(api::SCONCE_BINARY_NE, &largest, never)?;
        operations::choose(&meets, Operand::Tensor(&weights), Operand::Number(0.0))
    }
}

/// What scores are multiplied by, for positions of so many numbers: what the caller says, or else 1 / sqrt(numbers).
fn scale_or_default(scale: Option<f64>, width: i64) -> f64 {
    scale.unwrap_or(1.0 / (width as f64).sqrt())
}

/// Batches and heads as one dimension, in float32 if the type has 16 bits. Heads are repeated to those of the query.
fn merged_heads(
    tensor: TensorHandle,
    shapes: &Shapes,
    positions: i64,
    width: i64,
) -> Result<Tensor> {
    let wide = operations::widened(tensor)?;
    let has = sizes_of(tensor)?[1];
    let merged = [shapes.batch * shapes.heads, positions, width];
    if has == shapes.heads {
        return operations::reshape(wide.handle(), &merged);
    }
    let repeated = [shapes.batch, has, shapes.heads / has, positions, width];
    let groups = operations::unsqueeze(wide.handle(), 2)?;
    operations::reshape(operations::expand(groups.handle(), &repeated)?.handle(), &merged)
}

/// The logarithm of the sum of exponentials of each line; 0 of a line without any, as in PyTorch.
fn log_sums_of(scores: &Tensor) -> Result<Tensor> {
    let largest = operations::reduce_last(api::SCONCE_REDUCE_AMAX, scores)?;
    let less = operations::binary(api::SCONCE_BINARY_SUB, scores, Operand::Tensor(&largest))?;
    let powers = operations::unary(api::SCONCE_UNARY_EXP, &less)?;
    let sums = operations::reduce_last(api::SCONCE_REDUCE_SUM, &powers)?;
    let logs = operations::unary(api::SCONCE_UNARY_LOG, &sums)?;
    let lines = operations::binary(api::SCONCE_BINARY_ADD, &logs, Operand::Tensor(&largest))?;
    let never = Operand::Number(f64::NEG_INFINITY);
    let has_any = operations::binary(api::SCONCE_BINARY_NE, &largest, never)?;
    let lines = operations::choose(&has_any, Operand::Tensor(&lines), Operand::Number(0.0))?;
    let sizes = sizes_of(lines.handle())?;
    operations::reshape(lines.handle(), &sizes[..sizes.len() - 1])
}
