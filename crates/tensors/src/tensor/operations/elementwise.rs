//! Elementwise operations that are made of others.

use sconce_base::error::Result;
use sconce_compute::pointwise::{ElementOperation, Scalar};

use super::binary::binary;
use super::operand::TensorOperand;
use super::unary::unary;
use crate::tensor::Tensor;
use crate::tensor::promotion::is_complex;

/// An operation of one operand, as `unary`; SiLU of complex numbers is their product with their sigmoid.
pub fn elementwise(
    operation: ElementOperation,
    input: &Tensor,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    if operation != ElementOperation::Silu || !is_complex(input.dtype()) {
        return unary(operation, input, into);
    }
    let sigmoid = unary(ElementOperation::Sigmoid, input, None)?;
    let operands = [TensorOperand::Tensor(input), TensorOperand::Tensor(&sigmoid)];
    binary(ElementOperation::Mul, operands, Scalar::Int(1), into)
}
