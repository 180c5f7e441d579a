//! `_flash_attention_forward` in its forms.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::behind;
use super::flash::FlashArguments;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::error::{Error, Result};
use crate::fallbacks::attention::functions::{refuse_dropout, return_all};
use crate::fallbacks::{Place, give_all};
use crate::sconce::operations::empty;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// Returns attention in the order of the query, the log sums, and what only PyTorch's own backward pass would read.
fn give_forward(arguments: &FlashArguments, places: [Place<'_>; 5]) -> Result<()> {
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

/// Calculates attention into `out`, and returns the log sums.
fn give_in_place(arguments: &FlashArguments, out: TensorHandle, ret0: Place<'_>) -> Result<()> {
    let (_, log_sums) = arguments.forward(Some(Tensor::retained(out)?), !ret0.is_none())?;
    give_all([(ret0, "ret0", log_sums)])
}

/// Forms of the function: what they have in front of the query, what behind the slopes, which places for results, and
/// what they do with the arguments.
macro_rules! forms {
    ($($(#[$doc:meta])* $function:ident(
        $($out:ident)?; $($pages:ident $($splits:ident)?)?; $($ret:ident),*
    ) |$arguments:ident| $body:block)*) => {
        abi_functions! {
            $($(#[$doc])*
            $function(
                $($out: TensorHandle,)? query: TensorHandle, key: TensorHandle, value: TensorHandle,
                cum_seq_q: Option<TensorHandle>, cum_seq_k: Option<TensorHandle>, max_q: i64,
                max_k: i64, dropout_p: f64, is_causal: bool, _return_debug_mask: bool,
                scale: Option<f64>, window_size_left: Option<i64>, window_size_right: Option<i64>,
                seqused_k: Option<TensorHandle>, alibi_slopes: Option<TensorHandle>,
                $($pages: Option<TensorHandle>, $($splits: Option<i64>,)?)? $($ret: Place,)*
            ) {
                refuse_dropout(dropout_p)?;
                if behind(alibi_slopes)?.is_some() {
                    return Err(Error::not_supported("alibi_slopes is not offered by Sconce"));
                }
                let $arguments = FlashArguments {
                    query,
                    key,
                    value,
                    cumulated: [behind(cum_seq_q)?, behind(cum_seq_k)?],
                    counts: behind(seqused_k)?,
                    pages: None$(.or(behind($pages)?))?,
                    most: [max_q, max_k],
                    splits: None$($(.or($splits))?)?,
                    is_causal,
                    window: [window_size_left, window_size_right],
                    scale,
                };
                $body
            })*
        }
    };
}

forms! {
    /// Returns attention in the order of the query, and the log sums: batch, heads, positions, or of several sequences
    /// heads, positions.
    aoti_torch_cuda__flash_attention_forward(;; ret0, ret1, ret2, ret3, ret4) |arguments| {
        give_forward(&arguments, [ret0, ret1, ret2, ret3, ret4])
    }

    /// As `aoti_torch_cuda__flash_attention_forward`; keys and values may lie in pages.
    aoti_torch_cuda__flash_attention_forward_v2(
        ; block_table num_splits; ret0, ret1, ret2, ret3, ret4
    ) |arguments| {
        give_forward(&arguments, [ret0, ret1, ret2, ret3, ret4])
    }

    /// Calculates attention into `out`, and returns the log sums.
    aoti_torch_cuda__flash_attention_forward_no_dropout_inplace(
        out; block_table; ret0
    ) |arguments| {
        give_in_place(&arguments, out, ret0)
    }

    /// As `aoti_torch_cuda__flash_attention_forward_no_dropout_inplace`, with a number of blocks that share keys.
    aoti_torch_cuda__flash_attention_forward_no_dropout_inplace_v2(
        out; block_table num_splits; ret0
    ) |arguments| {
        give_in_place(&arguments, out, ret0)
    }
}
