//! Attention, as products and softmax: `softmax(scale * query @ keyᵀ + bias) @ value`.

#![allow(unsafe_code, reason = "functions of C over handles")]

use super::{give, optional};
use crate::abi::copies::{integer, real};
use crate::abi::handles::options;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// What attention is worked out of.
struct Attention {
    query: TensorHandle,
    key: TensorHandle,
    value: TensorHandle,
    bias: Option<TensorHandle>,
    is_causal: bool,
    scale: Option<f64>,
}

/// An operation of a tensor and a number, in place.
fn change(operation: i32, tensor: &Tensor, number: &api::sconce_scalar) -> Result<()> {
    // SAFETY: handles are checked; the number is valid; the result goes to the tensor itself.
    check(unsafe {
        api::sconce_tensor_binary(
            operation,
            tensor.handle(),
            std::ptr::null(),
            std::ptr::null_mut(),
            number,
            std::ptr::null(),
            tensor.handle(),
            std::ptr::null_mut(),
        )
    })
}

/// An operation of two tensors.
fn paired(operation: i32, first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    let (no_tensor, no_number) = (std::ptr::null_mut(), std::ptr::null());
    // SAFETY: handles are checked; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_binary(
            operation, first, no_number, second, no_number, no_number, no_tensor, made,
        )
    })
}

/// A tensor in another type; the same one if it has that.
fn converted(tensor: TensorHandle, dtype: i32) -> Result<Tensor> {
    let options = options(dtype, -1);
    // SAFETY: handles are checked; options and place are valid.
    Tensor::made(|made| unsafe { api::sconce_tensor_to(tensor, &options, false, false, made) })
}

/// A tensor of half precision in F32, in which scores and their softmax are calculated; another one as it is.
fn wide(tensor: TensorHandle) -> Result<Tensor> {
    match dtype_of_tensor(tensor)? {
        api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => converted(tensor, api::SCONCE_DTYPE_F32),
        _ => Tensor::retained(tensor),
    }
}

fn transposed(tensor: TensorHandle, first: i64, second: i64) -> Result<Tensor> {
    // SAFETY: handles are checked; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_transpose(tensor, first, second, made) })
}

/// The numbers 0 to `count`, along one of two dimensions.
fn places(count: i64, dim: i64, device: i32) -> Result<Tensor> {
    let options = options(api::SCONCE_DTYPE_I64, device);
    let (start, end, step) = (integer(0), integer(count), integer(1));
    // SAFETY: numbers, options and the place are valid.
    let row = Tensor::made(|made| unsafe {
        api::sconce_tensor_arange(&start, &end, &step, &options, made)
    })?;
    // SAFETY: handles are checked; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_unsqueeze(row.handle(), dim, made) })
}

impl Attention {
    /// Refuses shapes that are none of attention. Returns the sizes of the query and of the key.
    fn sizes(&self) -> Result<([i64; 4], [i64; 4])> {
        let four = |tensor: TensorHandle, name: &str| -> Result<[i64; 4]> {
            let sizes = sizes_of(tensor)?;
            <[i64; 4]>::try_from(sizes.as_slice()).map_err(|_| {
                Error::invalid_argument(format!(
                    "{name} has {} dimensions; it needs batch, heads, length, width",
                    sizes.len()
                ))
            })
        };
        let (query, key) = (four(self.query, "query")?, four(self.key, "key")?);
        let value = four(self.value, "value")?;
        if query[3] != key[3]
            || key[2] != value[2]
            || key[1] != value[1]
            || query[0] != key[0]
            || query[0] != value[0]
        {
            return Err(Error::invalid_argument(format!(
                "query {query:?}, key {key:?} and value {value:?} do not fit together"
            )));
        }
        if key[1] == 0 || query[1] % key[1] != 0 {
            return Err(Error::invalid_argument(format!(
                "{} heads of the query cannot share {} heads of the key",
                query[1], key[1]
            )));
        }
        Ok((query, key))
    }

