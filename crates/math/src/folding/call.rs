//! What is to be calculated. Strides are in elements of the operand that they belong to; sizes are not
//! negative.

use sconce_base::element::{Dtype, DtypeKind};

macro_rules! tables {
    ($($(#[$about:meta])+ $name:ident {$(
        $(#[doc = $doc:literal])+
        $operation:ident $torch:literal $($c:ident)?;
    )+})+) => {
        $(
            $(#[$about])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum $name {
                $($(#[doc = $doc])+ $operation,)+
            }

            impl $name {
                /// Every operation. The index is the number in kernels and in the C API.
                pub const ALL: [$name; [$($torch),+].len()] = [$($name::$operation),+];
                const TORCH_NAMES: &[&str] = &[$($torch),+];
                const C_NAMES: &[&str] = &[$($(stringify!($c),)?)+];
                const DOCS: &[&[&str]] = &[$(&[$($doc),+]),+];

                /// Those of the C API, which come first.
                pub const IN_C: [$name; $name::C_NAMES.len()] = {
                    let mut found = [$name::ALL[0]; $name::C_NAMES.len()];
                    let mut index = 0;
                    while index < found.len() {
                        found[index] = $name::ALL[index];
                        index += 1;
                    }
                    found
                };

                /// The name in messages of torch.
                pub const fn torch_name(self) -> &'static str {
                    $name::TORCH_NAMES[self as usize]
                }

                /// The name and the number in the C API.
                pub fn in_c(self) -> Option<(&'static str, i32)> {
                    $name::C_NAMES.get(self as usize).map(|name| (*name, self as i32))
                }

                /// What the operation computes, in lines of text.
                pub const fn doc(self) -> &'static [&'static str] {
                    $name::DOCS[self as usize]
                }
            }
        )+

        /// The numbers of operations in the C API.
        pub mod numbers {
            $($($(
                #[doc = concat!("`", stringify!($operation), "` in the C API.")]
                pub const $c: i32 = super::$name::$operation as i32;
            )?)+)+
        }
    };
}

// The tables of reductions and of calculations along lines. A row: what it computes; its name, torch's name in
// messages, and its name in the C API if that has it: those that it has not come last. Its number is its place, in the
// C API and in kernels/reduce/launch.cuh and kernels/lines/launch.cuh. The first lines of a row are also the text of
// the C header.
tables! {
    /// How a reduction makes one element of many.
    ReduceOp {
        /// The sum; 0 if there are no elements. Integers are added as I64.
        Sum "sum" SCONCE_REDUCE_SUM;
        /// The mean of floating-point or complex numbers; NaN if there are no elements.
        Mean "mean" SCONCE_REDUCE_MEAN;
        /// The product; 1 if there are no elements.
        Prod "prod" SCONCE_REDUCE_PROD;
        /// The largest element; NaN if any element is NaN.
        Amax "amax" SCONCE_REDUCE_AMAX;
        /// The smallest element; NaN if any element is NaN.
        Amin "amin" SCONCE_REDUCE_AMIN;
        /// The index of the first largest element, as I64.
        Argmax "argmax" SCONCE_REDUCE_ARGMAX;
        /// The index of the first smallest element, as I64.
        Argmin "argmin" SCONCE_REDUCE_ARGMIN;
        /// Whether all elements are nonzero.
        All "all" SCONCE_REDUCE_ALL;
        /// Whether any element is nonzero.
        Any "any" SCONCE_REDUCE_ANY;
        /// How many elements are not zero.
        Count "count_nonzero";
    }

    /// What is calculated along a line.
    LineOp {
        /// The softmax: `exp(x)` divided by the sum of `exp(x)`.
        Softmax "softmax" SCONCE_LINE_SOFTMAX;
        /// The logarithm of the softmax.
        LogSoftmax "log_softmax" SCONCE_LINE_LOG_SOFTMAX;
        /// The running sum: for each element, the sum of the elements up to it.
        Cumsum "cumsum" SCONCE_LINE_CUMSUM;
        /// The running product: for each element, the product of the elements up to it.
        Cumprod "cumprod" SCONCE_LINE_CUMPROD;
    }
}

impl ReduceOp {
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
