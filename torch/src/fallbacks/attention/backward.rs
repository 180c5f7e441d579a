//! The functions of the ABI that return gradients of attention whose heads come before the positions.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::Attention;
use super::functions::refuse_dropout;
use super::gradients::{Gradients, Returned, like, positions_first, with_room};
use super::spans::present;
use crate::abi::arguments::{array, optional};
use crate::abi::tensors::dtype_of_tensor;
use crate::error::{Error, Result};
use crate::fallbacks::{give_all, operation};
use crate::sconce::operations;
use crate::sconce::tensor::TensorHandle;

/// Writes gradients where the caller wants them, each with the order of what it is of.
///
/// # Safety
/// The places are NULL or valid for writes.
unsafe fn return_alike(
    attention: &Attention,
    gradients: &Gradients,
    [query, key, value]: [*mut TensorHandle; 3],
) -> Result<()> {
    let results = [
        (query, "ret0", like(&gradients.query, attention.query)?),
        (key, "ret1", like(&gradients.key, attention.key)?),
        (value, "ret2", like(&gradients.value, attention.value)?),
    ];
    // SAFETY: the caller's promise.
    unsafe { give_all(results) }
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
    operation("_scaled_dot_product_flash_attention_for_cpu_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: the caller's promise.
        let mask = unsafe { optional(attn_mask) }.filter(|mask| !mask.is_null());
        // SAFETY: as above.
        let scale = unsafe { optional(scale) };
        let attention = Attention { query, key, value, mask, is_causal: is_causal != 0, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        let dtype = dtype_of_tensor(query)?;
        let results = [
            (ret0, "ret0", positions_first(&gradients.query, dtype)?),
            (ret1, "ret1", positions_first(&gradients.key, dtype)?),
            (ret2, "ret2", positions_first(&gradients.value, dtype)?),
        ];
        // SAFETY: the caller's promise.
        unsafe { give_all(results) }
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
    operation("_scaled_dot_product_efficient_attention_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: the caller's promise.
        let with_bias = unsafe { wants_bias(grad_input_mask, grad_input_mask_len) }?;
        // SAFETY: as above.
        let scale = unsafe { optional(scale) };
        let (mask, is_causal) = (present(attn_bias)?, is_causal != 0);
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, with_bias)?;
        let dtype = dtype_of_tensor(query)?;
        let bias = match &gradients.bias {
            Some(bias) => with_room(bias, attn_bias)?,
            None => operations::undefined()?,
        };
        let results = [
            (ret0, "ret0", positions_first(&gradients.query, dtype)?),
            (ret1, "ret1", positions_first(&gradients.key, dtype)?),
            (ret2, "ret2", positions_first(&gradients.value, dtype)?),
            (ret3, "ret3", bias),
        ];
        // SAFETY: the caller's promise.
        unsafe { give_all(results) }
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
    // SAFETY: the caller's promise.
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
    operation("_scaled_dot_product_flash_attention_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: the caller's promise.
        let scale = unsafe { optional(scale) };
        let is_causal = is_causal != 0;
        let attention = Attention { query, key, value, mask: None, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        // SAFETY: the caller's promise.
        unsafe { return_alike(&attention, &gradients, [ret0, ret1, ret2]) }
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
    operation("_scaled_dot_product_cudnn_attention_backward", || {
        refuse_dropout(dropout_p)?;
        // SAFETY: the caller's promise.
        let scale = unsafe { optional(scale) };
        let (mask, is_causal) = (present(attn_bias)?, is_causal != 0);
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, false)?;
        // SAFETY: the caller's promise.
        unsafe { return_alike(&attention, &gradients, [ret0, ret1, ret2]) }
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
        // SAFETY: the caller's promise.
        let with_bias = unsafe { wants_bias(grad_input_mask, grad_input_mask_len) }?;
        // SAFETY: as above.
        let scale = unsafe { optional(scale) };
        let (mask, is_causal) = (present(attn_bias)?, is_causal != 0);
        let attention = Attention { query, key, value, mask, is_causal, scale };
        let returned = Returned { gradient: grad_out, output: out, log_sums: logsumexp };
        let gradients = attention.gradients(&returned, with_bias)?;
        let bias = match &gradients.bias {
            Some(bias) => like(bias, attn_bias)?,
            None => operations::undefined()?,
        };
        let results = [
            (ret0, "ret0", like(&gradients.query, query)?),
            (ret1, "ret1", like(&gradients.key, key)?),
            (ret2, "ret2", like(&gradients.value, value)?),
            (ret3, "ret3", bias),
        ];
        // SAFETY: the caller's promise.
        unsafe { give_all(results) }
    }
}
