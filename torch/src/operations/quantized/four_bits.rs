//! Products with weights of 4 bits that PyTorch packed for a CPU. The weights of a block of outputs lie input by input,
//! two a byte. How many outputs a block has and which two share a byte follows from the vectors of the processor on which
//! they were packed, and nothing beside the weights says which these were. So this is PyTorch's own rule: they are those
//! that PyTorch would use in this process.

#![allow(unsafe_code, reason = "reads and writes tensors of the CPU")]

use super::few_rows::{self, MOST_ROWS, PackedWeights};
use crate::abi::tensors::{data_of, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::products::check_type;
use crate::operations::tensors::{empty, is_floating, name_of};
use crate::sconce::operations::{
    Operand, binary, contiguous, matmul, reshape, select, to_dtype, unsqueeze,
};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

const F32: i32 = api::SCONCE_DTYPE_F32;

/// How weights are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Outputs of a block.
    pub block: usize,
    /// Whether the two outputs of a byte are half a whole block apart; else they are neighbours.
    pub halves: bool,
}

impl Packing {
    /// For vectors of 512 bits of x86.
    pub const AVX512: Packing = Packing { block: 64, halves: true };
    /// For vectors of 256 bits of x86.
    pub const AVX2: Packing = Packing { block: 32, halves: true };
    /// For an older x86.
    pub const DEFAULT: Packing = Packing { block: 32, halves: false };
    /// For 64-bit Arm.
    pub const NEON: Packing = Packing { block: 16, halves: false };

    /// That of PyTorch in this process: of its environment variable, or of the processor.
    pub fn of_process() -> Packing {
        let wanted = std::env::var("ATEN_CPU_CAPABILITY").unwrap_or_default();
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let fused = has!("avx2") && has!("fma");
            let wide = fused && has!("avx512vl") && has!("avx512bw") && has!("avx512dq");
            match wanted.as_str() {
                "avx512" => Packing::AVX512,
                "avx2" => Packing::AVX2,
                "default" => Packing::DEFAULT,
                _ if wide => Packing::AVX512,
                _ if fused => Packing::AVX2,
                _ => Packing::DEFAULT,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = wanted;
            Packing::NEON
        }
    }

    /// The byte of a line of so many outputs where one of them is, and whether it is in the upper half of that.
    pub fn within(self, output: usize, count: usize) -> (usize, bool) {
        if self.halves && count == self.block {
            (output % (count / 2), output >= count / 2)
        } else {
            (output / 2, output % 2 == 1)
        }
    }
}

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
    check_type("mat2", packed, api::SCONCE_DTYPE_U8)?;
    let [rows, inputs] = super::tensor_cores::matrix("A", input)?;
    let [outputs, bytes] = super::tensor_cores::matrix("B", packed)?;
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
    // SAFETY: the elements of these tensors lie one after another.
    let numbers = unsafe { elements::<f32>(&lines) }?;
    // SAFETY: as above.
    let bytes = unsafe { elements::<u8>(&bytes) }?;
    // SAFETY: as above.
    let scales = unsafe { elements::<f32>(&scales) }?;
    let into = data_of(result.handle())?.cast::<f32>();
    // SAFETY: the tensor is new, and has that many elements.
    let into = unsafe { std::slice::from_raw_parts_mut(into, (rows * outputs) as usize) };
    let (inputs, outputs, group) =
        (numbers.len() / rows as usize, outputs as usize, group as usize);
    let weights = PackedWeights { bytes, scales, group, inputs, outputs, packing };
    few_rows::product(numbers, weights, into);
    Ok(result)
}

/// # Safety
/// The elements are of this type, and lie one after another.
unsafe fn elements<T>(tensor: &Tensor) -> Result<&[T]> {
    let (data, count) = (data_of(tensor.handle())?, numel_of(tensor.handle())? as usize);
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller's promise; the tensor lives as long as the result.
    Ok(unsafe { std::slice::from_raw_parts(data.cast::<T>(), count) })
}

/// Refuses groups that PyTorch does not have, and scales of other sizes or another type.
pub fn check_scales(
    scales: TensorHandle,
    dtype: i32,
    [outputs, inputs]: [i64; 2],
    group: i64,
) -> Result<()> {
    if !matches!(group, 32 | 64 | 128 | 256) || inputs % group != 0 {
        return Err(Error::invalid_argument(format!(
            "expect qGroupSize to be 32, 64, 128 or 256, and to divide {inputs}, but it is {group}"
        )));
    }
    check_type("qScaleAndZeros", scales, dtype)?;
    let (found, wanted) = (sizes_of(scales)?, [inputs / group, outputs, 2]);
    if found != wanted {
        return Err(Error::invalid_argument(format!(
            "expect qScaleAndZeros to be 3d tensor with sizes {wanted:?}, but they are {found:?}"
        )));
    }
    Ok(())
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
    // SAFETY: the packed weights lie one after another.
    let from = unsafe { elements::<u8>(&lines) }?;
    let to = data_of(bits.handle())?.cast::<f32>();
    // SAFETY: the tensor is new, and has that many elements.
    let to = unsafe { std::slice::from_raw_parts_mut(to, outputs * inputs) };
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

/// Weights of inputs times outputs: each times the scale of its group and output, and its zero added.
pub fn scaled(bits: &Tensor, scales: TensorHandle, group: i64) -> Result<Tensor> {
    let sizes = sizes_of(bits.handle())?;
    let grouped = reshape(bits.handle(), &[sizes[0] / group, group, sizes[1]])?;
    let part = |at| -> Result<Tensor> {
        let part = to_dtype(select(scales, 2, at)?.handle(), F32)?;
        unsqueeze(part.handle(), 1)
    };
    let product = binary(api::SCONCE_BINARY_MUL, &grouped, Operand::Tensor(&part(0)?))?;
    let weights = binary(api::SCONCE_BINARY_ADD, &product, Operand::Tensor(&part(1)?))?;
    reshape(weights.handle(), &sizes)
}
