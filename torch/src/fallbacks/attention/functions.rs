//! The functions of the ABI that return attention.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::{Attended, Attention, ResultOrder};
use crate::abi::arguments::Out;
use crate::abi::devices::{current_stream, is_capturing};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::error::{Error, Result};
use crate::fallbacks::{Place, give_all};
use crate::sconce::operations;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{options, real};
use crate::sconce::{Tensor, api};

pub(super) fn refuse_dropout(dropout_p: f64) -> Result<()> {
    if dropout_p == 0.0 {
        return Ok(());
    }
    Err(Error::not_supported(format!(
        "attention with a dropout of {dropout_p} is not offered by Sconce: export the model in evaluation mode \
         (model.eval()), or pass dropout_p=0.0"
    )))
}

fn empty(sizes: &[i64], dtype: i32, device: i32) -> Result<Tensor> {
    operations::empty(sizes, &options(dtype, device))
}

/// Seed and offset of no dropout, whose values nobody reads. As PyTorch's, they take memory of the device in a capture
/// alone, and else lie on the CPU.
pub(super) fn no_dropout(query: TensorHandle) -> Result<[Tensor; 2]> {
    let mut device = device_of_tensor(query)?;
    if device != api::SCONCE_DEVICE_CPU && !is_capturing(current_stream(device)?)? {
        device = api::SCONCE_DEVICE_CPU;
    }
    let number = || empty(&[], api::SCONCE_DTYPE_I64, device);
    Ok([number()?, number()?])
}

