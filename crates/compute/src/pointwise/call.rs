//! What a caller asks for.

use sconce_base::element::Dtype;
use sconce_driver::RawAddress;
use sconce_math::arithmetic::{ElementOperation, Scalar};

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
    pub op: ElementOperation,
    /// The type to which inputs are converted, and the result before it is converted to the output's:
    /// torch's promoted type. Operations of F16 and BF16 are computed in F32 and rounded once.
    pub compute: Dtype,
    /// The sizes of any number of axes, the outermost first.
    pub sizes: &'a [i64],
    /// Where the result goes.
    pub output: PointwiseOperand<'a>,
    /// As many as [`ElementOperation::inputs`] says.
    pub inputs: &'a [PointwiseInput<'a>],
    /// Of `Add`, `Sub`, `Range` and `Linspace`; other operations have none.
    pub parameters: [Scalar; 2],
}
