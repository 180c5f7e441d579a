//! `_efficient_attention_forward` and its gradients. Tensors of several sequences have one batch.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::{LogSums, Sequences, behind};
use crate::abi::arguments::Out;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::attention::functions::{no_dropout, refuse_dropout, return_all};
use crate::fallbacks::attention::gradients::with_padded_lines;
use crate::fallbacks::attention::spans::{Limits, SpanArguments, Spans};
use crate::fallbacks::{Place, give_all};
use crate::operations::layout::sum_of;
use crate::sconce::operations::{self, copy, empty, empty_like, narrow, permute};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{options, real};
use crate::sconce::{Tensor, api};

/// What both directions get.
struct EfficientArguments {
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    bias: Option<TensorHandle>,
    cumulated: [Option<TensorHandle>; 2],
    /// How many keys each sequence has.
    counts: Option<TensorHandle>,
    /// The most queries and keys of a sequence.
    longest: [Option<i64>; 2],
    /// 0 is none, 1 causal attention whose first positions meet, 2 whose last ones do.
    mask_type: i64,
    window: Option<i64>,
    scale: Option<f64>,
}

impl EfficientArguments {
    fn sequences(&self) -> Result<Sequences> {
        for (name, tensor) in [("query", self.query), ("key", self.key), ("value", self.value)] {
            let found = rank_of(tensor)?;
            if found != 4 {
                return Err(Error::invalid_argument(format!(
                    "{name} has {found} dimensions; expected batch, positions, heads and width"
                )));
            }
        }
        if self.window.is_some_and(|window| window > 0) {
            return Err(Error::not_supported("window_size is not offered by Sconce"));
        }
        let (behind, ends_meet) = match self.mask_type {
            0 => (None, false),
            1 => (Some(0), false),
            2 => (Some(0), true),
            other => {
                return Err(Error::invalid_argument(format!(
                    "custom_mask_type is {other}; expected 0 (none), 1 (causal from the top left) or 2 (from the bottom \
                     right)"
                )));
            }
        };
        let [queries, keys] = self.cumulated;
        let longest = |length: Option<i64>, name: &str| match (queries, length) {
            (Some(_), None) => {
                Err(Error::invalid_argument(format!("{name} must be passed beside cu_seqlens_q")))
            }
            (_, length) => Ok(length.unwrap_or(0)),
        };
        let all_keys = sizes_of(self.key)?[1];
        let spans = Spans::of(&SpanArguments {
            names: ["cu_seqlens_q", "cu_seqlens_k", "seqlen_k", ""],
            tensors: [queries, keys, self.counts, None],
            most: [longest(self.longest[0], "max_seqlen_q")?, self.longest[1].unwrap_or(all_keys)],
            most_parts: u32::MAX,
            device: device_of_tensor(self.query)?,
        })?;
        let sequences = Sequences {
            query: Tensor::retained(self.query)?,
            key: Tensor::retained(self.key)?,
            value: Tensor::retained(self.value)?,
            bias: self.bias,
            spans,
            limits: Limits { before: None, behind, ends_meet },
            scale: self.scale,
        };
        sequences.check()?;
        Ok(sequences)
    }
}

abi_functions! {
    /// Returns attention, one element after another, the log sums if they are asked for, and the longest sequences.
    /// Lines of log sums are filled up to a multiple of 32.
    aoti_torch_cuda__efficient_attention_forward(
        query: TensorHandle, key: TensorHandle, value: TensorHandle, bias: Option<TensorHandle>,
        cu_seqlens_q: Option<TensorHandle>, cu_seqlens_k: Option<TensorHandle>,
        max_seqlen_q: Option<i64>, max_seqlen_k: Option<i64>, dropout_p: f64, custom_mask_type: i64,
        compute_log_sumexp: bool, scale: Option<f64>, seqlen_k: Option<TensorHandle>,
        window_size: Option<i64>, ret0: Place, ret1: Place, ret2: Place, ret3: Place,
        ret4: Out<i64>, ret5: Out<i64>,
    ) {
        refuse_dropout(dropout_p)?;
        let longest = [max_seqlen_q, max_seqlen_k];
        let arguments = EfficientArguments {
            query,
            key,
            value,
            bias: behind(bias)?,
            cumulated: [behind(cu_seqlens_q)?, behind(cu_seqlens_k)?],
            counts: behind(seqlen_k)?,
            longest,
            mask_type: custom_mask_type,
            window: window_size,
            scale,
        };
        let with_log_sums = compute_log_sumexp && !ret1.is_none();
        let forward = forward(&arguments, with_log_sums)?;
        let [seed, offset] = no_dropout(query)?;
        let keys = longest[1].unwrap_or(sizes_of(key)?[1]);
        let results = [
            (ret0, "ret0", forward.output),
            (ret1, "ret1", forward.log_sums),
            (ret2, "ret2", seed),
            (ret3, "ret3", offset),
        ];
        return_all(results)?;
        for (place, length) in [(ret4, forward.longest), (ret5, keys)] {
            place.write_if_wanted(length);
        }
        Ok(())
    }
}

struct Forward {
    output: Tensor,
    log_sums: Tensor,
    /// The most queries of a sequence.
    longest: i64,
}

