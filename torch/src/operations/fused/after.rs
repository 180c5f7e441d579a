//! What follows a convolution or a product: another tensor, and a function of one element.

use super::activation::Activation;
use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::tensors::name_of;
use crate::sconce::operations::{binary_in_place, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// How the result and another tensor are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination(i32);

impl Combination {
    /// The combination of PyTorch's name.
    pub fn of(name: &str) -> Result<Combination> {
        Ok(Combination(match name {
            "add" => api::SCONCE_BINARY_ADD,
            "sub" => api::SCONCE_BINARY_SUB,
            "mul" => api::SCONCE_BINARY_MUL,
            "div" => api::SCONCE_BINARY_DIV,
            other => {
                return Err(Error::not_supported(format!(
                    "Fusion behavior undefined: {other:?} is not add, sub, mul or div"
                )));
            }
        }))
    }
}

/// What follows a convolution or a product.
#[derive(Clone, Copy, Debug)]
pub struct After {
    /// Another tensor of the result's sizes, and how it is combined.
    pub other: Option<(TensorHandle, Combination)>,
    /// A function of each element then.
    pub activation: Activation,
}

impl After {
    /// A function alone.
    pub fn only(activation: Activation) -> After {
        After { other: None, activation }
    }

    /// Refuses another tensor of other sizes than the result, or of another type than the input.
    pub fn check(self, input: TensorHandle, sizes: &[i64]) -> Result<()> {
        let Some((other, _)) = self.other else { return Ok(()) };
        let found = sizes_of(other)?;
        if found != sizes {
            return Err(Error::invalid_argument(format!(
                "Binary Fusion's inputs should have same shape, but other has {found:?} and the result {sizes:?}"
            )));
        }
        check_same_type("other", other, input)
    }

    /// The result in float32, or wider, with all this, in its own memory as far as possible.
    pub fn apply(self, mut result: Tensor) -> Result<Tensor> {
        if let Some((other, Combination(operation))) = self.other {
            result = binary_in_place(operation, result, &widened(other)?)?;
        }
        self.activation.apply(result)
    }
}

/// Refuses a tensor of another type than the input.
pub fn check_same_type(name: &str, tensor: TensorHandle, input: TensorHandle) -> Result<()> {
    let (dtype, wanted) = (dtype_of_tensor(tensor)?, dtype_of_tensor(input)?);
    if dtype == wanted {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "Input type ({}) and {name} type ({}) should be the same",
        name_of(wanted),
        name_of(dtype)
    )))
}
