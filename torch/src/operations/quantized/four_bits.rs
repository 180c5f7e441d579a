//! Products with weights of 4 bits that PyTorch packed for a CPU. The weights of a block of outputs lie input by input,
//! two a byte. How many outputs a block has and which two share a byte follows from the vectors of the processor on which
//! they were packed, and nothing beside the weights says which these were. So this is PyTorch's own rule: they are those
//! that PyTorch would use in this process.

#![allow(unsafe_code, reason = "reads and writes tensors of the CPU")]

use super::few_rows::{self, MOST_ROWS, PackedWeights};
use super::packing::{Packing, check_scales, matrix, scaled};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::element::{elements, elements_to_write};
use crate::operations::products::check_type;
use crate::operations::tensors::{check_device, empty, is_floating, name_of};
use crate::sconce::operations::{contiguous, matmul, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

const F32: i32 = api::SCONCE_DTYPE_F32;

/// `_weight_int4pack_mm_for_cpu(self, mat2, qGroupSize, qScaleAndZeros)`: the product with the rows of weights. A weight
/// is `(bits - 8) * scale + zero`, of which each group of inputs has its own. It is calculated in float32 and rounded
/// once.
pub fn four_bit_weights(
    input: TensorHandle,
    packed: TensorHandle,
    group: i64,
    scales: TensorHandle,
    packing: Packing,
) -> Result<Tensor> {
    for (name, tensor) in [("A", input), ("mat2", packed), ("qScaleAndZeros", scales)] {
        check_device(name, device_of_tensor(tensor)?, api::SCONCE_DEVICE_CPU)?;
    }
    check_type("mat2", packed, api::SCONCE_DTYPE_U8)?;
    let [rows, inputs] = matrix("A", input)?;
    let [outputs, bytes] = matrix("B", packed)?;
    let dtype = dtype_of_tensor(input)?;
    if !is_floating(dtype) || dtype == api::SCONCE_DTYPE_F64 {
        return Err(Error::invalid_argument(format!(
            "expect A to be either 32-bit or 16-bit float tensor, but it is of {}",
            name_of(dtype)
        )));
    }
    if bytes * 2 != inputs {
        return Err(Error::invalid_argument(format!(
            "expect B.size(1) to be {} for {inputs} columns of A, but it is {bytes}",
            inputs / 2
        )));
    }
    if outputs % 16 != 0 {
        return Err(Error::invalid_argument(format!(
            "expect B.size(0) to be divisible by 16, but it is {outputs}"
        )));
    }
    check_scales(scales, dtype, [outputs, inputs], group)?;
    let product = match usize::try_from(rows) {
        Ok(rows) if rows <= MOST_ROWS => few_rows(input, packed, group, scales, packing)?,
        _ => {
            let weights = scaled(&bits_of(packed, packing)?, scales, group)?;
            matmul(to_dtype(input, F32)?.handle(), weights.handle())?
        }
    };
    to_dtype(product.handle(), dtype)
}

/// The product of few rows, in float32.
fn few_rows(
    input: TensorHandle,
    packed: TensorHandle,
    group: i64,
    scales: TensorHandle,
    packing: Packing,
) -> Result<Tensor> {
    let [rows, outputs] = [sizes_of(input)?[0], sizes_of(packed)?[0]];
    let result = empty(&[rows, outputs], F32, api::SCONCE_DEVICE_CPU)?;
    if numel_of(result.handle())? == 0 {
        return Ok(result);
    }
    let lines = contiguous(to_dtype(input, F32)?.handle())?;
    let (bytes, scales) = (contiguous(packed)?, contiguous(to_dtype(scales, F32)?.handle())?);
    // SAFETY: the tensor was made contiguous, in float32, and nobody writes it.
    let numbers = unsafe { elements::<f32>(lines.handle()) }?;
    // SAFETY: the tensor was made contiguous, has bytes, and nobody writes it.
    let bytes = unsafe { elements::<u8>(bytes.handle()) }?;
    // SAFETY: the tensor was made contiguous, in float32, and nobody writes it.
    let scales = unsafe { elements::<f32>(scales.handle()) }?;
    // SAFETY: the tensor is new, so nobody else uses it.
    let into = unsafe { elements_to_write::<f32>(result.handle()) }?;
    let (inputs, outputs, group) =
        (numbers.len() / rows as usize, outputs as usize, group as usize);
    let weights = PackedWeights { bytes, scales, group, inputs, outputs, packing };
    few_rows::product(numbers, weights, into);
    Ok(result)
}

/// The bits of all weights, less 8, as a matrix of inputs times outputs in float32.
fn bits_of(packed: TensorHandle, packing: Packing) -> Result<Tensor> {
    let sizes = sizes_of(packed)?;
    let (outputs, inputs) = (sizes[0] as usize, sizes[1] as usize * 2);
    let bits = empty(&[inputs as i64, outputs as i64], F32, api::SCONCE_DEVICE_CPU)?;
    if numel_of(bits.handle())? == 0 {
        return Ok(bits);
    }
    let lines = contiguous(packed)?;
    // SAFETY: the tensor was made contiguous, has bytes, and nobody writes it.
    let from = unsafe { elements::<u8>(lines.handle()) }?;
    // SAFETY: the tensor is new, so nobody else uses it.
    let to = unsafe { elements_to_write::<f32>(bits.handle()) }?;
    for begin in (0..outputs).step_by(packing.block) {
        let count = packing.block.min(outputs - begin);
        let places: Vec<(usize, bool)> =
            (0..count).map(|output| packing.within(output, count)).collect();
        let block = &from[begin * inputs / 2..][..count * inputs / 2];
        for (line, row) in block.chunks_exact(count / 2).zip(to.chunks_exact_mut(outputs)) {
            for (weight, &(byte, is_upper)) in row[begin..].iter_mut().zip(&places) {
                let four = if is_upper { line[byte] >> 4 } else { line[byte] & 15 };
                *weight = f32::from(four) - 8.0;
            }
        }
    }
    Ok(bits)
}
