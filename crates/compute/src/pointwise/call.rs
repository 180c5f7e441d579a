//! What a caller asks for.

use sconce_base::element::Dtype;
use sconce_driver::RawAddress;
use sconce_math::arithmetic::Scalar;

/// An element-wise operation, with torch's results for the type of the computation.
///
/// Truth values are written as 0 and 1 to an output of any type. All operations take all types,
/// except that order (`Lt` and its like, `Minimum`, `Maximum`, `Clamp`), rounding and division with
/// a remainder are not defined on complex numbers, functions with fractions as results are not
/// defined on integers, and bits are those of integers and `Bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointwiseOp {
    /// The input, converted. `compute` is not used.
    Cast,
    /// One number, the input, everywhere. `compute` is the type of the output.
    Fill,
    /// No inputs. `parameters[0] + index * parameters[1]`, where the index counts the elements of the
    /// output in row-major order.
    Range,
    /// No inputs. Equal steps from `parameters[0]` to `parameters[1]`, both included. `compute` is F32
    /// for an output of integers.
    Linspace,
    /// The number with the other sign.
    Neg,
    /// Of a complex number a real one.
    Abs,
    /// -1, 0 or 1; a complex number divided by its size.
    Sign,
    /// e to the power of the input.
    Exp,
    /// The natural logarithm.
    Log,
    /// The square root.
    Sqrt,
    /// 1 divided by the square root.
    Rsqrt,
    /// 1 divided by the input.
    Reciprocal,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// Rounded down.
    Floor,
    /// Rounded up.
    Ceil,
    /// To the nearest integer, ties to even.
    Round,
    /// Rounded toward 0.
    Trunc,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// The input, or 0 if that is greater.
    Relu,
    /// `x / 2 * (1 + erf(x / sqrt(2)))`.
    GeluErf,
    /// The same with a hyperbolic tangent near the error function.
    GeluTanh,
    /// `x / (1 + exp(-x))`.
    Silu,
    /// The error function.
    Erf,
    /// Whether the input is 0.
    LogicalNot,
    /// All bits inverted; of a `Bool` the other value.
    BitwiseNot,
    /// Whether the input, or a part of it, is NaN.
    IsNan,
    /// Whether the input, or both parts of it, are finite.
    IsFinite,
    /// `a + parameters[0] * b`.
    Add,
    /// `a - parameters[0] * b`.
    Sub,
    /// The product.
    Mul,
    /// A quotient with a fraction: `compute` is a floating-point or complex type.
    Div,
    /// The quotient rounded down.
    FloorDivide,
    /// The quotient rounded toward 0.
    TruncDivide,
    /// With the sign of the divisor, as Python's `%`.
    Remainder,
    /// The first input to the power of the second.
    Pow,
    /// The lesser input; NaN if either is.
    Minimum,
    /// The greater input; NaN if either is.
    Maximum,
    /// Whether the inputs are equal.
    Eq,
    /// Whether the inputs differ.
    Ne,
    /// Whether the first input is less.
    Lt,
    /// Whether the first input is less or equal.
    Le,
    /// Whether the first input is greater.
    Gt,
    /// Whether the first input is greater or equal.
    Ge,
    /// Whether both inputs are not 0.
    LogicalAnd,
    /// Whether an input is not 0.
    LogicalOr,
    /// Whether one input alone is not 0.
    LogicalXor,
    /// The bits that both inputs have.
    BitwiseAnd,
    /// The bits that an input has.
    BitwiseOr,
    /// The bits that one input alone has.
    BitwiseXor,
    /// The first input between the second and the third; NaN if any is. With one bound this is
    /// `Maximum` or `Minimum`.
    Clamp,
    /// The second input where the first, a `Bool` or `U8`, is not 0; elsewhere the third.
    Where,
}

impl PointwiseOp {
    /// How many inputs the operation has.
    pub const fn inputs(self) -> usize {
        use PointwiseOp::*;
        match self {
            Range | Linspace => 0,
            Add | Sub | Mul | Div | FloorDivide | TruncDivide | Remainder | Pow | Minimum
            | Maximum | Eq | Ne | Lt | Le | Gt | Ge | LogicalAnd | LogicalOr | LogicalXor
            | BitwiseAnd | BitwiseOr | BitwiseXor => 2,
            Clamp | Where => 3,
            _ => 1,
        }
    }
}

/// Elements in memory.
#[derive(Clone, Copy, Debug)]
pub struct PointwiseOperand<'a> {
    /// Where the element is whose indices are all 0.
    pub address: RawAddress,
    /// The type of the elements.
    pub dtype: Dtype,
    /// Distances in elements along the axes of the call; 0 repeats an element.
    pub strides: &'a [i64],
}

/// An input of an operation.
#[derive(Clone, Copy, Debug)]
pub enum PointwiseInput<'a> {
    /// Elements in memory, which are converted to the type of the computation.
    Elements(PointwiseOperand<'a>),
    /// The same number for all elements. To a floating-point computation it comes unrounded, in the
    /// precision in which that is done.
    Scalar(Scalar),
}

/// An operation on elements.
///
/// The output may be an input's memory if both have the same strides and types of the same size;
/// otherwise they do not overlap.
#[derive(Clone, Copy, Debug)]
pub struct PointwiseCall<'a> {
    /// What is computed.
    pub op: PointwiseOp,
    /// The type to which inputs are converted, and the result before it is converted to the output's:
    /// torch's promoted type. Operations of F16 and BF16 are computed in F32 and rounded once.
    pub compute: Dtype,
    /// The sizes of any number of axes, the outermost first.
    pub sizes: &'a [i64],
    /// Where the result goes.
    pub output: PointwiseOperand<'a>,
    /// As many as [`PointwiseOp::inputs`] says.
    pub inputs: &'a [PointwiseInput<'a>],
    /// Of `Add`, `Sub`, `Range` and `Linspace`; other operations have none.
    pub parameters: [Scalar; 2],
}