fn forward(arguments: &EfficientArguments, with_log_sums: bool) -> Result<Forward> {
    let sequences = arguments.sequences()?;
    let (mut sizes, dtype) = (sizes_of(arguments.query)?, dtype_of_tensor(arguments.query)?);
    let device = device_of_tensor(arguments.query)?;
    let (mut batch, mut longest, heads) = (sizes[0], sizes[1], sizes[2]);
    if let Some(spans) = &sequences.spans {
        (batch, longest) = (spans.count, spans.most_queries);
    }
    sizes[3] = sizes_of(arguments.value)?[3];
    let output = empty(&sizes, &options(dtype, device))?;
    let filled = sum_of(longest, 31, "max_seqlen_q")? / 32 * 32;
    let length = if with_log_sums { filled } else { 0 };
    let single = options(api::SCONCE_DTYPE_F32, device);
    let log_sums = operations::full(&[batch, heads, length], &real(f64::INFINITY), &single)?;
    let wanted = if with_log_sums { LogSums::OfSequences(&log_sums) } else { LogSums::None };
    if sequences.attend_in_one_kernel(&output, wanted)? {
        return Ok(Forward { output, log_sums, longest });
    }
    sequences.attend(&output, with_log_sums, |index, part, found| {
        let [_, length] = part.spans[0];
        if length > longest {
            return Err(Error::invalid_argument(format!(
                "max_seqlen_q is {longest}, but a sequence has {length} queries"
            )));
        }
        let mut place = Tensor::retained(log_sums.handle())?;
        if sequences.spans.is_some() {
            place = narrow(place.handle(), 0, index as i64, 1)?;
        }
        copy(&narrow(place.handle(), 2, 0, length)?, found.handle())
    })?;
    Ok(Forward { output, log_sums, longest })
}

abi_functions! {
    /// Returns the gradients of query, keys and values, each in the order of what it is of, and that of the bias if it
    /// is wanted. With `shared_storage_dqdkdv` the first three are parts of one tensor.
    aoti_torch_cuda__efficient_attention_backward(
        grad_out as grad_out_: TensorHandle, query: TensorHandle, key: TensorHandle, value: TensorHandle,
        bias: Option<TensorHandle>, out: TensorHandle, cu_seqlens_q: Option<TensorHandle>,
        cu_seqlens_k: Option<TensorHandle>, max_seqlen_q: i64, max_seqlen_k: i64, logsumexp: TensorHandle,
        dropout_p: f64, _philox_seed: TensorHandle, _philox_offset: TensorHandle, custom_mask_type: i64,
        bias_requires_grad: bool, scale: Option<f64>, _num_splits_key: Option<i64>, window_size: Option<i64>,
        shared_storage_dqdkdv: bool, ret0: Place, ret1: Place, ret2: Place, ret3: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let bias = behind(bias)?;
        let arguments = EfficientArguments {
            query,
            key,
            value,
            bias,
            cumulated: [behind(cu_seqlens_q)?, behind(cu_seqlens_k)?],
            counts: None,
            longest: [max_seqlen_q, max_seqlen_k].map(Some),
            mask_type: custom_mask_type,
            window: window_size,
            scale,
        };
        let sequences = arguments.sequences()?;
        let places = places(&arguments, shared_storage_dqdkdv)?;
        let is_cut = sequences.spans.is_some();
        let lines = |index: usize, _, length| {
            let of_batch = match is_cut {
                true => narrow(logsumexp, 0, index as i64, 1)?,
                false => Tensor::retained(logsumexp)?,
            };
            narrow(of_batch.handle(), 2, 0, length)
        };
        let (gradient, output) = (Tensor::retained(grad_out)?, Tensor::retained(out)?);
        let [of_query, of_key, of_value] = &places;
        let found = sequences.gradients(
            [&gradient, &output],
            lines,
            [of_query, of_key, of_value],
            bias_requires_grad,
        )?;
        let of_bias = match (found, bias) {
            (Some(found), Some(bias)) => with_padded_lines(&found, bias)?,
            _ => operations::undefined()?,
        };
        let [of_query, of_key, of_value] = places;
        let results = [
            (ret0, "ret0", of_query),
            (ret1, "ret1", of_key),
            (ret2, "ret2", of_value),
            (ret3, "ret3", of_bias),
        ];
        give_all(results)
    }
}

/// Tensors for the gradients of query, keys and values.
fn places(arguments: &EfficientArguments, is_shared: bool) -> Result<[Tensor; 3]> {
    let all = [arguments.query, arguments.key, arguments.value];
    if !is_shared {
        let [query, key, value] = all.map(|tensor| empty_like(tensor, dtype_of_tensor(tensor)?));
        return Ok([query?, key?, value?]);
    }
    let sizes = sizes_of(arguments.query)?;
    for tensor in all {
        let found = sizes_of(tensor)?;
        if found != sizes {
            return Err(Error::invalid_argument(format!(
                "gradients that share memory need tensors of the same sizes, but these are {sizes:?} and {found:?}"
            )));
        }
    }
    let (dtype, device) = (dtype_of_tensor(arguments.query)?, device_of_tensor(arguments.query)?);
    let [batch, positions, heads, width] = [sizes[0], sizes[1], sizes[2], sizes[3]];
    let chunk = empty(&[batch, positions, 3, heads, width], &options(dtype, device))?;
    let apart = permute(chunk.handle(), &[2, 0, 1, 3, 4])?;
    let place = |at| {
        let part = narrow(apart.handle(), 0, at, 1)?;
        operations::squeeze(part.handle(), 0)
    };
    Ok([place(0)?, place(1)?, place(2)?])
}
