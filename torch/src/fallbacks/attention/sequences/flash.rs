//! Flash attention. Tensors of several sequences have no batch, and keys may lie in pages.

use super::{LogSums, Sequences, in_batch};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::attention::spans::{Limits, SpanArguments, Spans};
use crate::sconce::operations::{copy, empty, empty_like, narrow, reshape};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// What both directions get.
pub struct FlashArguments {
    /// Positions, heads, width, behind the batch if there are no cumulated lengths.
    pub query: TensorHandle,
    /// As `query`; pages, positions, heads, width if there are pages.
    pub key: TensorHandle,
    /// As `key`.
    pub value: TensorHandle,
    /// Where sequences of queries and of keys begin.
    pub cumulated: [Option<TensorHandle>; 2],
    /// How many keys each sequence has.
    pub counts: Option<TensorHandle>,
    /// The pages of each sequence.
    pub pages: Option<TensorHandle>,
    /// The most queries and keys of a sequence.
    pub most: [i64; 2],
    /// How many blocks may share the keys of a sequence; nothing or 0 leaves that to this library.
    pub splits: Option<i64>,
    /// Whether a query meets no keys behind it.
    pub is_causal: bool,
    /// How far before and behind a query the keys are that it meets; -1 is no limit.
    pub window: [Option<i64>; 2],
    /// What scores are multiplied by.
    pub scale: Option<f64>,
}

impl FlashArguments {
    pub(super) fn sequences(&self) -> Result<Sequences> {
        let [queries, keys] = self.cumulated;
        let spans = Spans::of(&SpanArguments {
            names: ["cum_seq_q", "cum_seq_k", "seqused_k", "block_table"],
            tensors: [queries, keys, self.counts, self.pages],
            most: self.most,
            most_parts: match self.splits {
                Some(splits) if splits > 0 => u32::try_from(splits).unwrap_or(u32::MAX),
                _ => u32::MAX,
            },
            device: device_of_tensor(self.query)?,
        })?;
        let (rank, of_keys) = match &spans {
            Some(spans) if spans.pages.is_some() => (3, 4),
            Some(_) => (3, 3),
            None => (4, 4),
        };
        for (name, tensor, rank) in [
            ("query", self.query, rank),
            ("key", self.key, of_keys),
            ("value", self.value, of_keys),
        ] {
            let found = rank_of(tensor)?;
            if found != rank {
                return Err(Error::invalid_argument(format!(
                    "{name} has {found} dimensions; expected {rank}: positions, heads and width, behind the batch if \
                     there are no cumulated lengths, or behind the pages of keys and values"
                )));
            }
        }
        let [before, behind] = self.window.map(|limit| limit.filter(|limit| *limit >= 0));
        let behind = if self.is_causal { Some(0) } else { behind };
        let sequences = Sequences {
            query: in_batch(self.query)?,
            key: in_batch(self.key)?,
            value: in_batch(self.value)?,
            bias: None,
            spans,
            limits: Limits { before, behind, ends_meet: true },
            scale: self.scale,
        };
        sequences.check()?;
        Ok(sequences)
    }

    /// Calculates attention into `output`, or a new tensor in the order of the query, and returns it and the log sums:
    /// batch, heads, positions, or of several sequences heads, positions.
    pub fn forward(&self, output: Option<Tensor>, with_log_sums: bool) -> Result<(Tensor, Tensor)> {
        let sequences = self.sequences()?;
        let dtype = dtype_of_tensor(self.query)?;
        let mut result_sizes = sizes_of(self.query)?;
        if let (Some(width), Some(&own)) = (result_sizes.last_mut(), sizes_of(self.value)?.last()) {
            *width = own;
        }
        let device = device_of_tensor(self.query)?;
        let output = match output {
            Some(output) => {
                let found = (sizes_of(output.handle())?, dtype_of_tensor(output.handle())?);
                if found != (result_sizes.clone(), dtype) {
                    return Err(Error::invalid_argument(format!(
                        "out has the sizes {:?}; expected {result_sizes:?}, in the type of query",
                        found.0
                    )));
                }
                output
            }
            None if result_sizes == sizes_of(self.query)? => empty_like(self.query, dtype)?,
            None => empty(&result_sizes, &options(dtype, device))?,
        };
        let sizes = sizes_of(sequences.query.handle())?;
        let (positions, heads) = (sizes[1], sizes[2]);
        let lines = match sequences.spans {
            Some(_) => vec![heads, positions],
            None => vec![sizes[0], heads, positions],
        };
        let log_sums = empty(&lines, &options(api::SCONCE_DTYPE_F32, device))?;
        let whole = in_batch(output.handle())?;
        let wanted = if with_log_sums { LogSums::OfPositions(&log_sums) } else { LogSums::None };
        if sequences.attend_in_one_kernel(&whole, wanted)? {
            return Ok((output, log_sums));
        }
        sequences.attend(&whole, with_log_sums, |_, part, found| {
            let [begin, length] = part.spans[0];
            let dim = lines.len() as i64 - 1;
            let lines = reshape(found.handle(), &[&lines[..lines.len() - 1], &[length]].concat())?;
            copy(&narrow(log_sums.handle(), dim, begin, length)?, lines.handle())
        })?;
        Ok((output, log_sums))
    }
}
