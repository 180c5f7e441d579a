//! What is to be calculated. Strides are in elements of the operand that they belong to; sizes are not
//! negative.

use sconce_base::element::{Dtype, DtypeKind};

/// How a reduction makes one element of many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// The sum; 0 of no elements.
    Sum,
    /// The sum divided by the number of elements; NaN of no elements.
    Mean,
    /// The product; 1 of no elements.
    Prod,
    /// The largest; a NaN if there is one. Of no elements the least number of the type.
    Amax,
    /// The smallest; a NaN if there is one. Of no elements the greatest number of the type.
    Amin,
    /// The index of the first of the largest in row-major order; NaN counts as the largest.
    Argmax,
    /// The index of the first of the smallest in row-major order; NaN counts as the smallest.
    Argmin,
    /// Whether no element is zero.
    All,
    /// Whether an element is not zero.
    Any,
    /// How many elements are not zero.
    Count,
}

impl ReduceOp {
    /// Every operation.
    pub const ALL: [ReduceOp; 10] = [
        ReduceOp::Sum,
        ReduceOp::Mean,
        ReduceOp::Prod,
        ReduceOp::Amax,
        ReduceOp::Amin,
        ReduceOp::Argmax,
        ReduceOp::Argmin,
        ReduceOp::All,
        ReduceOp::Any,
        ReduceOp::Count,
    ];

    /// Whether the result is an index.
    pub const fn is_index(self) -> bool {
        matches!(self, ReduceOp::Argmax | ReduceOp::Argmin)
    }

    /// Whether elements are only compared with zero.
    pub const fn is_logical(self) -> bool {
        matches!(self, ReduceOp::All | ReduceOp::Any | ReduceOp::Count)
    }

    /// Whether the operation compares elements, so that complex numbers have no result.
    pub const fn needs_order(self) -> bool {
        matches!(self, ReduceOp::Amax | ReduceOp::Amin) || self.is_index()
    }
}

/// What is calculated along a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineOp {
    /// `exp(x - max) / sum of exp(x - max)`.
    Softmax,
    /// `x - max - log(sum of exp(x - max))`.
    LogSoftmax,
    /// The sum of the elements up to each.
    Cumsum,
    /// The product of the elements up to each.
    Cumprod,
}

/// Where an operand's first element lies, and the type of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementOperand {
    /// Address of the element with index 0 along every axis.
    pub address: u64,
    /// Type of the elements.
    pub dtype: Dtype,
}

impl ElementOperand {
    /// The operand that begins some elements further on.
    #[must_use]
    pub fn at(self, elements: i64) -> ElementOperand {
        let bytes = elements.wrapping_mul(self.dtype.bytes() as i64);
        ElementOperand { address: self.address.wrapping_add_signed(bytes), ..self }
    }
}

/// An axis that input and result have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptAxis {
    /// Elements along the axis.
    pub size: i64,
    /// From one element to the next in the input; 0 repeats one.
    pub input_stride: i64,
    /// From one element to the next in the result.
    pub output_stride: i64,
}

impl KeptAxis {
    /// Both strides, the input's first.
    pub(crate) fn both(&self) -> [i64; 2] {
        [self.input_stride, self.output_stride]
    }
}

/// An axis along which elements are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReducedAxis {
    /// Elements along the axis.
    pub size: i64,
    /// From one element to the next in the input; 0 repeats one.
    pub input_stride: i64,
}

/// A reduction. Elements are converted to `compute`, accumulated in the type that belongs to it (F32 for
/// 16-bit floats, I64 for integers and bool, else itself), and the result is converted to the output's
/// type. `All`, `Any` and `Count` look at the input's elements as they are. Results do not lie over the input.
#[derive(Clone, Copy, Debug)]
pub struct ReduceCall<'a> {
    /// The operation.
    pub op: ReduceOp,
    /// What is reduced.
    pub input: ElementOperand,
    /// The type that elements are converted to first.
    pub compute: Dtype,
    /// The results; indices are of type I64.
    pub output: ElementOperand,
    /// The axes of the result, in any order.
    pub kept: &'a [KeptAxis],
    /// The reduced axes, the slowest first: their row-major order numbers the elements.
    pub reduced: &'a [ReducedAxis],
}

/// A calculation along one axis, whose result is as large as the input. The result may be the input, in
/// the same places.
#[derive(Clone, Copy, Debug)]
pub struct LineCall<'a> {
    /// The calculation.
    pub op: LineOp,
    /// The elements.
    pub input: ElementOperand,
    /// The type that elements are converted to first.
    pub compute: Dtype,
    /// The results.
    pub output: ElementOperand,
    /// The other axes, in any order.
    pub lines: &'a [KeptAxis],
    /// Elements of a line.
    pub length: i64,
    /// From one element of a line to the next in the input.
    pub input_stride: i64,
    /// From one element of a line to the next in the result.
    pub output_stride: i64,
}

/// Whether elements of a type can be read and written: all but 8-bit and 4-bit floats.
pub(super) const fn is_known(dtype: Dtype) -> bool {
    match dtype.kind() {
        DtypeKind::Float => dtype.bytes() > 1,
        _ => true,
    }
}

impl ReduceCall<'_> {
    /// Whether the types fit the operation.
    pub fn is_supported(&self) -> bool {
        let known = [self.input.dtype, self.compute, self.output.dtype].into_iter().all(is_known);
        let complex =
            [self.input.dtype, self.compute].map(Dtype::kind).contains(&DtypeKind::Complex);
        known && !(self.op.needs_order() && complex)
    }
}

impl LineCall<'_> {
    /// Whether the types fit the calculation.
    pub fn is_supported(&self) -> bool {
        let known = [self.input.dtype, self.compute, self.output.dtype].into_iter().all(is_known);
        let is_scan = matches!(self.op, LineOp::Cumsum | LineOp::Cumprod);
        known && (is_scan || self.compute.is_floating())
    }
}
