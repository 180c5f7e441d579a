//! How weights of 4 bits are packed for a CPU, and the scales and zeros of their groups.

use crate::abi::tensors::sizes_of;
use crate::error::{Error, Result};
use crate::operations::products::check_type;
use crate::sconce::operations::{Operand, binary, reshape, select, to_dtype, unsqueeze};
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

/// The sizes of a matrix, whose name begins the text if it is none.
pub fn matrix(name: &str, tensor: TensorHandle) -> Result<[i64; 2]> {
    let sizes = sizes_of(tensor)?;
    <[i64; 2]>::try_from(&sizes[..]).map_err(|_| {
        Error::invalid_argument(format!(
            "expect {name} to be a matrix, but its sizes are {sizes:?}"
        ))
    })
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
