//! `_flash_attention_forward` and its gradients. Tensors of several sequences have no batch.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::{Sequences, behind, in_batch};
use crate::abi::arguments::optional;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::attention::functions::{refuse_dropout, return_all};
use crate::fallbacks::attention::spans::{Limits, present, spans};
use crate::fallbacks::{give_all, operation};
use crate::sconce::operations::{copy, empty, empty_like, narrow, reshape, unsqueeze};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// What both directions get.
struct FlashArguments {
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    cumulated: [Option<TensorHandle>; 2],
    is_causal: bool,
    /// How far before and behind a query the keys are that it meets; -1 is no limit.
    window: [Option<i64>; 2],
    scale: Option<f64>,
}

impl FlashArguments {
    fn sequences(&self) -> Result<Sequences> {
        let spans = match self.cumulated {
            [Some(queries), Some(keys)] => Some(spans(queries, keys)?),
            [None, None] => None,
            _ => {
                return Err(Error::invalid_argument(
                    "cum_seq_q and cum_seq_k must both be there, or neither",
                ));
            }
        };
        let rank = if spans.is_some() { 3 } else { 4 };
        for (name, tensor) in [("query", self.query), ("key", self.key), ("value", self.value)] {
            let found = rank_of(tensor)?;
            if found != rank {
                return Err(Error::invalid_argument(format!(
                    "{name} has {found} dimensions; expected {rank}: positions, heads and width, behind the batch if \
                     there are no cumulated lengths"
                )));
            }
        }
        let [before, behind] = self.window.map(|limit| limit.filter(|limit| *limit >= 0));
        let behind = if self.is_causal { Some(0) } else { behind };
        Ok(Sequences {
            query: in_batch(self.query)?,
            key: in_batch(self.key)?,
            value: in_batch(self.value)?,
            bias: None,
            spans,
            limits: Limits { before, behind, ends_meet: true },
            scale: self.scale,
        })
    }
}

/// Returns attention in the order of the query, and the log sums: batch, heads, positions, or of several sequences heads,
/// positions.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__flash_attention_forward(
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    cum_seq_q: *const TensorHandle,
    cum_seq_k: *const TensorHandle,
    _max_q: i64,
    _max_k: i64,
    dropout_p: f64,
    is_causal: i32,
    _return_debug_mask: i32,
    scale: *const f64,
    window_size_left: *const i64,
    window_size_right: *const i64,
    seqused_k: *const TensorHandle,
    alibi_slopes: *const TensorHandle,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
    ret3: *mut TensorHandle,
    ret4: *mut TensorHandle,
) -> i32 {
    operation("_flash_attention_forward", || {
        refuse_dropout(dropout_p)?;
        for (name, pointer) in [("seqused_k", seqused_k), ("alibi_slopes", alibi_slopes)] {
            // SAFETY: the caller's promise.
            if unsafe { behind(pointer) }?.is_some() {
                return Err(Error::not_supported(format!("{name} is not offered by Sconce")));
            }
        }
        // SAFETY: the caller's promise.
        let [queries, keys] = [cum_seq_q, cum_seq_k].map(|one| unsafe { behind(one) });
        // SAFETY: as above.
        let window = [window_size_left, window_size_right].map(|limit| unsafe { optional(limit) });
        // SAFETY: as above.
        let scale = unsafe { optional(scale) };
        let arguments = FlashArguments {
            query,
            key,
            value,
            cumulated: [queries?, keys?],
            is_causal: is_causal != 0,
            window,
            scale,
        };
        let (output, log_sums) = forward(&arguments, !ret1.is_null())?;
        let device = device_of_tensor(query)?;
        let state = |sizes: &[i64], dtype| empty(sizes, &options(dtype, device));
        let results = [
            (ret0, "ret0", output),
            (ret1, "ret1", log_sums),
            (ret2, "ret2", state(&[2], api::SCONCE_DTYPE_U64)?),
            (ret3, "ret3", state(&[], api::SCONCE_DTYPE_U64)?),
            (ret4, "ret4", state(&[0], dtype_of_tensor(query)?)?),
        ];
        // SAFETY: the caller's promise.
        unsafe { return_all(results) }
    })
}

fn forward(arguments: &FlashArguments, with_log_sums: bool) -> Result<(Tensor, Tensor)> {
    let sequences = arguments.sequences()?;
    let sizes = sizes_of(sequences.query.handle())?;
    let (positions, heads) = (sizes[1], sizes[2]);
    let is_cut = sequences.spans.is_some();
    let lines = if is_cut { vec![heads, positions] } else { vec![sizes[0], heads, positions] };
    let device = device_of_tensor(arguments.query)?;
    let log_sums = empty(&lines, &options(api::SCONCE_DTYPE_F32, device))?;
    let output = empty_like(arguments.query, dtype_of_tensor(arguments.query)?)?;
    let whole = in_batch(output.handle())?;
    sequences.attend(&whole, with_log_sums, |_, part, found| {
        let [begin, length] = part.spans[0];
        let dim = lines.len() as i64 - 1;
        let lines = reshape(found.handle(), &[&lines[..lines.len() - 1], &[length]].concat())?;
        copy(&narrow(log_sums.handle(), dim, begin, length)?, lines.handle())
    })?;
    Ok((output, log_sums))
}

/// Returns the gradients of query, keys and values, each in the order of what it is of.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__flash_attention_backward(
    grad_out: TensorHandle,
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    out: TensorHandle,
    logsumexp: TensorHandle,
    cum_seq_q: TensorHandle,
    cum_seq_k: TensorHandle,
    _max_q: i64,
    _max_k: i64,
    dropout_p: f64,
    is_causal: i32,
    _rng_state: TensorHandle,
    _unused: TensorHandle,
    scale: *const f64,
    window_size_left: *const i64,
    window_size_right: *const i64,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
) -> i32 {
    operation("_flash_attention_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: the caller's promise.
        let window = [window_size_left, window_size_right].map(|limit| unsafe { optional(limit) });
        // SAFETY: as above.
        let scale = unsafe { optional(scale) };
        let cumulated = [present(cum_seq_q)?, present(cum_seq_k)?];
        let is_causal = is_causal != 0;
        let arguments = FlashArguments { query, key, value, cumulated, is_causal, window, scale };
        let [of_query, of_key, of_value] = backward(&arguments, [grad_out, out, logsumexp])?;
        let results = [(ret0, "ret0", of_query), (ret1, "ret1", of_key), (ret2, "ret2", of_value)];
        // SAFETY: the caller's promise.
        unsafe { give_all(results) }
    })
}

fn backward(
    arguments: &FlashArguments,
    [gradient, output, log_sums]: [TensorHandle; 3],
) -> Result<[Tensor; 3]> {
    let sequences = arguments.sequences()?;
    let like = |tensor| empty_like(tensor, dtype_of_tensor(tensor)?);
    let results = [like(arguments.query)?, like(arguments.key)?, like(arguments.value)?];
    let lines = |_: usize, begin, length| match rank_of(log_sums)? {
        2 => unsqueeze(narrow(log_sums, 1, begin, length)?.handle(), 0),
        _ => Tensor::retained(log_sums),
    };
    let (gradient, output) = (in_batch(gradient)?, in_batch(output)?);
    let places = [&results[0], &results[1], &results[2]].map(|one| in_batch(one.handle()));
    let [of_query, of_key, of_value] = places;
    sequences.gradients([&gradient, &output], lines, [&of_query?, &of_key?, &of_value?], false)?;
    Ok(results)
}
