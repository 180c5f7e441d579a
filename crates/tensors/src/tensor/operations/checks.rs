//! Operands that torch refuses for an elementwise operation of two.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::{ElementOperation, Scalar};
use sconce_compute::reduction::ReduceOp;

use super::operand::TensorOperand;
use super::reduce::{Reduction, reduce};
use crate::tensor::launch;
use crate::tensor::promotion::{is_complex, is_integer, is_integral};
use crate::tensor::transfer::item;
use crate::tensor::{Place, TensorOptions};

/// Refuses operands and factors that torch refuses.
pub(super) fn check(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    common: Dtype,
) -> Result<()> {
    let is_bool = |operand: TensorOperand<'_>| match operand {
        TensorOperand::Tensor(tensor) => tensor.dtype() == Dtype::Bool,
        TensorOperand::Number(number) => matches!(number, Scalar::Bool(_)),
    };
    match operation {
        ElementOperation::Sub if operands.into_iter().all(is_bool) => Err(Error::not_supported(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or \
             `logical_xor()` operator instead.",
        )),
        ElementOperation::Sub if operands.into_iter().any(is_bool) => Err(Error::not_supported(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a \
             mask, use the `~` or `logical_not()` operator instead.",
        )),
        ElementOperation::Add | ElementOperation::Sub => check_alpha(alpha, common),
        ElementOperation::Pow => match operands[1] {
            TensorOperand::Number(Scalar::Int(power)) if power < 0 && is_integer(common) => {
                Err(Error::invalid_argument("Integers to negative integer powers are not allowed."))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Refuses a division of integers of the CPU by 0, as torch does. On a device torch looks at no element; there the
/// quotient is -1, and the remainder the dividend.
pub(super) fn refuse_zero_divisor(
    kernel: ElementOperation,
    compute: Dtype,
    divisor: TensorOperand<'_>,
) -> Result<()> {
    let is_quotient = matches!(
        kernel,
        ElementOperation::FloorDivide | ElementOperation::TruncDivide | ElementOperation::Remainder
    );
    if !is_quotient || !is_integral(compute) {
        return Ok(());
    }
    let number;
    let divisor = match divisor {
        TensorOperand::Tensor(tensor) => tensor,
        TensorOperand::Number(value) => {
            // As kernels convert it.
            let options = TensorOptions { dtype: compute, place: Place::Cpu, pinned: false };
            number = options.empty(&[])?;
            launch::fill(&number, value)?;
            &number
        }
    };
    let all = Reduction { op: ReduceOp::All, dims: &[], keep: false, dtype: None };
    match item(&reduce(divisor, all, None)?)? {
        Scalar::Bool(false) | Scalar::Int(0) => Err(Error::invalid_argument(
            "ZeroDivisionError: an element of the divisor is 0; integers cannot be divided by it",
        )),
        _ => Ok(()),
    }
}

fn check_alpha(alpha: Scalar, common: Dtype) -> Result<()> {
    match alpha {
        Scalar::Bool(_) if common != Dtype::Bool => {
            Err(Error::invalid_argument("Boolean alpha only supported for Boolean results."))
        }
        Scalar::Float(_) if is_integral(common) => Err(Error::invalid_argument(
            "For integral input tensors, argument alpha must not be a floating point number.",
        )),
        Scalar::Complex(..) if !is_complex(common) => Err(Error::invalid_argument(
            "For non-complex input tensors, argument alpha must not be a complex number.",
        )),
        _ => Ok(()),
    }
}
