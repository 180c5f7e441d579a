//! What follows a product or a convolution of integers: scales, a bias, another tensor, a function, the result's type.

use super::numbers::{Scale, in_type, real_numbers};
use crate::abi::handles::another_handle;
use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::fused::activation::Activation;
use crate::operations::tensors::name_of;
use crate::sconce::operations::{Operand, binary, copy, reshape, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Another tensor that is added.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// The tensor.
    pub tensor: TensorHandle,
    /// What its numbers stand for.
    pub scale: Scale,
    /// Whether the result is written to it.
    pub in_place: bool,
}

impl Added {
    /// The other tensor by PyTorch's name of what is done with it; `None` for nothing.
    pub fn of(
        name: &str,
        tensor: Option<TensorHandle>,
        scale: Scale,
        alpha: f64,
    ) -> Result<Option<Added>> {
        let in_place = match name {
            "" | "none" => return Ok(None),
            "sum" => true,
            "add" => false,
            other => {
                return Err(Error::not_supported(format!(
                    "binary post op {other:?} is not none, sum or add"
                )));
            }
        };
        if alpha != 1.0 {
            return Err(Error::not_supported("alpha != 1 for binary post op is not supported"));
        }
        let tensor = tensor.ok_or_else(|| {
            Error::invalid_argument(format!("the extra input is missing for post op {name}"))
        })?;
        Ok(Some(Added { tensor, scale, in_place }))
    }
}

/// What follows.
#[derive(Clone, Copy, Debug)]
pub struct Behind {
    /// Another tensor that is added.
    pub added: Option<Added>,
    /// A function of each element then.
    pub activation: Activation,
    /// The result's type.
    pub dtype: i32,
    /// What the result's numbers stand for.
    pub scale: Scale,
}

impl Behind {
    /// Refuses another tensor that cannot have the result.
    pub fn check(&self, sizes: &[i64]) -> Result<()> {
        let Some(added) = self.added else { return Ok(()) };
        let (dtype, found) = (dtype_of_tensor(added.tensor)?, sizes_of(added.tensor)?);
        if found.iter().product::<i64>() != sizes.iter().product::<i64>() {
            return Err(Error::invalid_argument(format!(
                "the extra input has the sizes {found:?}, and the result {sizes:?}"
            )));
        }
        if added.in_place && dtype != self.dtype {
            return Err(Error::invalid_argument(format!(
                "the dtype of extra input for binary post op should be {} (same as output dtype), but got {}",
                name_of(self.dtype),
                name_of(dtype)
            )));
        }
        Ok(())
    }

    /// The result, of whole numbers times the scales of the input and the weights. Bias and scales are repeated over
    /// the whole numbers.
    pub fn apply(
        &self,
        whole: &Tensor,
        input_factor: f64,
        weight_scales: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Tensor> {
        let whole = to_dtype(whole.handle(), api::SCONCE_DTYPE_F32)?;
        let factors = binary(api::SCONCE_BINARY_MUL, weight_scales, Operand::Number(input_factor))?;
        let mut numbers = binary(api::SCONCE_BINARY_MUL, &whole, Operand::Tensor(&factors))?;
        if let Some(bias) = bias {
            numbers = binary(api::SCONCE_BINARY_ADD, &numbers, Operand::Tensor(bias))?;
        }
        let sizes = sizes_of(numbers.handle())?;
        if let Some(added) = self.added {
            let other = real_numbers(added.tensor, added.scale)?;
            let other = reshape(other.handle(), &sizes)?;
            numbers = binary(api::SCONCE_BINARY_ADD, &numbers, Operand::Tensor(&other))?;
        }
        let result = in_type(&self.activation.apply(numbers)?, self.scale, self.dtype)?;
        match self.added {
            Some(added) if added.in_place => {
                let into = sizes_of(added.tensor)?;
                copy(&Tensor::retained(added.tensor)?, reshape(result.handle(), &into)?.handle())?;
                another_handle(added.tensor)
            }
            _ => Ok(result),
        }
    }
}
