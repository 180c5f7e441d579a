//! Whether all elements of two tensors are equal, or close. Both wait for the current stream.

use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::{ElementOperation, Scalar};
use sconce_compute::reduction::ReduceOp;

use super::binary::binary;
use super::operand::{TensorOperand, same_place};
use super::reduce::{Reduction, reduce};
use super::unary::unary;
use crate::tensor::Tensor;
use crate::tensor::promotion::is_integral;
use crate::tensor::transfer::item;

const ONE: Scalar = Scalar::Int(1);

fn are_all_true(tensor: &Tensor) -> Result<bool> {
    let all = Reduction { op: ReduceOp::All, dims: &[], keep: false, dtype: None };
    Ok(!matches!(item(&reduce(tensor, all, None)?)?, Scalar::Bool(false) | Scalar::Int(0)))
}

/// Whether both have the same shape and equal elements (`torch.equal`).
pub fn equal(first: &Tensor, second: &Tensor) -> Result<bool> {
    same_place([first, second])?;
    if first.sizes() != second.sizes() {
        return Ok(false);
    }
    let operands = [TensorOperand::Tensor(first), TensorOperand::Tensor(second)];
    are_all_true(&binary(ElementOperation::Eq, operands, ONE, None)?)
}

fn pair(
    op: ElementOperation,
    first: TensorOperand<'_>,
    second: TensorOperand<'_>,
) -> Result<Tensor> {
    binary(op, [first, second], ONE, None)
}

fn tensor(tensor: &Tensor) -> TensorOperand<'_> {
    TensorOperand::Tensor(tensor)
}

/// Whether each element differs from the other's by at most `absolute + relative * |second|`, or is equal to
/// it (`torch.allclose`).
pub fn allclose(
    first: &Tensor,
    second: &Tensor,
    relative: f64,
    absolute: f64,
    equal_nan: bool,
) -> Result<bool> {
    if first.dtype() != second.dtype() {
        return Err(Error::invalid_argument(format!(
            "{} did not match {}; convert one of them first",
            first.dtype().c10_name(),
            second.dtype().c10_name()
        )));
    }
    for (name, tolerance) in [("rtol", relative), ("atol", absolute)] {
        if tolerance < 0.0 || tolerance.is_nan() {
            return Err(Error::invalid_argument(format!(
                "{name} must be greater than or equal to zero, but got {tolerance}"
            )));
        }
    }
    let mut close = pair(ElementOperation::Eq, tensor(first), tensor(second))?;
    if equal_nan {
        let (one, other) = (
            unary(ElementOperation::IsNan, first, None)?,
            unary(ElementOperation::IsNan, second, None)?,
        );
        let both = pair(ElementOperation::LogicalAnd, tensor(&one), tensor(&other))?;
        close = pair(ElementOperation::LogicalOr, tensor(&close), tensor(&both))?;
    }
    if relative != 0.0 || absolute != 0.0 {
        let as_float = if is_integral(second.dtype()) { Scalar::Float(1.0) } else { ONE };
        let second_real =
            pair(ElementOperation::Mul, tensor(second), TensorOperand::Number(as_float))?;
        let size = unary(ElementOperation::Abs, &second_real, None)?;
        let scaled = pair(
            ElementOperation::Mul,
            tensor(&size),
            TensorOperand::Number(Scalar::Float(relative)),
        )?;
        let allowed = pair(
            ElementOperation::Add,
            tensor(&scaled),
            TensorOperand::Number(Scalar::Float(absolute)),
        )?;
        let first_real =
            pair(ElementOperation::Mul, tensor(first), TensorOperand::Number(as_float))?;
        let apart =
            binary(ElementOperation::Sub, [tensor(&first_real), tensor(&second_real)], ONE, None)?;
        let distance = unary(ElementOperation::Abs, &apart, None)?;
        let finite = unary(ElementOperation::IsFinite, &distance, None)?;
        let within = pair(ElementOperation::Le, tensor(&distance), tensor(&allowed))?;
        let near = pair(ElementOperation::LogicalAnd, tensor(&finite), tensor(&within))?;
        close = pair(ElementOperation::LogicalOr, tensor(&close), tensor(&near))?;
    }
    are_all_true(&close)
}
