//! The gradients of `_flash_attention_forward`.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::flash::FlashArguments;
use super::in_batch;
use crate::abi::tensors::{dtype_of_tensor, rank_of};
use crate::error::Result;
use crate::fallbacks::attention::functions::refuse_dropout;
use crate::fallbacks::attention::spans::present;
use crate::fallbacks::{Place, give_all};
use crate::sconce::Tensor;
use crate::sconce::operations::{empty_like, narrow, unsqueeze};
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns the gradients of query, keys and values, each in the order of what it is of.
    aoti_torch_cuda__flash_attention_backward(
        grad_out: TensorHandle, query: TensorHandle, key: TensorHandle, value: TensorHandle,
        out: TensorHandle, logsumexp: TensorHandle, cum_seq_q: TensorHandle,
        cum_seq_k: TensorHandle, max_q: i64, max_k: i64, dropout_p: f64, is_causal: bool,
        _rng_state: TensorHandle, _unused: TensorHandle, scale: Option<f64>,
        window_size_left: Option<i64>, window_size_right: Option<i64>, ret0: Place, ret1: Place,
        ret2: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let window = [window_size_left, window_size_right];
        let cumulated = [present(cum_seq_q)?, present(cum_seq_k)?];
        let arguments = FlashArguments {
            query,
            key,
            value,
            cumulated,
            counts: None,
            pages: None,
            most: [max_q, max_k],
            splits: None,
            is_causal,
            window,
            scale,
        };
        let [of_query, of_key, of_value] = backward(&arguments, [grad_out, out, logsumexp])?;
        let results = [(ret0, "ret0", of_query), (ret1, "ret1", of_key), (ret2, "ret2", of_value)];
        give_all(results)
    }
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
