//! The functions of the ABI that return gradients of attention whose heads come before the positions.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::Attention;
use super::functions::refuse_dropout;
use super::gradients::{Returned, like, with_padded_lines};
use super::spans::present;
use crate::abi::tensors::dtype_of_tensor;
use crate::error::Result;
use crate::fallbacks::{Place, give_all};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, operations};

/// Writes the gradients of query, keys and values where the caller wants them.
fn return_gradients(
    [query, key, value]: [Tensor; 3],
    [of_query, of_key, of_value]: [Place<'_>; 3],
) -> Result<()> {
    let results = [(of_query, "ret0", query), (of_key, "ret1", key), (of_value, "ret2", value)];
    give_all(results)
}

/// As [`return_gradients`], with that of the bias, which is undefined if there is none.
fn return_with_bias(
    [query, key, value]: [Tensor; 3],
    bias: Option<Tensor>,
    [of_query, of_key, of_value, of_bias]: [Place<'_>; 4],
) -> Result<()> {
    let bias = bias.map_or_else(operations::undefined, Ok)?;
    let results = [
        (of_query, "ret0", query),
        (of_key, "ret1", key),
        (of_value, "ret2", value),
        (of_bias, "ret3", bias),
    ];
    give_all(results)
}

abi_functions! {
    /// Returns the gradients of query, keys and values, whose positions lie before the heads in memory.
    aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu_backward(
        grad_out: TensorHandle, query: TensorHandle, key: TensorHandle, value: TensorHandle,
        out: TensorHandle, logsumexp: TensorHandle, dropout_p: f64, is_causal: bool,
        attn_mask: Option<TensorHandle>, scale: Option<f64>, ret0: Place, ret1: Place, ret2: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let attention = Attention { query, key, value, mask: attn_mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        let results = gradients.positions_first(dtype_of_tensor(query)?)?;
        return_gradients(results, [ret0, ret1, ret2])
    }

    /// Returns the gradients of query, keys and values, whose positions lie before the heads in memory, and that of the
    /// bias if it is wanted.
    aoti_torch_cuda__scaled_dot_product_efficient_attention_backward(
        grad_out as grad_out_: TensorHandle, query: TensorHandle, key: TensorHandle, value: TensorHandle,
        attn_bias: TensorHandle, out: TensorHandle, logsumexp: TensorHandle, _philox_seed: TensorHandle,
        _philox_offset: TensorHandle, dropout_p: f64, grad_input_mask: [bool; 4], is_causal: bool, scale: Option<f64>,
        ret0: Place, ret1: Place, ret2: Place, ret3: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let with_bias = grad_input_mask[3];
        let mask = present(attn_bias)?;
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, with_bias)?;
        let bias =
            gradients.bias.as_ref().map(|bias| with_padded_lines(bias, attn_bias)).transpose()?;
        let results = gradients.positions_first(dtype_of_tensor(query)?)?;
        return_with_bias(results, bias, [ret0, ret1, ret2, ret3])
    }

    /// Returns the gradients of query, keys and values.
    aoti_torch_cuda__scaled_dot_product_flash_attention_backward(
        grad_out: TensorHandle, query: TensorHandle, key: TensorHandle, value: TensorHandle,
        out: TensorHandle, logsumexp: TensorHandle, _cum_seq_q: TensorHandle,
        _cum_seq_k: TensorHandle, _max_q: i64, _max_k: i64, dropout_p: f64, is_causal: bool,
        _philox_seed: TensorHandle, _philox_offset: TensorHandle, scale: Option<f64>, ret0: Place,
        ret1: Place, ret2: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let attention = Attention { query, key, value, mask: None, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        return_gradients(gradients.in_layout_of_inputs(&attention)?, [ret0, ret1, ret2])
    }

    /// As `aoti_torch_cuda__scaled_dot_product_flash_attention_backward`, with a bias.
    aoti_torch_cuda__scaled_dot_product_cudnn_attention_backward(
        grad_out: TensorHandle, query: TensorHandle, key: TensorHandle, value: TensorHandle,
        out: TensorHandle, logsumexp: TensorHandle, _philox_seed: TensorHandle,
        _philox_offset: TensorHandle, attn_bias: TensorHandle, _cum_seq_q: TensorHandle,
        _cum_seq_k: TensorHandle, _max_q: i64, _max_k: i64, dropout_p: f64, is_causal: bool,
        scale: Option<f64>, ret0: Place, ret1: Place, ret2: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let mask = present(attn_bias)?;
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        return_gradients(gradients.in_layout_of_inputs(&attention)?, [ret0, ret1, ret2])
    }

    /// Returns the gradients of query, keys and values, and that of the bias if it is wanted.
    aoti_torch_cpu__scaled_dot_product_fused_attention_overrideable_backward
    | aoti_torch_cuda__scaled_dot_product_fused_attention_overrideable_backward(
        grad_out: TensorHandle, query: TensorHandle, key: TensorHandle, value: TensorHandle,
        attn_bias: TensorHandle, grad_input_mask: [bool; 4], out: TensorHandle,
        logsumexp: TensorHandle, _cum_seq_q: TensorHandle, _cum_seq_k: TensorHandle, _max_q: i64,
        _max_k: i64, dropout_p: f64, is_causal: bool, _philox_seed: TensorHandle,
        _philox_offset: TensorHandle, scale: Option<f64>, ret0: Place, ret1: Place, ret2: Place,
        ret3: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let with_bias = grad_input_mask[3];
        let mask = present(attn_bias)?;
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, with_bias)?;
        let bias = gradients.bias.as_ref().map(|bias| like(bias, attn_bias)).transpose()?;
        let results = gradients.in_layout_of_inputs(&attention)?;
        return_with_bias(results, bias, [ret0, ret1, ret2, ret3])
    }
}
