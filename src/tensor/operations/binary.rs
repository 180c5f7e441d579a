//! Elementwise operations of two operands, repeated to a common shape.

use super::operand::{TensorOperand, at_place, common_place, common_type};
use super::output::{Destination, InPlace, Output};
use super::unary::{not_implemented, written_by};
use crate::element::Dtype;
use crate::error::{Error, Result};
use crate::pointwise::{PointwiseOp, Scalar};
use crate::tensor::iteration::{
    broadcast, result_strides, result_strides_with_number, strides_over,
};
use crate::tensor::launch::{self, Input};
use crate::tensor::promotion::{DEFAULT_FLOAT, is_complex, is_integer, is_integral};
use crate::tensor::{Dims, Tensor, TensorOptions};

/// An operation with torch's name. The numbers are those of the C API.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOperation {
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
struct BinaryPlan {
    kernel: PointwiseOp,
    compute: Dtype,
    result: Dtype,
}

impl BinaryOperation {
    /// Every operation, in the order of the numbers.
    #[rustfmt::skip]
    pub(crate) const ALL: [BinaryOperation; 22] = {
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
    fn plan(self, common: Dtype) -> Result<BinaryPlan> {
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

/// The operation on every pair of elements; `alpha` is the factor of the second operand of a sum or
/// difference. The result goes into a new tensor or `into`, which may be an operand.
pub(crate) fn binary(
    operation: BinaryOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    let common = common_type(&operands)?;
    check(operation, operands, alpha, common)?;
    let plan = match (operation, operands[1]) {
        // torch takes powers of truth values to numbers only: x to the power of 1 is x, to that of 0 it is 1.
        (BinaryOperation::Pow, TensorOperand::Number(_)) if common == Dtype::Bool => {
            BinaryPlan { kernel: PointwiseOp::Ge, compute: common, result: common }
        }
        _ => operation.plan(common)?,
    };
    let place = common_place(&operands)?;
    let shape = |operand: TensorOperand<'_>| match operand {
        TensorOperand::Tensor(tensor) => Dims::from_slice(tensor.sizes()),
        TensorOperand::Number(_) => Dims::new(),
    };
    let sizes = broadcast(&shape(operands[0]), &shape(operands[1]))?;
    let operands = [at_place(operands[0], place)?, at_place(operands[1], place)?];
    let strides = operands.map(|operand| match operand {
        TensorOperand::Tensor(tensor) => strides_over(tensor, &sizes),
        TensorOperand::Number(_) => Dims::new(),
    });
    let tensors: smallvec::SmallVec<[(&Tensor, &Dims); 2]> = operands
        .iter()
        .zip(&strides)
        .filter_map(|(operand, strides)| Some((operand.tensor()?, strides)))
        .collect();
    let options = TensorOptions { dtype: plan.result, place, pinned: false };
    let order = || match (operation, tensors.len()) {
        (BinaryOperation::Pow, _) | (_, 2) => result_strides(&sizes, &tensors),
        _ => result_strides_with_number(&sizes, &tensors),
    };
    let output = match into {
        None => Output::new(options.empty_in_order(&sizes, order())?),
        Some(_) => {
            let mut destination = Destination::at(place, into)?.castable(plan.result)?;
            for (tensor, _) in &tensors {
                destination = destination.reads(tensor, InPlace::Works)?;
            }
            let output = destination.output(options, &sizes, order())?;
            written_by(plan.compute, plan.result, output)?
        }
    };
    let inputs = [0, 1].map(|index| match operands[index] {
        TensorOperand::Tensor(tensor) => Input::Tensor(tensor, &strides[index]),
        TensorOperand::Number(number) => Input::Number(number),
    });
    let (kernel, inputs) = match (plan.kernel, inputs) {
        (PointwiseOp::Div, [dividend @ Input::Tensor(..), Input::Number(divisor)]) => {
            match reciprocal(divisor, plan.compute) {
                Some(factor) => (PointwiseOp::Mul, [dividend, Input::Number(factor)]),
                None => (PointwiseOp::Div, inputs),
            }
        }
        // Numbers to the power of 0 are 1, also where 0 is the base: the logarithm of 0 would give NaN.
        (PointwiseOp::Pow, [base @ Input::Tensor(..), Input::Number(exponent)])
            if is_complex(plan.compute) && is_zero(exponent) =>
        {
            (PointwiseOp::LogicalOr, [base, Input::Number(Scalar::Int(1))])
        }
        (kernel, inputs) => (kernel, inputs),
    };
    launch::run(kernel, plan.compute, output.tensor(), &inputs, &[alpha])?;
    output.finish()
}

/// What torch multiplies by on CUDA instead of dividing by a number: its reciprocal, rounded to the type in
/// which elements are calculated. `None` for complex numbers.
fn reciprocal(divisor: Scalar, compute: Dtype) -> Option<Scalar> {
    let divisor = match divisor {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) => value,
        Scalar::Complex(..) => return None,
    };
    match compute {
        Dtype::F64 => Some(Scalar::Float(1.0 / divisor)),
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 => {
            Some(Scalar::Float(f64::from(1.0_f32 / divisor as f32)))
        }
        _ => None,
    }
}

fn is_zero(number: Scalar) -> bool {
    match number {
        Scalar::Bool(value) => !value,
        Scalar::Int(value) => value == 0,
        Scalar::Float(value) => value == 0.0,
        Scalar::Complex(re, im) => re == 0.0 && im == 0.0,
    }
}

fn check(
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
