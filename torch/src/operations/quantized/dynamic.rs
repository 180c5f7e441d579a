//! Products of rows that are quantized on the way with weights of 4 bits. PyTorch's packed form of these, where no
//! library for Arm has its own, is a vector of float32: the bytes of the weights, and then their scales.

#![allow(unsafe_code, reason = "reads and writes tensors of the CPU")]

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::element::{elements, elements_to_write};
use crate::operations::layout::count_of;
use crate::operations::products::check_type;
use crate::operations::tensors::{check_device, empty, name_of};
use crate::sconce::operations::{cat, contiguous, reshape, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

const F32: i32 = api::SCONCE_DTYPE_F32;
const BF16: i32 = api::SCONCE_DTYPE_BF16;

/// `_dyn_quant_pack_4bit_weight(weights, scales_zeros, bias, …)`.
pub fn pack(
    weights: TensorHandle,
    scales: TensorHandle,
    bias: Option<TensorHandle>,
    [group, inputs, outputs]: [i64; 3],
) -> Result<Tensor> {
    check_type("weights", weights, api::SCONCE_DTYPE_U8)?;
    check_group(group, inputs)?;
    if bias.is_some() {
        return Err(Error::not_supported(
            "Bias is unsupported in reference implementation; add it to the product",
        ));
    }
    let count = count_of(&[inputs, outputs], "in_features times out_features")?;
    if numel_of(weights)?.checked_mul(2) != Some(count) {
        return Err(Error::invalid_argument(format!(
            "weights have {} bytes, but {outputs} outputs of {inputs} inputs have {}",
            numel_of(weights)?,
            count / 2
        )));
    }
    let [bytes, scales] = [weights, scales].map(|tensor| -> Result<Tensor> {
        let flat = reshape(tensor, &[numel_of(tensor)?])?;
        to_dtype(flat.handle(), F32)
    });
    cat(&[bytes?.handle(), scales?.handle()], 0)
}

fn check_group(group: i64, inputs: i64) -> Result<()> {
    if inputs > 0 && (group == inputs || group > 0 && group % 32 == 0 && inputs % group == 0) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "Group size should be multiple 32 or in_features [{inputs}]. Provided {group}"
    )))
}

/// `_dyn_quant_matmul_4bit(inp, packed_weights, …)`: the product with the rows of packed weights.
pub fn matmul(
    input: TensorHandle,
    packed: TensorHandle,
    [group, inputs, outputs]: [i64; 3],
) -> Result<Tensor> {
    let (dtype, sizes) = (dtype_of_tensor(input)?, sizes_of(input)?);
    if dtype != F32 && (dtype != BF16 || group != inputs) {
        return Err(Error::invalid_argument(format!(
            "expect input to be float32, or bfloat16 with one group a row, but it is of {}",
            name_of(dtype)
        )));
    }
    check_group(group, inputs)?;
    if sizes.len() < 2 || sizes.last() != Some(&inputs) || outputs < 1 {
        return Err(Error::invalid_argument(format!(
            "the input has the sizes {sizes:?}, but must end with {inputs}, and have {outputs} > 0 outputs"
        )));
    }
    let count = count_of(&[inputs, outputs], "in_features times out_features")?;
    if count % 2 != 0 {
        return Err(Error::invalid_argument(format!(
            "in_features times out_features must be even, as a byte has two weights, but is {count}"
        )));
    }
    // There are no more groups than inputs.
    let bytes = count / 2;
    let wanted = bytes.saturating_add(outputs * (inputs / group));
    let found = numel_of(packed)?;
    for (name, tensor) in [("inp", input), ("packed_weights", packed)] {
        check_device(name, device_of_tensor(tensor)?, api::SCONCE_DEVICE_CPU)?;
    }
    if dtype_of_tensor(packed)? != F32 || found != wanted {
        return Err(Error::not_supported(format!(
            "packed_weights are of {} with {found} elements, and not {wanted} of float32: they were packed for another \
             processor. Pack them on this one (_dyn_quant_pack_4bit_weight)",
            name_of(dtype_of_tensor(packed)?)
        )));
    }
    let lines = contiguous(to_dtype(input, F32)?.handle())?;
    let weights = contiguous(packed)?;
    let mut made = sizes;
    if let Some(last) = made.last_mut() {
        *last = outputs;
    }
    let result = empty(&made, F32, api::SCONCE_DEVICE_CPU)?;
    // SAFETY: the tensor was made contiguous, in float32, and nobody writes it.
    let lines = unsafe { elements::<f32>(lines.handle()) }?;
    // SAFETY: the tensor was made contiguous, its type was checked, and nobody writes it.
    let weights = unsafe { elements::<f32>(weights.handle()) }?;
    // SAFETY: the tensor is new, so nobody else uses it.
    let into = unsafe { elements_to_write::<f32>(result.handle()) }?;
    let (bytes, scales) = weights.split_at(bytes as usize);
    let weights: Vec<i32> = bytes
        .iter()
        .flat_map(|&byte| {
            let byte = byte as u8;
            [i32::from(byte & 15) - 8, i32::from(byte >> 4) - 8]
        })
        .collect();
    let (inputs, group) = (inputs as usize, group as usize);
    let mut integers = vec![0_i32; inputs];
    let rows = lines.chunks_exact(inputs).zip(into.chunks_exact_mut(outputs as usize));
    for (line, row) in rows {
        let step = quantize(line, &mut integers);
        let of_outputs = weights.chunks_exact(inputs).zip(scales.chunks_exact(inputs / group));
        for (place, (weights, scales)) in row.iter_mut().zip(of_outputs) {
            let groups = integers.chunks_exact(group).zip(weights.chunks_exact(group));
            let sum: f32 = groups
                .zip(scales)
                .map(|((integers, weights), scale)| {
                    let whole: i32 = integers.iter().zip(weights).map(|(a, b)| a * b).sum();
                    whole as f32 * scale
                })
                .sum();
            *place = sum * step;
        }
    }
    to_dtype(result.handle(), dtype)
}

/// Integers of 8 bits for a line, less the one that stands for 0, and the real number from one to the next. Of a zero
/// point that fits the least element or the largest one, it is the one that is further inside.
fn quantize(line: &[f32], integers: &mut [i32]) -> f32 {
    let (lowest, highest) = (-128.0_f32, 127.0_f32);
    let least = line.iter().copied().fold(0.0_f32, f32::min);
    let most = line.iter().copied().fold(0.0_f32, f32::max);
    let scale = if least == most { 1.0 } else { (highest - lowest) / (most - least) };
    let (down, up) = (least * scale, most * scale);
    let from_below = (lowest + down) + (highest + up) > 0.0;
    let zero = if from_below { lowest - down } else { highest - up };
    let zero = zero.clamp(lowest, highest).round_ties_even() as i32;
    for (integer, value) in integers.iter_mut().zip(line) {
        *integer = ((value * scale).round() as i32 + zero).clamp(-128, 127) - zero;
    }
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}