    /// Keys or values with a head for each of the query's.
    fn with_heads(&self, tensor: TensorHandle, heads: i64) -> Result<Tensor> {
        let sizes = sizes_of(tensor)?;
        if sizes[1] == heads {
            return Tensor::retained(tensor);
        }
        // SAFETY: handles are checked; the place is valid for a write.
        let apart = Tensor::made(|made| unsafe { api::sconce_tensor_unsqueeze(tensor, 2, made) })?;
        let wide = [sizes[0], sizes[1], heads / sizes[1], sizes[2], sizes[3]];
        // SAFETY: as above; five sizes.
        let wide = Tensor::made(|made| unsafe {
            api::sconce_tensor_expand(apart.handle(), wide.as_ptr(), wide.len(), made)
        })?;
        let whole = [sizes[0], heads, sizes[2], sizes[3]];
        // SAFETY: as above; four sizes.
        Tensor::made(|made| unsafe {
            api::sconce_tensor_reshape(wide.handle(), whole.as_ptr(), 4, made)
        })
    }

    /// Scaled products of queries and keys, with bias and mask.
    fn scores(&self) -> Result<Tensor> {
        let (query, key) = self.sizes()?;
        let keys = self.with_heads(self.key, query[1])?;
        let query_wide = wide(self.query)?;
        let keys = wide(keys.handle())?;
        let across = transposed(keys.handle(), -2, -1)?;
        // SAFETY: handles are checked; the place is valid for a write.
        let scores = Tensor::made(|made| unsafe {
            api::sconce_tensor_matmul(query_wide.handle(), across.handle(), made)
        })?;
        let scale = self.scale.unwrap_or(1.0 / (query[3] as f64).sqrt());
        change(api::SCONCE_BINARY_MUL, &scores, &real(scale))?;
        let device = device_of_tensor(self.query)?;
        let mut scores = match self.bias {
            None => scores,
            Some(bias) if dtype_of_tensor(bias)? == api::SCONCE_DTYPE_BOOL => {
                chosen(bias, &scores, f64::NEG_INFINITY)?
            }
            // Of half precision, the bias is converted as it is added.
            Some(bias) => paired(api::SCONCE_BINARY_ADD, scores.handle(), bias)?,
        };
        if self.is_causal {
            let rows = places(query[2], 1, device)?;
            let columns = places(key[2], 0, device)?;
            let seen = paired(api::SCONCE_BINARY_GE, rows.handle(), columns.handle())?;
            scores = chosen(seen.handle(), &scores, f64::NEG_INFINITY)?;
        }
        Ok(scores)
    }

    /// The result, whose memory has the order batch, length, heads, width, as PyTorch's has.
    fn result(&self, scores: &Tensor) -> Result<Tensor> {
        let (query, _) = self.sizes()?;
        let width = sizes_of(self.value)?[3];
        let memory = [query[0], query[2], query[1], width];
        let options = options(dtype_of_tensor(self.query)?, device_of_tensor(self.query)?);
        // SAFETY: sizes, options and the place are valid.
        let memory = Tensor::made(|made| unsafe {
            api::sconce_tensor_empty(memory.as_ptr(), memory.len(), &options, made)
        })?;
        let result = transposed(memory.handle(), 1, 2)?;
        let values = self.with_heads(self.value, query[1])?;
        // SAFETY: handles are checked.
        check(unsafe {
            api::sconce_tensor_along_out(
                api::SCONCE_LINE_SOFTMAX,
                scores.handle(),
                -1,
                api::SCONCE_DTYPE_DEFAULT,
                scores.handle(),
            )
        })?;
        let weights = converted(scores.handle(), dtype_of_tensor(self.query)?)?;
        // SAFETY: as above.
        check(unsafe {
            api::sconce_tensor_matmul_out(weights.handle(), values.handle(), result.handle())
        })?;
        Ok(result)
    }