/// As `give_all`; the first result has to be read.
pub(super) fn return_all<const N: usize>(results: [(Place<'_>, &str, Tensor); N]) -> Result<()> {
    if let Some((place, name, _)) = results.first()
        && place.is_none()
    {
        return Err(Error::invalid_argument(format!("{name} is NULL")));
    }
    give_all(results)
}

/// Log sums in float32, with lines filled up to a multiple of 32 as PyTorch's kernel leaves them.
fn aligned_log_sums(attended: &Attended, device: i32) -> Result<Tensor> {
    let shapes = &attended.shapes;
    let Some(log_sums) = &attended.log_sums else {
        return empty(&[shapes.batch, shapes.heads, 0], api::SCONCE_DTYPE_F32, device);
    };
    let length = (shapes.queries + 31) / 32 * 32;
    let sizes = [shapes.batch, shapes.heads, length];
    let options = options(api::SCONCE_DTYPE_F32, device);
    let filled = operations::full(&sizes, &real(f64::INFINITY), &options)?;
    let part = operations::narrow(filled.handle(), 2, 0, shapes.queries)?;
    operations::copy(&part, log_sums.handle())?;
    Ok(filled)
}

abi_functions! {
    /// Returns attention, and the log sums if they are asked for. Seed and offset are those of no dropout.
    aoti_torch_cuda__scaled_dot_product_efficient_attention(
        query: TensorHandle, key: TensorHandle, value: TensorHandle,
        attn_bias: Option<TensorHandle>, compute_log_sumexp: bool, dropout_p: f64, is_causal: bool,
        scale: Option<f64>, ret0: Place, ret1: Place, ret2: Place, ret3: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let attention = Attention { query, key, value, mask: attn_bias, is_causal, scale };
        let with_log_sums = compute_log_sumexp && !ret1.is_none();
        let attended = attention.run(ResultOrder::PositionsFirst, with_log_sums)?;
        let device = device_of_tensor(query)?;
        let log_sums = aligned_log_sums(&attended, device)?;
        let [seed, offset] = no_dropout(query)?;
        let results = [
            (ret0, "ret0", attended.output),
            (ret1, "ret1", log_sums),
            (ret2, "ret2", seed),
            (ret3, "ret3", offset),
        ];
        return_all(results)
    }

    /// Returns attention in the order of the query, and the log sums, whose positions lie before the heads in memory.
    aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu(
        query: TensorHandle, key: TensorHandle, value: TensorHandle, dropout_p: f64,
        is_causal: bool, attn_mask: Option<TensorHandle>, scale: Option<f64>, ret0: Place,
        ret1: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let attention = Attention { query, key, value, mask: attn_mask, is_causal, scale };
        let attended = attention.run(ResultOrder::OfQuery, !ret1.is_none())?;
        let log_sums = position_first(&attended, device_of_tensor(query)?)?;
        let results = [(ret0, "ret0", attended.output), (ret1, "ret1", log_sums)];
        return_all(results)
    }
}

fn position_first(attended: &Attended, device: i32) -> Result<Tensor> {
    let shapes = &attended.shapes;
    let dtype = match &attended.log_sums {
        Some(log_sums) => dtype_of_tensor(log_sums.handle())?,
        None => api::SCONCE_DTYPE_F32,
    };
    let memory = empty(&[shapes.batch, shapes.queries, shapes.heads], dtype, device)?;
    let result = operations::transpose(memory.handle(), 1, 2)?;
    if let Some(log_sums) = &attended.log_sums {
        operations::copy(&result, log_sums.handle())?;
    }
    Ok(result)
}

/// What a backward pass gets from a function beside attention.
#[derive(PartialEq)]
enum Auxiliary {
    /// Seed and offset of dropout, two numbers and one of U64, and an empty mask.
    Flash,
    /// A number of I64 each, and no mask; the log sums have one more dimension, of one element.
    Cudnn,
    /// A number of I64 each, and no mask.
    Other,
}

/// Returns attention and what a backward pass reads, all of it or nothing: the log sums, cumulated lengths of sequences of
/// several lengths, of which there are none, seed, offset and mask of dropout, which have no values, and the numbers of
/// queries and keys. NULL is the place of what the caller does not read.
fn return_with(
    attention: &Attention,
    with_log_sums: bool,
    auxiliary: Auxiliary,
    [ret0, ret1, ret2, ret3, ret6, ret7, ret8]: [Place<'_>; 7],
    lengths: [Out<'_, i64>; 2],
) -> Result<()> {
    let attended = attention.run(ResultOrder::OfQuery, with_log_sums)?;
    let shapes = attended.shapes;
    let device = device_of_tensor(attention.query)?;
    let lines = [shapes.batch, shapes.heads, if with_log_sums { shapes.queries } else { 0 }];
    let mut log_sums = match attended.log_sums {
        Some(log_sums) => log_sums,
        None => empty(&lines, api::SCONCE_DTYPE_F32, device)?,
    };
    if auxiliary == Auxiliary::Cudnn {
        log_sums = operations::unsqueeze(log_sums.handle(), -1)?;
    }
    let (seed, offset, mask) = match auxiliary {
        Auxiliary::Flash => (
            empty(&[2], api::SCONCE_DTYPE_U64, device)?,
            empty(&[], api::SCONCE_DTYPE_U64, device)?,
            empty(&[0], dtype_of_tensor(attention.query)?, device)?,
        ),
        Auxiliary::Cudnn | Auxiliary::Other => (
            empty(&[], api::SCONCE_DTYPE_I64, device)?,
            empty(&[], api::SCONCE_DTYPE_I64, device)?,
            operations::undefined()?,
        ),
    };
    let results = [
        (ret0, "ret0", attended.output),
        (ret1, "ret1", log_sums),
        (ret2, "ret2", operations::undefined()?),
        (ret3, "ret3", operations::undefined()?),
        (ret6, "ret6", seed),
        (ret7, "ret7", offset),
        (ret8, "ret8", mask),
    ];
    return_all(results)?;
    for (place, length) in lengths.into_iter().zip([shapes.queries, shapes.keys]) {
        place.write_if_wanted(length);
    }
    Ok(())
}

abi_functions! {
    /// Returns attention, the log sums, and what stands for no dropout and one length.
    aoti_torch_cuda__scaled_dot_product_flash_attention(
        query: TensorHandle, key: TensorHandle, value: TensorHandle, dropout_p: f64,
        is_causal: bool, _return_debug_mask: bool, scale: Option<f64>, ret0: Place, ret1: Place,
        ret2: Place, ret3: Place, ret4: Out<i64>, ret5: Out<i64>, ret6: Place, ret7: Place,
        ret8: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let attention = Attention { query, key, value, mask: None, is_causal, scale };
        let with_log_sums = !ret1.is_none();
        let places = [ret0, ret1, ret2, ret3, ret6, ret7, ret8];
        return_with(&attention, with_log_sums, Auxiliary::Flash, places, [ret4, ret5])
    }

    /// As `aoti_torch_cuda__scaled_dot_product_flash_attention`, with a bias, and log sums if they are asked for.
    aoti_torch_cuda__scaled_dot_product_cudnn_attention(
        query: TensorHandle, key: TensorHandle, value: TensorHandle,
        attn_bias: Option<TensorHandle>, compute_log_sumexp: bool, dropout_p: f64, is_causal: bool,
        _return_debug_mask: bool, scale: Option<f64>, ret0: Place, ret1: Place, ret2: Place,
        ret3: Place, ret4: Out<i64>, ret5: Out<i64>, ret6: Place, ret7: Place, ret8: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let attention = Attention { query, key, value, mask: attn_bias, is_causal, scale };
        let with_log_sums = compute_log_sumexp && !ret1.is_none();
        let places = [ret0, ret1, ret2, ret3, ret6, ret7, ret8];
        return_with(&attention, with_log_sums, Auxiliary::Cudnn, places, [ret4, ret5])
    }

    /// Returns attention, the log sums, and what stands for no dropout and one length. PyTorch has no such function of
    /// the CPU or of CUDA: other devices have it.
    aoti_torch_cpu__scaled_dot_product_fused_attention_overrideable
    | aoti_torch_cuda__scaled_dot_product_fused_attention_overrideable(
        query: TensorHandle, key: TensorHandle, value: TensorHandle,
        attn_bias: Option<TensorHandle>, dropout_p: f64, is_causal: bool, _return_debug_mask: bool,
        scale: Option<f64>, ret0: Place, ret1: Place, ret2: Place, ret3: Place, ret4: Out<i64>,
        ret5: Out<i64>, ret6: Place, ret7: Place, ret8: Place,
    ) {
        refuse_dropout(dropout_p)?;
        let attention = Attention { query, key, value, mask: attn_bias, is_causal, scale };
        let with_log_sums = !ret1.is_none();
        let places = [ret0, ret1, ret2, ret3, ret6, ret7, ret8];
        return_with(&attention, with_log_sums, Auxiliary::Other, places, [ret4, ret5])
    }
}
