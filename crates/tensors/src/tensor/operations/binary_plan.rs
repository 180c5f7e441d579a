//! Elementwise operations of two operands: what kernels compute for a type, and what is refused.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::{PointwiseOp, Scalar};
use sconce_compute::reduction::ReduceOp;

use super::operand::TensorOperand;
use super::reduce::{Reduction, reduce};
use super::unary::not_implemented;
use crate::tensor::launch;
use crate::tensor::promotion::{DEFAULT_FLOAT, is_complex, is_integer, is_integral};
use crate::tensor::transfer::item;
use crate::tensor::{Place, TensorOptions};

/// An operation with torch's name. The numbers are those of the C API.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperation {
    Add = 0,
    Sub = 1,
    Mul = 2,
    Div = 3,
    FloorDivide = 4,
    TruncDivide = 5,
    Remainder = 6,
    Pow = 7,
    Minimum = 8,
    Maximum = 9,
    Eq = 10,
    Ne = 11,
    Lt = 12,
    Le = 13,
    Gt = 14,
    Ge = 15,
    BitwiseAnd = 16,
    BitwiseOr = 17,
    BitwiseXor = 18,
    LogicalAnd = 19,
    LogicalOr = 20,
    LogicalXor = 21,
}

/// What kernels compute.
pub(super) struct BinaryPlan {
    pub(super) kernel: PointwiseOp,
    pub(super) compute: Dtype,
    pub(super) result: Dtype,
}

impl BinaryOperation {
    /// Every operation, in the order of the numbers.
    #[rustfmt::skip]
    pub const ALL: [BinaryOperation; 22] = {
        use BinaryOperation::*;
        [
            Add, Sub, Mul, Div, FloorDivide, TruncDivide, Remainder, Pow, Minimum, Maximum, Eq, Ne,
            Lt, Le, Gt, Ge, BitwiseAnd, BitwiseOr, BitwiseXor, LogicalAnd, LogicalOr, LogicalXor,
        ]
    };

    fn name(self) -> &'static str {
        use BinaryOperation::*;
        match self {
            Add => "add",
            Sub => "sub",
            Mul => "mul",
            Div => "div",
            FloorDivide => "floor_divide",
            TruncDivide => "div_trunc",
            Remainder => "remainder",
            Pow => "pow",
            Minimum => "minimum",
            Maximum => "maximum",
            Eq => "eq",
            Ne => "ne",
            Lt => "lt",
            Le => "le",
            Gt => "gt",
            Ge => "ge",
            BitwiseAnd => "bitwise_and",
            BitwiseOr => "bitwise_or",
            BitwiseXor => "bitwise_xor",
            LogicalAnd => "logical_and",
            LogicalOr => "logical_or",
            LogicalXor => "logical_xor",
        }
    }

    /// From the operands' common type.
    pub(super) fn plan(self, common: Dtype) -> Result<BinaryPlan> {
        use BinaryOperation as Op;
        let plan = |kernel, compute, result| Ok(BinaryPlan { kernel, compute, result });
        let same = |kernel| plan(kernel, common, common);
        let predicate = |kernel| plan(kernel, common, Dtype::Bool);
        let refused = || Err(not_implemented(self.name(), common));
        match self {
            // The sum of truth values is whether one of them is true.
            Op::Add if common == Dtype::Bool => same(PointwiseOp::LogicalOr),
            Op::Add => same(PointwiseOp::Add),
            Op::Sub => same(PointwiseOp::Sub),
            Op::Mul if common == Dtype::Bool => same(PointwiseOp::LogicalAnd),
            Op::Mul => same(PointwiseOp::Mul),
            Op::Div if is_integral(common) => plan(PointwiseOp::Div, DEFAULT_FLOAT, DEFAULT_FLOAT),
            Op::Div => same(PointwiseOp::Div),
            Op::FloorDivide | Op::TruncDivide | Op::Remainder
                if is_complex(common) || common == Dtype::Bool =>
            {
                refused()
            }
            Op::FloorDivide => same(PointwiseOp::FloorDivide),
            Op::TruncDivide => same(PointwiseOp::TruncDivide),
            Op::Remainder => same(PointwiseOp::Remainder),
            Op::Pow if common == Dtype::Bool => refused(),
            Op::Pow => same(PointwiseOp::Pow),
            Op::Minimum | Op::Maximum if is_complex(common) => refused(),
            Op::Minimum => same(PointwiseOp::Minimum),
            Op::Maximum => same(PointwiseOp::Maximum),
            Op::Eq => predicate(PointwiseOp::Eq),
            Op::Ne => predicate(PointwiseOp::Ne),
            Op::Lt | Op::Le | Op::Gt | Op::Ge if is_complex(common) => refused(),
            Op::Lt => predicate(PointwiseOp::Lt),
            Op::Le => predicate(PointwiseOp::Le),
            Op::Gt => predicate(PointwiseOp::Gt),
            Op::Ge => predicate(PointwiseOp::Ge),
            Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor if !is_integral(common) => refused(),
            Op::BitwiseAnd => same(PointwiseOp::BitwiseAnd),
            Op::BitwiseOr => same(PointwiseOp::BitwiseOr),
            Op::BitwiseXor => same(PointwiseOp::BitwiseXor),
            Op::LogicalAnd => predicate(PointwiseOp::LogicalAnd),
            Op::LogicalOr => predicate(PointwiseOp::LogicalOr),
            Op::LogicalXor => predicate(PointwiseOp::LogicalXor),
        }
    }
}

/// Refuses operands and factors that torch refuses.
pub(super) fn check(
    operation: BinaryOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    common: Dtype,
) -> Result<()> {
    let is_bool = |operand: TensorOperand<'_>| match operand {
        TensorOperand::Tensor(tensor) => tensor.dtype() == Dtype::Bool,
        TensorOperand::Number(number) => matches!(number, Scalar::Bool(_)),
    };
    match operation {
        BinaryOperation::Sub if operands.into_iter().all(is_bool) => Err(Error::not_supported(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or \
             `logical_xor()` operator instead.",
        )),
        BinaryOperation::Sub if operands.into_iter().any(is_bool) => Err(Error::not_supported(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a \
             mask, use the `~` or `logical_not()` operator instead.",
        )),
        BinaryOperation::Add | BinaryOperation::Sub => check_alpha(alpha, common),
        BinaryOperation::Pow => match operands[1] {
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
    kernel: PointwiseOp,
    compute: Dtype,
    divisor: TensorOperand<'_>,
) -> Result<()> {
    let is_quotient = matches!(
        kernel,
        PointwiseOp::FloorDivide | PointwiseOp::TruncDivide | PointwiseOp::Remainder
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