    /// Logarithms of the sums of the exponentials of the scores, in F32.
    fn log_sums(&self, scores: &Tensor) -> Result<Tensor> {
        let f32s = options(api::SCONCE_DTYPE_F32, -1);
        // SAFETY: handles are checked; options and place are valid.
        let wide = Tensor::made(|made| unsafe {
            api::sconce_tensor_to(scores.handle(), &f32s, false, false, made)
        })?;
        let reduced = |operation: i32, tensor: &Tensor| {
            // SAFETY: one dimension; the place is valid for a write.
            Tensor::made(|made| unsafe {
                api::sconce_tensor_reduce(
                    operation,
                    tensor.handle(),
                    &-1,
                    1,
                    true,
                    api::SCONCE_DTYPE_DEFAULT,
                    made,
                )
            })
        };
        let most = reduced(api::SCONCE_REDUCE_AMAX, &wide)?;
        let below = paired(api::SCONCE_BINARY_SUB, wide.handle(), most.handle())?;
        let in_place = |operation: i32, tensor: &Tensor| {
            // SAFETY: handles are checked; the result goes to the tensor itself.
            check(unsafe {
                api::sconce_tensor_unary(
                    operation,
                    tensor.handle(),
                    tensor.handle(),
                    std::ptr::null_mut(),
                )
            })
        };
        in_place(api::SCONCE_UNARY_EXP, &below)?;
        let sums = reduced(api::SCONCE_REDUCE_SUM, &below)?;
        in_place(api::SCONCE_UNARY_LOG, &sums)?;
        let logs = paired(api::SCONCE_BINARY_ADD, sums.handle(), most.handle())?;
        // SAFETY: handles are checked; the place is valid for a write.
        Tensor::made(|made| unsafe { api::sconce_tensor_squeeze(logs.handle(), &-1, 1, made) })
    }
}

/// A tensor where a condition holds, and a number elsewhere.
fn chosen(condition: TensorHandle, tensor: &Tensor, otherwise: f64) -> Result<Tensor> {
    let (no_tensor, no_number) = (std::ptr::null_mut(), std::ptr::null());
    // SAFETY: handles are checked; the number and the place are valid.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_where(
            condition,
            tensor.handle(),
            no_number,
            no_tensor,
            &real(otherwise),
            made,
        )
    })
}

fn refuse_dropout(dropout: f64) -> Result<()> {
    if dropout == 0.0 {
        return Ok(());
    }
    Err(Error::not_supported(format!(
        "attention with a dropout of {dropout} is not offered; export the model after .eval()"
    )))
}

/// A tensor of a device without elements, for results that are for training alone.
fn empty(sizes: &[i64], dtype: i32, device: i32) -> Result<Tensor> {
    let options = options(dtype, device);
    // SAFETY: sizes, options and the place are valid.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_empty(sizes.as_ptr(), sizes.len(), &options, made)
    })
}

