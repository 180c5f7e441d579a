//! Tensors of one value.

use sconce_base::error::Result;
use sconce_compute::pointwise::Scalar;

use crate::tensor::launch;
use crate::tensor::overlap::refuse_unwritable;
use crate::tensor::transfer::{empty_like, zero_if_dense};
use crate::tensor::{MemoryFormat, Tensor, TensorOptions};

/// A new tensor whose elements are all `value`, with sizes and order in memory of another tensor.
pub fn full_like(
    tensor: &Tensor,
    value: Scalar,
    options: TensorOptions,
    format: MemoryFormat,
) -> Result<Tensor> {
    let new = empty_like(tensor, options, format)?;
    fill(&new, value)?;
    Ok(new)
}

/// Whether every byte of the value is 0, in every type.
fn is_all_zeros(value: Scalar) -> bool {
    match value {
        Scalar::Bool(value) => !value,
        Scalar::Int(value) => value == 0,
        Scalar::Float(value) => value.to_bits() == 0,
        Scalar::Complex(real, imaginary) => real.to_bits() == 0 && imaginary.to_bits() == 0,
    }
}

/// Sets every element (`torch.Tensor.fill_`).
pub fn fill(tensor: &Tensor, value: Scalar) -> Result<()> {
    if tensor.numel() == 0 {
        return Ok(());
    }
    refuse_unwritable(tensor)?;
    if is_all_zeros(value) && zero_if_dense(tensor)? {
        return Ok(());
    }
    launch::fill(tensor, value)
}
