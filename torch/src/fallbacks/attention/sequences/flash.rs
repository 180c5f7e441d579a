//! `_flash_attention_forward` in its forms. Tensors of several sequences have no batch, and keys may lie in pages.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::{LogSums, Sequences, behind, in_batch};
use crate::abi::arguments::optional;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::attention::functions::{refuse_dropout, return_all};
use crate::fallbacks::attention::spans::{Limits, SpanArguments, Spans};
use crate::fallbacks::{give_all, operation};
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

/// Pointers to what a caller may leave out.
struct Optionals {
    cum_seq_q: *const TensorHandle,
    cum_seq_k: *const TensorHandle,
    scale: *const f64,
    window_size_left: *const i64,
    window_size_right: *const i64,
    seqused_k: *const TensorHandle,
    alibi_slopes: *const TensorHandle,
    block_table: *const TensorHandle,
    num_splits: *const i64,
}

impl Optionals {
    /// The arguments of a call.
    ///
    /// # Safety
    /// The pointers are NULL or valid for reads.
    unsafe fn arguments(
        &self,
        [query, key, value]: [TensorHandle; 3],
        most: [i64; 2],
        is_causal: i32,
    ) -> Result<FlashArguments> {
        // SAFETY: the caller's promise.
        if unsafe { behind(self.alibi_slopes) }?.is_some() {
            return Err(Error::not_supported("alibi_slopes is not offered by Sconce"));
        }
        let tensors = [self.cum_seq_q, self.cum_seq_k, self.seqused_k, self.block_table];
        // SAFETY: as above.
        let [queries, keys, counts, pages] = tensors.map(|one| unsafe { behind(one) });
        let window = [self.window_size_left, self.window_size_right];
        Ok(FlashArguments {
            query,
            key,
            value,
            cumulated: [queries?, keys?],
            counts: counts?,
            pages: pages?,
            most,
            // SAFETY: as above.
            splits: unsafe { optional(self.num_splits) },
            is_causal: is_causal != 0,
            // SAFETY: as above.
            window: window.map(|limit| unsafe { optional(limit) }),
            // SAFETY: as above.
            scale: unsafe { optional(self.scale) },
        })
    }
}

/// Returns attention in the order of the query, the log sums, and what only PyTorch's own backward pass would read.
///
/// # Safety
/// Results' places are NULL or valid for writes.
unsafe fn give_forward(arguments: &FlashArguments, places: [*mut TensorHandle; 5]) -> Result<()> {
    let [ret0, ret1, ret2, ret3, ret4] = places;
    let (output, log_sums) = arguments.forward(None, !ret1.is_null())?;
    let device = device_of_tensor(arguments.query)?;
    let state = |sizes: &[i64], dtype| empty(sizes, &options(dtype, device));
    let results = [
        (ret0, "ret0", output),
        (ret1, "ret1", log_sums),
        (ret2, "ret2", state(&[2], api::SCONCE_DTYPE_U64)?),
        (ret3, "ret3", state(&[], api::SCONCE_DTYPE_U64)?),
        (ret4, "ret4", state(&[0], dtype_of_tensor(arguments.query)?)?),
    ];
    // SAFETY: the caller's promise.
    unsafe { return_all(results) }
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
    max_q: i64,
    max_k: i64,
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
        let optionals = Optionals {
            cum_seq_q,
            cum_seq_k,
            scale,
            window_size_left,
            window_size_right,
            seqused_k,
            alibi_slopes,
            block_table: std::ptr::null(),
            num_splits: std::ptr::null(),
        };
        // SAFETY: the caller's promise.
        let arguments =
            unsafe { optionals.arguments([query, key, value], [max_q, max_k], is_causal) }?;
        // SAFETY: as above.
        unsafe { give_forward(&arguments, [ret0, ret1, ret2, ret3, ret4]) }
    })
}

