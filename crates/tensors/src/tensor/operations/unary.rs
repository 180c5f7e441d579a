//! Elementwise operations of one operand.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::PointwiseOp;

use super::output::{Destination, InPlace, Output};
use crate::tensor::iteration::result_strides;
use crate::tensor::launch::{self, Input};
use crate::tensor::promotion::{DEFAULT_FLOAT, is_complex, is_integral};
use crate::tensor::{Dims, Tensor, TensorOptions};

/// An operation with torch's name. The numbers are those of the C API.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperation {
    Neg = 0,
    Abs = 1,
    Sign = 2,
    Exp = 3,
    Log = 4,
    Sqrt = 5,
    Rsqrt = 6,
    Reciprocal = 7,
    Sin = 8,
    Cos = 9,
    Tanh = 10,
    Sigmoid = 11,
    Relu = 12,
    Gelu = 13,
    GeluTanh = 14,
    Silu = 15,
    Erf = 16,
    Floor = 17,
    Ceil = 18,
    Round = 19,
    Trunc = 20,
    LogicalNot = 21,
    BitwiseNot = 22,
    IsNan = 23,
    IsFinite = 24,
}

impl UnaryOperation {
    /// Every operation, in the order of the numbers.
    #[rustfmt::skip]
    pub const ALL: [UnaryOperation; 25] = {
        use UnaryOperation::*;
        [
            Neg, Abs, Sign, Exp, Log, Sqrt, Rsqrt, Reciprocal, Sin, Cos, Tanh, Sigmoid, Relu, Gelu,
            GeluTanh, Silu, Erf, Floor, Ceil, Round, Trunc, LogicalNot, BitwiseNot, IsNan, IsFinite,
        ]
    };

    /// torch's name.
    fn name(self) -> &'static str {
        use UnaryOperation::*;
        match self {
            Neg => "neg",
            Abs => "abs",
            Sign => "sign",
            Exp => "exp",
            Log => "log",
            Sqrt => "sqrt",
            Rsqrt => "rsqrt",
            Reciprocal => "reciprocal",
            Sin => "sin",
            Cos => "cos",
            Tanh => "tanh",
            Sigmoid => "sigmoid",
            Relu => "relu",
            Gelu | GeluTanh => "gelu",
            Silu => "silu",
            Erf => "erf",
            Floor => "floor",
            Ceil => "ceil",
            Round => "round",
            Trunc => "trunc",
            LogicalNot => "logical_not",
            BitwiseNot => "bitwise_not",
            IsNan => "isnan",
            IsFinite => "isfinite",
        }
    }

    /// What kernels compute, the type they compute in, and the type of the result.
    fn plan(self, input: Dtype) -> Result<(PointwiseOp, Dtype, Dtype)> {
        use UnaryOperation as Op;
        let (integral, complex) = (is_integral(input), is_complex(input));
        let same = |operation| Ok((operation, input, input));
        let refused = || Err(not_implemented(self.name(), input));
        // Functions of real numbers take whole ones as torch's default floating-point type.
        let real = |operation| {
            let compute = if integral { DEFAULT_FLOAT } else { input };
            Ok((operation, compute, compute))
        };
        match self {
            Op::Neg if input == Dtype::Bool => Err(Error::not_supported(
                "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a \
                 mask, use the `~` or `logical_not()` operator instead.",
            )),
            Op::Neg => same(PointwiseOp::Neg),
            Op::Abs => Ok((PointwiseOp::Abs, input, input.real().0)),
            Op::Sign if complex => Err(Error::not_supported(
                "Unlike NumPy, sign doesn't allow complex tensors; divide by abs() instead",
            )),
            Op::Sign => same(PointwiseOp::Sign),
            Op::Relu if input == Dtype::Bool => {
                Err(Error::not_supported("Boolean inputs not supported for relu"))
            }
            Op::Relu if complex => refused(),
            Op::Relu => same(PointwiseOp::Relu),
            Op::Gelu | Op::GeluTanh | Op::Silu if integral => refused(),
            Op::Gelu | Op::GeluTanh if complex => refused(),
            // `elementwise` makes it of other operations.
            Op::Silu if complex => refused(),
            Op::Gelu => same(PointwiseOp::GeluErf),
            Op::GeluTanh => same(PointwiseOp::GeluTanh),
            Op::Silu => same(PointwiseOp::Silu),
            Op::Erf | Op::Floor | Op::Ceil | Op::Round | Op::Trunc if complex => refused(),
            Op::Floor | Op::Ceil | Op::Round | Op::Trunc if input == Dtype::Bool => refused(),
            Op::Floor | Op::Ceil | Op::Round | Op::Trunc if integral => same(PointwiseOp::Cast),
            Op::Floor => same(PointwiseOp::Floor),
            Op::Ceil => same(PointwiseOp::Ceil),
            Op::Round => same(PointwiseOp::Round),
            Op::Trunc => same(PointwiseOp::Trunc),
            Op::LogicalNot => Ok((PointwiseOp::LogicalNot, input, Dtype::Bool)),
            Op::BitwiseNot if integral => same(PointwiseOp::BitwiseNot),
            Op::BitwiseNot => refused(),
            Op::IsNan => Ok((PointwiseOp::IsNan, input, Dtype::Bool)),
            Op::IsFinite => Ok((PointwiseOp::IsFinite, input, Dtype::Bool)),
            Op::Exp => real(PointwiseOp::Exp),
            Op::Log => real(PointwiseOp::Log),
            Op::Sqrt => real(PointwiseOp::Sqrt),
            Op::Rsqrt => real(PointwiseOp::Rsqrt),
            Op::Reciprocal => real(PointwiseOp::Reciprocal),
            Op::Sin => real(PointwiseOp::Sin),
            Op::Cos => real(PointwiseOp::Cos),
            Op::Tanh => real(PointwiseOp::Tanh),
            Op::Sigmoid => real(PointwiseOp::Sigmoid),
            Op::Erf => real(PointwiseOp::Erf),
        }
    }
}

#[cold]
pub fn not_implemented(name: &str, dtype: Dtype) -> Error {
    Error::not_supported(format!(
        "\"{name}\" not implemented for '{}'; convert the tensor first",
        dtype.c10_name()
    ))
}

/// The operation on every element, into a new tensor or `into`, which may be the input.
pub(crate) fn unary(
    operation: UnaryOperation,
    input: &Tensor,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    let (kernel, compute, dtype) = operation.plan(input.dtype())?;
    let strides = Dims::from_slice(input.strides());
    let Some(into) = into else {
        let order = result_strides(input.sizes(), &[(input, &strides)], Some(compute));
        let output = TensorOptions::of(input).with(dtype).empty_strided(input.sizes(), &order)?;
        launch::run(kernel, compute, &output, &[Input::Tensor(input, &strides)], &[])?;
        return Ok(output);
    };
    let output = Destination::at(input.place(), Some(into))?
        .castable(dtype)?
        .reads(input, InPlace::Works)?
        .output(
            TensorOptions::of(input).with(dtype),
            input.sizes(),
            result_strides(input.sizes(), &[(input, &strides)], Some(compute)),
        )?;
    let output = written_by(compute, dtype, output)?;
    launch::run(kernel, compute, output.tensor(), &[Input::Tensor(input, &strides)], &[])?;
    output.finish()
}

/// The output of an elementwise kernel: those of real numbers write no complex ones.
pub(super) fn written_by(compute: Dtype, result: Dtype, output: Output) -> Result<Output> {
    if is_complex(output.tensor().dtype()) && !is_complex(compute) {
        return output.packed_as(result);
    }
    Ok(output)
}
