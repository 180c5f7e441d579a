//! `_flash_attention_forward` in its forms.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::behind;
use super::flash::FlashArguments;
use crate::abi::arguments::{Out, optional};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::error::{Error, Result};
use crate::fallbacks::attention::functions::{refuse_dropout, return_all};
use crate::fallbacks::{give_all, operation};
use crate::sconce::operations::empty;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

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
        // SAFETY: optional tensors of the ABI are NULL, or addresses of handles.
        if unsafe { behind(self.alibi_slopes) }?.is_some() {
            return Err(Error::not_supported("alibi_slopes is not offered by Sconce"));
        }
        let tensors = [self.cum_seq_q, self.cum_seq_k, self.seqused_k, self.block_table];
        // SAFETY: optional tensors of the ABI are NULL, or addresses of handles.
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
            // SAFETY: `self.num_splits` is an optional argument of the ABI: NULL, or the address of a value.
            splits: unsafe { optional(self.num_splits) },
            is_causal: is_causal != 0,
            // SAFETY: `limit` is an optional argument of the ABI: NULL, or the address of a value.
            window: window.map(|limit| unsafe { optional(limit) }),
            // SAFETY: `self.scale` is an optional argument of the ABI: NULL, or the address of a value.
            scale: unsafe { optional(self.scale) },
        })
    }
}

/// Returns attention in the order of the query, the log sums, and what only PyTorch's own backward pass would read.
fn give_forward(arguments: &FlashArguments, places: [Out<'_, TensorHandle>; 5]) -> Result<()> {
    let [ret0, ret1, ret2, ret3, ret4] = places;
    let (output, log_sums) = arguments.forward(None, !ret1.is_none())?;
    let device = device_of_tensor(arguments.query)?;
    let state = |sizes: &[i64], dtype| empty(sizes, &options(dtype, device));
    let results = [
        (ret0, "ret0", output),
        (ret1, "ret1", log_sums),
        (ret2, "ret2", state(&[2], api::SCONCE_DTYPE_U64)?),
        (ret3, "ret3", state(&[], api::SCONCE_DTYPE_U64)?),
        (ret4, "ret4", state(&[0], dtype_of_tensor(arguments.query)?)?),
    ];
    return_all(results)
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
    return_debug_mask: i32,
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
    // SAFETY: all pointers are this function's own arguments, which the ABI describes as it does those of the callee.
    unsafe {
        aoti_torch_cuda__flash_attention_forward_v2(
            query,
            key,
            value,
            cum_seq_q,
            cum_seq_k,
            max_q,
            max_k,
            dropout_p,
            is_causal,
            return_debug_mask,
            scale,
            window_size_left,
            window_size_right,
            seqused_k,
            alibi_slopes,
            std::ptr::null(),
            std::ptr::null(),
            ret0,
            ret1,
            ret2,
            ret3,
            ret4,
        )
    }
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
    places!(ret0, ret1, ret2, ret3, ret4);
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
        // SAFETY: the fields of `optionals` are optional arguments of the ABI: NULL, or addresses of values.
        let arguments =
            unsafe { optionals.arguments([query, key, value], [max_q, max_k], is_causal) }?;
        give_forward(&arguments, [ret0, ret1, ret2, ret3, ret4])
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
    return_debug_mask: i32,
    scale: *const f64,
    window_size_left: *const i64,
    window_size_right: *const i64,
    seqused_k: *const TensorHandle,
    alibi_slopes: *const TensorHandle,
    block_table: *const TensorHandle,
    ret0: *mut TensorHandle,
) -> i32 {
    // SAFETY: all pointers are this function's own arguments, which the ABI describes as it does those of the callee.
    unsafe {
        aoti_torch_cuda__flash_attention_forward_no_dropout_inplace_v2(
            out,
            query,
            key,
            value,
            cum_seq_q,
            cum_seq_k,
            max_q,
            max_k,
            dropout_p,
            is_causal,
            return_debug_mask,
            scale,
            window_size_left,
            window_size_right,
            seqused_k,
            alibi_slopes,
            block_table,
            std::ptr::null(),
            ret0,
        )
    }
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
    places!(ret0);
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
        // SAFETY: the fields of `optionals` are optional arguments of the ABI: NULL, or addresses of values.
        let arguments =
            unsafe { optionals.arguments([query, key, value], [max_q, max_k], is_causal) }?;
        let (_, log_sums) = arguments.forward(Some(Tensor::retained(out)?), !ret0.is_none())?;
        give_all([(ret0, "ret0", log_sums)])
    })
}