/// As `aoti_torch_cuda__flash_attention_forward`; keys and values may lie in pages.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__flash_attention_forward_v2(
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    cum_seq_q: *const TensorHandle,
    cum_seq_k: *const TensorHandle,
    max_q: i64,
    max_k: i64,
    dropout_p: f64,
    is_causal: i32,
    _return_debug_mask: i32,
    scale: *const f64,
    window_size_left: *const i64,
    window_size_right: *const i64,
    seqused_k: *const TensorHandle,
    alibi_slopes: *const TensorHandle,
    block_table: *const TensorHandle,
    num_splits: *const i64,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
    ret3: *mut TensorHandle,
    ret4: *mut TensorHandle,
) -> i32 {
    operation("_flash_attention_forward", || {
        refuse_dropout(dropout_p)?;
        let optionals = Optionals {
            cum_seq_q,
            cum_seq_k,
            scale,
            window_size_left,
            window_size_right,
            seqused_k,
            alibi_slopes,
            block_table,
            num_splits,
        };
        // SAFETY: the caller's promise.
        let arguments =
            unsafe { optionals.arguments([query, key, value], [max_q, max_k], is_causal) }?;
        // SAFETY: as above.
        unsafe { give_forward(&arguments, [ret0, ret1, ret2, ret3, ret4]) }
    })
}

/// Calculates attention into `out`, and returns the log sums.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, the result's place NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__flash_attention_forward_no_dropout_inplace(
    out: TensorHandle,
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    cum_seq_q: *const TensorHandle,
    cum_seq_k: *const TensorHandle,
    max_q: i64,
    max_k: i64,
    dropout_p: f64,
    is_causal: i32,
    _return_debug_mask: i32,
    scale: *const f64,
    window_size_left: *const i64,
    window_size_right: *const i64,
    seqused_k: *const TensorHandle,
    alibi_slopes: *const TensorHandle,
    block_table: *const TensorHandle,
    ret0: *mut TensorHandle,
) -> i32 {
    operation("_flash_attention_forward_no_dropout_inplace", || {
        refuse_dropout(dropout_p)?;
        let optionals = Optionals {
            cum_seq_q,
            cum_seq_k,
            scale,
            window_size_left,
            window_size_right,
            seqused_k,
            alibi_slopes,
            block_table,
            num_splits: std::ptr::null(),
        };
        // SAFETY: the caller's promise.
        let arguments =
            unsafe { optionals.arguments([query, key, value], [max_q, max_k], is_causal) }?;
        let (_, log_sums) = arguments.forward(Some(Tensor::retained(out)?), !ret0.is_null())?;
        // SAFETY: as above.
        unsafe { give_all([(ret0, "ret0", log_sums)]) }
    })
}

/// As `aoti_torch_cuda__flash_attention_forward_no_dropout_inplace`, with a number of blocks that share keys.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, the result's place NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__flash_attention_forward_no_dropout_inplace_v2(
    out: TensorHandle,
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    cum_seq_q: *const TensorHandle,
    cum_seq_k: *const TensorHandle,
    max_q: i64,
    max_k: i64,
    dropout_p: f64,
    is_causal: i32,
    _return_debug_mask: i32,
    scale: *const f64,
    window_size_left: *const i64,
    window_size_right: *const i64,
    seqused_k: *const TensorHandle,
    alibi_slopes: *const TensorHandle,
    block_table: *const TensorHandle,
    num_splits: *const i64,
    ret0: *mut TensorHandle,
) -> i32 {
    operation("_flash_attention_forward_no_dropout_inplace", || {
        refuse_dropout(dropout_p)?;
        let optionals = Optionals {
            cum_seq_q,
            cum_seq_k,
            scale,
            window_size_left,
            window_size_right,
            seqused_k,
            alibi_slopes,
            block_table,
            num_splits,
        };
        // SAFETY: the caller's promise.
        let arguments =
            unsafe { optionals.arguments([query, key, value], [max_q, max_k], is_causal) }?;
        let (_, log_sums) = arguments.forward(Some(Tensor::retained(out)?), !ret0.is_null())?;
        // SAFETY: as above.
        unsafe { give_all([(ret0, "ret0", log_sums)]) }
    })
}
