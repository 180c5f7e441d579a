//! The functions of the ABI that return gradients of attention whose heads come before the positions.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::Attention;
use super::functions::refuse_dropout;
use super::gradients::{Returned, like, with_padded_lines};
use super::spans::present;
use crate::abi::arguments::{Out, array, optional, optional_tensor};
use crate::abi::tensors::dtype_of_tensor;
use crate::error::{Error, Result};
use crate::fallbacks::{give_all, operation};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, operations};

/// Writes the gradients of query, keys and values where the caller wants them.
fn return_gradients(
    [query, key, value]: [Tensor; 3],
    [of_query, of_key, of_value]: [Out<'_, TensorHandle>; 3],
) -> Result<()> {
    let results = [(of_query, "ret0", query), (of_key, "ret1", key), (of_value, "ret2", value)];
    give_all(results)
}

/// As [`return_gradients`], with that of the bias, which is undefined if there is none.
fn return_with_bias(
    [query, key, value]: [Tensor; 3],
    bias: Option<Tensor>,
    [of_query, of_key, of_value, of_bias]: [Out<'_, TensorHandle>; 4],
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

/// Returns the gradients of query, keys and values, whose positions lie before the heads in memory.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out: TensorHandle,
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    out: TensorHandle,
    logsumexp: TensorHandle,
    dropout_p: f64,
    is_causal: i32,
    attn_mask: *const TensorHandle,
    scale: *const f64,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
) -> i32 {
    places!(ret0, ret1, ret2);
    operation("_scaled_dot_product_flash_attention_for_cpu_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: `attn_mask` is an optional tensor of the ABI: NULL, or the address of a handle.
        let mask = unsafe { optional_tensor(attn_mask) };
        // SAFETY: `scale` is an optional argument of the ABI: NULL, or the address of a value.
        let scale = unsafe { optional(scale) };
        let attention = Attention { query, key, value, mask, is_causal: is_causal != 0, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        let results = gradients.positions_first(dtype_of_tensor(query)?)?;
        return_gradients(results, [ret0, ret1, ret2])
    })
}

/// Returns the gradients of query, keys and values, whose positions lie before the heads in memory, and that of the bias
/// if it is wanted.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes; the mask has as many entries
/// as is said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__scaled_dot_product_efficient_attention_backward(
    grad_out: TensorHandle,
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    attn_bias: TensorHandle,
    out: TensorHandle,
    logsumexp: TensorHandle,
    _philox_seed: TensorHandle,
    _philox_offset: TensorHandle,
    dropout_p: f64,
    grad_input_mask: *const i32,
    grad_input_mask_len: i64,
    is_causal: i32,
    scale: *const f64,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
    ret3: *mut TensorHandle,
) -> i32 {
    places!(ret0, ret1, ret2, ret3);
    operation("_scaled_dot_product_efficient_attention_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: the ABI has the number of entries of `grad_input_mask` in `grad_input_mask_len`.
        let with_bias = unsafe { wants_bias(grad_input_mask, grad_input_mask_len) }?;
        // SAFETY: `scale` is an optional argument of the ABI: NULL, or the address of a value.
        let scale = unsafe { optional(scale) };
        let (mask, is_causal) = (present(attn_bias)?, is_causal != 0);
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, with_bias)?;
        let bias =
            gradients.bias.as_ref().map(|bias| with_padded_lines(bias, attn_bias)).transpose()?;
        let results = gradients.positions_first(dtype_of_tensor(query)?)?;
        return_with_bias(results, bias, [ret0, ret1, ret2, ret3])
    })
}

/// Whether the gradient of the bias is wanted: the fourth of four flags.
///
/// # Safety
/// The array has as many entries as is said.
unsafe fn wants_bias(flags: *const i32, count: i64) -> Result<bool> {
    if count != 4 {
        return Err(Error::invalid_argument(format!(
            "grad_input_mask has {count} entries; expected one for query, key, value and bias each"
        )));
    }
    // SAFETY: the ABI gives `flags` 4 entries.
    let flags = unsafe { array(flags, 4, "grad_input_mask") }?;
    Ok(flags[3] != 0)
}

