//! Functions of one element that follow a convolution or a product.

use crate::error::{Error, Result};
use crate::sconce::operations::{Operand, binary, choose, unary_in_place};
use crate::sconce::values::real;
use crate::sconce::{Tensor, api};

/// A function of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The element itself.
    None,
    /// `SCONCE_UNARY_…`.
    Unary(i32),
    /// `x * min(max(x + 3, 0), 6) / 6`.
    HardSwish,
    /// `min(max(x + 3, 0), 6) / 6`.
    HardSigmoid,
    /// The element, times a slope below 0.
    LeakyRelu(f64),
    /// The element within bounds.
    HardTanh(f64, f64),
}

impl Activation {
    /// The function of PyTorch's name, numbers and algorithm.
    pub fn of(name: &str, numbers: &[Option<f64>], algorithm: &str) -> Result<Activation> {
        let number = |at: usize| {
            numbers.get(at).copied().flatten().ok_or_else(|| {
                Error::invalid_argument(format!("scalars of {name} lack the one at {at}"))
            })
        };
        Ok(match name {
            "" | "none" => Activation::None,
            "relu" => Activation::Unary(api::SCONCE_UNARY_RELU),
            "sigmoid" => Activation::Unary(api::SCONCE_UNARY_SIGMOID),
            "tanh" => Activation::Unary(api::SCONCE_UNARY_TANH),
            "swish" => Activation::Unary(api::SCONCE_UNARY_SILU),
            "gelu" => match algorithm {
                "none" => Activation::Unary(api::SCONCE_UNARY_GELU),
                "tanh" => Activation::Unary(api::SCONCE_UNARY_GELU_TANH),
                other => {
                    return Err(Error::invalid_argument(format!(
                        "algorithm of gelu is {other:?}, but must be \"none\" or \"tanh\""
                    )));
                }
            },
            "hardswish" => Activation::HardSwish,
            "hardsigmoid" => Activation::HardSigmoid,
            "leaky_relu" => Activation::LeakyRelu(number(0)?),
            "hardtanh" => Activation::HardTanh(number(0)?, number(1)?),
            other => {
                return Err(Error::not_supported(format!(
                    "Fusion behavior undefined: {other:?} is no function that follows a convolution or a product"
                )));
            }
        })
    }

    /// The function of each element, in the tensor's own memory where one operation calculates it.
    pub fn apply(self, tensor: Tensor) -> Result<Tensor> {
        match self {
            Activation::None => Ok(tensor),
            Activation::Unary(operation) => unary_in_place(operation, tensor),
            Activation::HardSwish => {
                let share = gate(&tensor)?;
                binary(api::SCONCE_BINARY_MUL, &tensor, Operand::Tensor(&share))
            }
            Activation::HardSigmoid => gate(&tensor),
            Activation::LeakyRelu(slope) => {
                let above = binary(api::SCONCE_BINARY_GT, &tensor, Operand::Number(0.0))?;
                let below = binary(api::SCONCE_BINARY_MUL, &tensor, Operand::Number(slope))?;
                choose(&above, Operand::Tensor(&tensor), Operand::Tensor(&below))
            }
            Activation::HardTanh(least, most) => clamped(&tensor, least, most),
        }
    }
}

/// `min(max(x + 3, 0), 6) / 6`.
fn gate(tensor: &Tensor) -> Result<Tensor> {
    let moved = binary(api::SCONCE_BINARY_ADD, tensor, Operand::Number(3.0))?;
    let within = clamped(&moved, 0.0, 6.0)?;
    binary(api::SCONCE_BINARY_DIV, &within, Operand::Number(6.0))
}

/// Elements within bounds.
pub fn clamped(tensor: &Tensor, least: f64, most: f64) -> Result<Tensor> {
    let (least, most) = (real(least), real(most));
    let none = std::ptr::null_mut();
    Tensor::made(|made| {
        api::sconce_tensor_clamp(tensor.handle(), none, Some(&least), none, Some(&most), made)
    })
}
