//! Elementwise operations that are made of others.

use sconce_base::error::Result;
use sconce_compute::pointwise::Scalar;

use super::binary::binary;
use super::binary_plan::BinaryOperation;
use super::operand::TensorOperand;
use super::unary::{UnaryOperation, unary};
use crate::tensor::Tensor;
use crate::tensor::promotion::is_complex;

/// An operation of one operand, as `unary`; SiLU of complex numbers is their product with their sigmoid.
pub fn elementwise(
    operation: UnaryOperation,
    input: &Tensor,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    if operation != UnaryOperation::Silu || !is_complex(input.dtype()) {
        return unary(operation, input, into);
    }
    let sigmoid = unary(UnaryOperation::Sigmoid, input, None)?;
    let operands = [TensorOperand::Tensor(input), TensorOperand::Tensor(&sigmoid)];
    binary(BinaryOperation::Mul, operands, Scalar::Int(1), into)
}