fallbacks! {
    /// Returns attention on the CPU and the logarithms of the sums of its weights.
    aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu | aoti_torch_cuda__scaled_dot_product_flash_attention_for_cpu(
        query: TensorHandle,
        key: TensorHandle,
        value: TensorHandle,
        dropout_p: f64,
        is_causal: i32,
        attn_mask: *const TensorHandle,
        scale: *const f64,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        refuse_dropout(dropout_p)?;
        // SAFETY: the caller's promise for both pointers.
        let (bias, scale) = (unsafe { optional(attn_mask) }, unsafe { optional(scale) });
        let attention = Attention { query, key, value, bias, is_causal: is_causal != 0, scale };
        let scores = attention.scores()?;
        let logs = attention.log_sums(&scores)?;
        let result = attention.result(&scores)?;
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret1, logs) }?;
        // SAFETY: as above.
        unsafe { give(ret0, result) }
    }

    /// Returns attention, the logarithms of the sums of its weights if they are asked for, and two empty tensors in the
    /// place of the seed and the offset of dropout.
    aoti_torch_cpu__scaled_dot_product_efficient_attention | aoti_torch_cuda__scaled_dot_product_efficient_attention(
        query: TensorHandle,
        key: TensorHandle,
        value: TensorHandle,
        attn_bias: *const TensorHandle,
        compute_log_sumexp: i32,
        dropout_p: f64,
        is_causal: i32,
        scale: *const f64,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
        ret2: *mut TensorHandle,
        ret3: *mut TensorHandle,
    ) {
        refuse_dropout(dropout_p)?;
        // SAFETY: the caller's promise for both pointers.
        let (bias, scale) = (unsafe { optional(attn_bias) }, unsafe { optional(scale) });
        let attention = Attention { query, key, value, bias, is_causal: is_causal != 0, scale };
        let device = device_of_tensor(query)?;
        let scores = attention.scores()?;
        let logs = if compute_log_sumexp != 0 {
            attention.log_sums(&scores)?
        } else {
            let sizes = sizes_of(query)?;
            empty(&[sizes[0], sizes[1], 0], api::SCONCE_DTYPE_F32, device)?
        };
        let result = attention.result(&scores)?;
        let (seed, offset) = (empty(&[0], api::SCONCE_DTYPE_I64, device)?, empty(&[0], api::SCONCE_DTYPE_I64, device)?);
        // SAFETY: the caller's promise for the place.
        unsafe { give(ret1, logs) }?;
        // SAFETY: as above.
        unsafe { give(ret2, seed) }?;
        // SAFETY: as above.
        unsafe { give(ret3, offset) }?;
        // SAFETY: as above.
        unsafe { give(ret0, result) }
    }

    /// Returns attention. Results for training alone are empty: the logarithms of sums, cumulated lengths, seeds and the
    /// mask for debugging.
    aoti_torch_cpu__scaled_dot_product_flash_attention | aoti_torch_cuda__scaled_dot_product_flash_attention(
        query: TensorHandle,
        key: TensorHandle,
        value: TensorHandle,
        dropout_p: f64,
        is_causal: i32,
        _return_debug_mask: i32,
        scale: *const f64,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
        ret2: *mut TensorHandle,
        ret3: *mut TensorHandle,
        ret4: *mut i64,
        ret5: *mut i64,
        ret6: *mut TensorHandle,
        ret7: *mut TensorHandle,
        ret8: *mut TensorHandle,
    ) {
        refuse_dropout(dropout_p)?;
        // SAFETY: the caller's promise for the pointer.
        let scale = unsafe { optional(scale) };
        let attention = Attention { query, key, value, bias: None, is_causal: is_causal != 0, scale };
        // SAFETY: the caller's promise for the places.
        unsafe { give_for_inference(&attention, ret0, [ret1, ret2, ret3, ret6, ret7, ret8], [ret4, ret5]) }
    }

    /// As `_scaled_dot_product_flash_attention`, with a bias.
    aoti_torch_cpu__scaled_dot_product_cudnn_attention | aoti_torch_cuda__scaled_dot_product_cudnn_attention(
        query: TensorHandle,
        key: TensorHandle,
        value: TensorHandle,
        attn_bias: *const TensorHandle,
        compute_log_sumexp: i32,
        dropout_p: f64,
        is_causal: i32,
        _return_debug_mask: i32,
        scale: *const f64,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
        ret2: *mut TensorHandle,
        ret3: *mut TensorHandle,
        ret4: *mut i64,
        ret5: *mut i64,
        ret6: *mut TensorHandle,
        ret7: *mut TensorHandle,
        ret8: *mut TensorHandle,
    ) {
        refuse_dropout(dropout_p)?;
        if compute_log_sumexp != 0 {
            return Err(Error::not_supported("the logarithms of sums, which training needs, are not offered here"));
        }
        // SAFETY: the caller's promise for both pointers.
        let (bias, scale) = (unsafe { optional(attn_bias) }, unsafe { optional(scale) });
        let attention = Attention { query, key, value, bias, is_causal: is_causal != 0, scale };
        // SAFETY: the caller's promise for the places.
        unsafe { give_for_inference(&attention, ret0, [ret1, ret2, ret3, ret6, ret7, ret8], [ret4, ret5]) }
    }
}

/// Writes attention, empty tensors in the place of results for training, and the lengths of queries and keys.
///
/// # Safety
/// Places are NULL or valid for a write.
unsafe fn give_for_inference(
    attention: &Attention,
    place: *mut TensorHandle,
    others: [*mut TensorHandle; 6],
    lengths: [*mut i64; 2],
) -> Result<()> {
    let (query, key) = attention.sizes()?;
    let device = device_of_tensor(attention.query)?;
    let result = attention.result(&attention.scores()?)?;
    for (place, length) in lengths.into_iter().zip([query[2], key[2]]) {
        // SAFETY: the caller's promise.
        unsafe { crate::error::write_out(place, "ret", length) }?;
    }
    for place in others {
        let none = empty(&[0], api::SCONCE_DTYPE_I64, device)?;
        // SAFETY: the caller's promise.
        unsafe { give(place, none) }?;
    }
    // SAFETY: as above.
    unsafe { give(place, result) }
}
