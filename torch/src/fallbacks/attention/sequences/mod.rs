//! The functions of the ABI that return attention, or its gradients, of tensors whose positions come before the heads.
//! Sequences of several lengths lie one after another and have attention of their own.

pub mod efficient;
pub mod flash;
pub mod flash_backward;
pub mod flash_forward;
pub mod varlen;

use super::fused::sequences::{LogSums, Sequenced};
use super::gradients::Returned;
use super::spans::{Limits, SequenceSpan, Spans, present};
use super::{Attention, scale_or_default};
use crate::abi::tensors::{device_of_tensor, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::sconce::Tensor;
use crate::sconce::operations::{self, fill, narrow, transpose, unsqueeze};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::real;

/// Query, keys and values of all sequences: batch, positions, heads, width. Sequences of several lengths have one batch,
/// or pages in its place.
struct Sequences {
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Option<TensorHandle>,
    /// `None` is one sequence in each batch.
    spans: Option<Spans>,
    limits: Limits,
    scale: Option<f64>,
}

/// One attention: tensors whose heads come before the positions, which are parts of those of all sequences.
struct Part {
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Option<Tensor>,
    is_causal: bool,
    /// Where the queries and keys lie.
    spans: [SequenceSpan; 2],
}

/// A part of the positions, behind the heads.
fn part_of(tensor: TensorHandle, [begin, length]: SequenceSpan) -> Result<Tensor> {
    transpose(narrow(tensor, 1, begin, length)?.handle(), 1, 2)
}

/// The tensor with a dimension for the batch.
fn in_batch(tensor: TensorHandle) -> Result<Tensor> {
    match rank_of(tensor)? {
        3 => unsqueeze(tensor, 0),
        _ => Tensor::retained(tensor),
    }
}

impl Sequences {
    /// The attention of each sequence, or that of all if each batch has one.
    fn parts(&self) -> Result<Vec<Part>> {
        let query = self.query.handle();
        let whole = |tensor: &Tensor| Ok::<SequenceSpan, Error>([0, sizes_of(tensor.handle())?[1]]);
        let (spans, key, value) = match &self.spans {
            Some(spans) => {
                let read = spans.read(sizes_of(self.key.handle())?[1])?;
                let [key, value] =
                    [&self.key, &self.value].map(|one| spans.in_order(one.handle(), &read));
                (read, key?, value?)
            }
            None => {
                let [key, value] =
                    [&self.key, &self.value].map(|one| Tensor::retained(one.handle()));
                (vec![[whole(&self.query)?, whole(&self.key)?]], key?, value?)
            }
        };
        if self.spans.is_some() && self.bias.is_some() {
            return Err(Error::not_supported(
                "a bias of sequences of several lengths is not offered by Sconce",
            ));
        }
        let device = device_of_tensor(query)?;
        let part = |[queries, keys]: [SequenceSpan; 2]| {
            let is_causal = self.limits.is_causal(queries[1], keys[1]);
            let limits = if is_causal { Limits::default() } else { self.limits };
            Ok::<Part, Error>(Part {
                query: part_of(query, queries)?,
                key: part_of(key.handle(), keys)?,
                value: part_of(value.handle(), keys)?,
                mask: limits.mask(self.bias, [queries[1], keys[1]], device)?,
                is_causal,
                spans: [queries, keys],
            })
        };
        spans.into_iter().map(part).collect()
    }

    /// Calculates attention of sequences of several lengths into `output` with one kernel, so that nobody waits for the
    /// device to learn the lengths. `false` if there is none for them; nothing is queued then.
    fn attend_in_one_kernel(&self, output: &Tensor, log_sums: LogSums<'_>) -> Result<bool> {
        let Some(spans) = self.spans.as_ref().filter(|_| self.bias.is_none()) else {
            return Ok(false);
        };
        let without_batch = |tensor: &Tensor| operations::squeeze(tensor.handle(), 0);
        let [key, value] = match spans.pages {
            Some(_) => [&self.key, &self.value].map(|one| Tensor::retained(one.handle())),
            None => [&self.key, &self.value].map(without_batch),
        };
        let (query, output) = (without_batch(&self.query)?, without_batch(output)?);
        let width = sizes_of(query.handle())?[2];
        let sequenced = Sequenced {
            query: &query,
            key: &key?,
            value: &value?,
            output: &output,
            log_sums,
            spans,
            limits: self.limits,
            scale: scale_or_default(self.scale, width),
        };
        sequenced.attend()
    }

    /// Fails unless the sizes of query, keys and values fit.
    fn check(&self) -> Result<()> {
        let [query, key, value] =
            [&self.query, &self.key, &self.value].map(|one| sizes_of(one.handle()));
        let (query, key, value) = (query?, key?, value?);
        let is_batch = |sizes: &[i64]| match self.spans {
            Some(_) => sizes[0] == 1,
            None => sizes[0] == query[0],
        };
        let has_pages = self.spans.as_ref().is_some_and(|spans| spans.pages.is_some());
        let fits = is_batch(&query)
            && (has_pages || is_batch(&key))
            && key[..3] == value[..3]
            && key[3] == query[3]
            && (key[2] == query[2] || key[2] > 0 && query[2] % key[2] == 0);
        if fits {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "query, key and value have the sizes {query:?}, {key:?} and {value:?}; expected as many values as keys, one \
             width of queries and keys, and heads of the query that are a multiple of those of the keys"
        )))
    }

    fn attention(&self, part: &Part) -> Attention {
        Attention {
            query: part.query.handle(),
            key: part.key.handle(),
            value: part.value.handle(),
            mask: part.mask.as_ref().map(Tensor::handle),
            is_causal: part.is_causal,
            scale: self.scale,
        }
    }

    /// Calculates attention into `output`, which has the sizes of the result, and calls `keep` with the log sums of
    /// each sequence, if they are wanted.
    fn attend(
        &self,
        output: &Tensor,
        with_log_sums: bool,
        mut keep: impl FnMut(usize, &Part, &Tensor) -> Result<()>,
    ) -> Result<()> {
        for (index, part) in self.parts()?.iter().enumerate() {
            let attention = self.attention(part);
            let place = part_of(output.handle(), part.spans[0])?;
            if let Some(log_sums) = attention.run_into(&place, with_log_sums)? {
                keep(index, part, &log_sums)?;
            }
        }
        Ok(())
    }

    /// Writes gradients of query, keys and values into tensors of their sizes, and returns that of the bias. `log_sums`
    /// finds those of a sequence by its number, first query and number of queries.
    fn gradients(
        &self,
        [gradient, output]: [&Tensor; 2],
        log_sums: impl Fn(usize, i64, i64) -> Result<Tensor>,
        [of_query, of_key, of_value]: [&Tensor; 3],
        with_bias: bool,
    ) -> Result<Option<Tensor>> {
        let mut bias = None;
        for (index, part) in self.parts()?.iter().enumerate() {
            let [queries, keys] = part.spans;
            if queries[1] == 0 || keys[1] == 0 {
                for (place, span) in [(of_query, queries), (of_key, keys), (of_value, keys)] {
                    fill(part_of(place.handle(), span)?.handle(), &real(0.0))?;
                }
                continue;
            }
            let gradient = part_of(gradient.handle(), queries)?;
            let output = part_of(output.handle(), queries)?;
            let lines = log_sums(index, queries[0], queries[1])?;
            let returned = Returned {
                gradient: gradient.handle(),
                output: output.handle(),
                log_sums: lines.handle(),
            };
            let attention = self.attention(part);
            let found = attention.gradients(&returned, with_bias && self.bias.is_some())?;
            operations::copy(&part_of(of_query.handle(), queries)?, found.query.handle())?;
            operations::copy(&part_of(of_key.handle(), keys)?, found.key.handle())?;
            operations::copy(&part_of(of_value.handle(), keys)?, found.value.handle())?;
            bias = found.bias;
        }
        Ok(bias)
    }
}

/// The tensor of an argument, unless that stands for none.
fn behind(tensor: Option<TensorHandle>) -> Result<Option<TensorHandle>> {
    tensor.map_or(Ok(None), present)
}