/// Returns the gradients of query, keys and values.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__scaled_dot_product_flash_attention_backward(
    grad_out: TensorHandle,
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    out: TensorHandle,
    logsumexp: TensorHandle,
    _cum_seq_q: TensorHandle,
    _cum_seq_k: TensorHandle,
    _max_q: i64,
    _max_k: i64,
    dropout_p: f64,
    is_causal: i32,
    _philox_seed: TensorHandle,
    _philox_offset: TensorHandle,
    scale: *const f64,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
) -> i32 {
    places!(ret0, ret1, ret2);
    operation("_scaled_dot_product_flash_attention_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: `scale` is an optional argument of the ABI: NULL, or the address of a value.
        let scale = unsafe { optional(scale) };
        let is_causal = is_causal != 0;
        let attention = Attention { query, key, value, mask: None, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        return_gradients(gradients.in_layout_of_inputs(&attention)?, [ret0, ret1, ret2])
    })
}

/// As `aoti_torch_cuda__scaled_dot_product_flash_attention_backward`, with a bias.
///
/// # Safety
/// Optional arguments are NULL or valid for reads, results' places NULL or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_cuda__scaled_dot_product_cudnn_attention_backward(
    grad_out: TensorHandle,
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    out: TensorHandle,
    logsumexp: TensorHandle,
    _philox_seed: TensorHandle,
    _philox_offset: TensorHandle,
    attn_bias: TensorHandle,
    _cum_seq_q: TensorHandle,
    _cum_seq_k: TensorHandle,
    _max_q: i64,
    _max_k: i64,
    dropout_p: f64,
    is_causal: i32,
    scale: *const f64,
    ret0: *mut TensorHandle,
    ret1: *mut TensorHandle,
    ret2: *mut TensorHandle,
) -> i32 {
    places!(ret0, ret1, ret2);
    operation("_scaled_dot_product_cudnn_attention_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: `scale` is an optional argument of the ABI: NULL, or the address of a value.
        let scale = unsafe { optional(scale) };
        let (mask, is_causal) = (present(attn_bias)?, is_causal != 0);
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        return_gradients(gradients.in_layout_of_inputs(&attention)?, [ret0, ret1, ret2])
    })
}

fallbacks! {
    /// Returns the gradients of query, keys and values, and that of the bias if it is wanted.
    aoti_torch_cpu__scaled_dot_product_fused_attention_overrideable_backward
    | aoti_torch_cuda__scaled_dot_product_fused_attention_overrideable_backward(
        grad_out: TensorHandle,
        query: TensorHandle,
        key: TensorHandle,
        value: TensorHandle,
        attn_bias: TensorHandle,
        grad_input_mask: *const i32,
        grad_input_mask_len: i64,
        out: TensorHandle,
        logsumexp: TensorHandle,
        _cum_seq_q: TensorHandle,
        _cum_seq_k: TensorHandle,
        _max_q: i64,
        _max_k: i64,
        dropout_p: f64,
        is_causal: i32,
        _philox_seed: TensorHandle,
        _philox_offset: TensorHandle,
        scale: *const f64,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
        ret2: *mut TensorHandle,
        ret3: *mut TensorHandle,
    ) {
        refuse_dropout(dropout_p)?;
        // SAFETY: the ABI has the number of entries of `grad_input_mask` in `grad_input_mask_len`.
        let with_bias = unsafe { wants_bias(grad_input_mask, grad_input_mask_len) }?;
        // SAFETY: `scale` is an optional argument of the ABI: NULL, or the address of a value.
        let scale = unsafe { optional(scale) };
        let (mask, is_causal) = (present(attn_bias)?, is_causal != 0);
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, with_bias)?;
        let bias = gradients.bias.as_ref().map(|bias| like(bias, attn_bias)).transpose()?;
        let results = gradients.in_layout_of_inputs(&attention)?;
        return_with_bias(results, bias, [ret0, ret1, ret2, ret3])
    }
}
