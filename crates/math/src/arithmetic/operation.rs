//! The table of element-wise operations. The enum, the numbers of the C API, those of the kernels and the lists of
//! tests follow from it: `docs/design/pointwise.md`, "To add an operation".

use sconce_base::element::{Dtype, DtypeKind};

use super::domain::Domain;

/// Types of elements on which torch defines an operation, as a set of their kinds.
type Kinds = u8;
const BOOL: Kinds = 1;
const INT: Kinds = 2;
const REAL: Kinds = 4;
const COMPLEX: Kinds = 8;
const ALL_KINDS: Kinds = BOOL | INT | REAL | COMPLEX;

/// What kernels have, as a set: the domains on which they compute an operation (`INT` stands for booleans, too) and
/// these properties.
type Traits = u8;
/// The kernels for contiguous elements and those for few have the operation.
const FLAT: Traits = 16;
/// The kernels for few elements have it, those for contiguous elements have not.
const SMALL: Traits = 32;
/// An element takes ten times as long as a sum, or longer.
const SLOW: Traits = 64;
/// The result is 0 or 1, whatever the type of the inputs is.
const PREDICATE: Traits = 128;

/// The type of a result, from the type to which torch promotes the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// That type.
    Same,
    /// That type, or torch's default floating-point type in place of integers and booleans. It is also the type of the
    /// computation.
    Fraction,
    /// `Bool`.
    Truth,
    /// The type of a part, if the inputs are complex.
    Size,
}
use ResultType::{Fraction, Same, Size, Truth};

/// How the operation of a call becomes one that kernels compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// Kernels compute it as it is, or another operation on the same inputs.
    Plain,
    /// The other operation takes the two inputs in the other order.
    Swapped,
    /// The other operation is computed on the truth values of the inputs.
    OfTruth,
}
use Lowering::{OfTruth, Plain, Swapped};

/// What computes an operation.
#[derive(Clone, Copy)]
enum Kernel {
    /// Kernels with this name and number in `kernels/pointwise/operations.cuh`.
    Own(&'static str, u8, Traits),
    /// The kernels of another operation.
    Of(ElementOperation, Lowering),
}
use Kernel::{Of, Own};

/// A row of the table.
struct Row {
    inputs: usize,
    torch_name: &'static str,
    kernel: Kernel,
    takes: Kinds,
    result: ResultType,
    in_c: Option<(&'static str, i32)>,
    doc: &'static [&'static str],
}

macro_rules! table {
    ($(
        $(#[doc = $doc:literal])+
        $operation:ident / $inputs:literal, $torch:literal: $kernel:expr, $takes:expr => $result:expr
            $(, $c:ident = $number:literal)?;
    )+) => {
        /// An element-wise operation, with torch's results for the type of the computation.
        ///
        /// Truth values are written as 0 and 1 to an output of any type. All operations take all types,
        /// except that order (`Lt` and its like, `Minimum`, `Maximum`, `Clamp`), rounding and division with
        /// a remainder are not defined on complex numbers, functions with fractions as results are not
        /// defined on integers, and bits are those of integers and `Bool`.
        #[repr(u8)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ElementOperation {
            $($(#[doc = $doc])+ $operation,)+
        }

        impl ElementOperation {
            /// Every operation.
            pub const ALL: [ElementOperation; [$($inputs),+].len()] =
                [$(ElementOperation::$operation),+];

            const ROWS: [Row; ElementOperation::ALL.len()] = {
                use ElementOperation::*;
                [$(Row {
                    inputs: $inputs,
                    torch_name: $torch,
                    kernel: $kernel,
                    takes: $takes,
                    result: $result,
                    in_c: table!(@c $($c = $number)?),
                    doc: &[$($doc),+],
                }),+]
            };
        }

        /// The numbers of operations in the C API.
        pub mod numbers {
            $($(
                #[doc = concat!("`", stringify!($operation), "` in the C API.")]
                pub const $c: i32 = $number;
            )?)+
        }
    };
    (@c) => { None };
    (@c $c:ident = $number:literal) => { Some((stringify!($c), $number)) };
}

// A row: what it computes; its name, its inputs, torch's name in messages: what computes it, the types it takes and the
// type of its result, and its name and number in the C API if that has it. The first lines of a row are also the text
// of the C header.
#[rustfmt::skip]
table! {
    /// The input, converted. The type of the computation is not used.
    Cast / 1, "cast": Own("COPY", 0, ALL | FLAT), ALL_KINDS => Same;
    /// One number, the input, everywhere. The type of the computation is that of the output.
    Fill / 1, "fill": Of(Cast, Plain), ALL_KINDS => Same;
    /// No inputs. `start + index * step`, where the index counts the elements of the output in row-major order.
    Range / 0, "arange": Own("RANGE", 8, ALL), ALL_KINDS => Same;
    /// No inputs. Equal steps from a number to another, both included. Computed in F32 for an output of integers.
    Linspace / 0, "linspace": Own("LINSPACE", 9, REAL | COMPLEX), ALL_KINDS => Same;

    /// `-x`.
    Neg / 1, "neg": Own("NEG", 1, ALL | FLAT), INT | REAL | COMPLEX => Same, SCONCE_UNARY_NEG = 0;
    /// The absolute value; a real number, also for complex `x`.
    Abs / 1, "abs": Own("ABS", 2, ALL | FLAT), ALL_KINDS => Size, SCONCE_UNARY_ABS = 1;
    /// -1, 0 or 1.
    Sign / 1, "sign": Own("SIGN", 3, ALL | SMALL), BOOL | INT | REAL => Same, SCONCE_UNARY_SIGN = 2;
    /// The exponential.
    Exp / 1, "exp": Own("EXP", 17, FUNCTION | FLAT), ALL_KINDS => Fraction, SCONCE_UNARY_EXP = 3;
    /// The natural logarithm.
    Log / 1, "log": Own("LOG", 18, FUNCTION | FLAT), ALL_KINDS => Fraction, SCONCE_UNARY_LOG = 4;
    /// The square root.
    Sqrt / 1, "sqrt": Own("SQRT", 14, REAL | COMPLEX | FLAT), ALL_KINDS => Fraction, SCONCE_UNARY_SQRT = 5;
    /// `1 / sqrt(x)`.
    Rsqrt / 1, "rsqrt": Own("RSQRT", 15, REAL | COMPLEX | FLAT), ALL_KINDS => Fraction, SCONCE_UNARY_RSQRT = 6;
    /// `1 / x`.
    Reciprocal / 1, "reciprocal": Own("RECIPROCAL", 16, REAL | COMPLEX | FLAT), ALL_KINDS => Fraction,
        SCONCE_UNARY_RECIPROCAL = 7;
    /// The sine.
    Sin / 1, "sin": Own("SIN", 19, FUNCTION), ALL_KINDS => Fraction, SCONCE_UNARY_SIN = 8;
    /// The cosine.
    Cos / 1, "cos": Own("COS", 20, FUNCTION), ALL_KINDS => Fraction, SCONCE_UNARY_COS = 9;
    /// The hyperbolic tangent.
    Tanh / 1, "tanh": Own("TANH", 21, FUNCTION | FLAT), ALL_KINDS => Fraction, SCONCE_UNARY_TANH = 10;
    /// `1 / (1 + exp(-x))`.
    Sigmoid / 1, "sigmoid": Own("SIGMOID", 22, FUNCTION | FLAT), ALL_KINDS => Fraction, SCONCE_UNARY_SIGMOID = 11;
    /// `max(x, 0)`.
    Relu / 1, "relu": Own("RELU", 4, INT | REAL | FLAT), INT | REAL => Same, SCONCE_UNARY_RELU = 12;
    /// `x` times the normal distribution function of `x`.
    GeluErf / 1, "gelu": Own("GELU_ERF", 25, REAL | SLOW | FLAT), REAL => Same, SCONCE_UNARY_GELU = 13;
    /// The approximation of GELU by `tanh`.
    GeluTanh / 1, "gelu": Own("GELU_TANH", 26, REAL | SLOW | FLAT), REAL => Same, SCONCE_UNARY_GELU_TANH = 14;
    /// `x * sigmoid(x)`.
    Silu / 1, "silu": Own("SILU", 23, REAL | SLOW | FLAT), REAL => Same, SCONCE_UNARY_SILU = 15;
    /// The error function.
    Erf / 1, "erf": Own("ERF", 24, REAL | SLOW), BOOL | INT | REAL => Fraction, SCONCE_UNARY_ERF = 16;
    /// Rounded down.
    Floor / 1, "floor": Own("FLOOR", 10, REAL | SMALL), INT | REAL => Same, SCONCE_UNARY_FLOOR = 17;
    /// Rounded up.
    Ceil / 1, "ceil": Own("CEIL", 11, REAL | SMALL), INT | REAL => Same, SCONCE_UNARY_CEIL = 18;
    /// To the nearest integer, ties to even.
    Round / 1, "round": Own("ROUND", 12, REAL | SMALL), INT | REAL => Same, SCONCE_UNARY_ROUND = 19;
    /// Toward 0.
    Trunc / 1, "trunc": Own("TRUNC", 13, REAL | SMALL), INT | REAL => Same, SCONCE_UNARY_TRUNC = 20;
    /// Whether x is 0.
    LogicalNot / 1, "logical_not": Of(BitwiseNot, OfTruth), ALL_KINDS => Truth, SCONCE_UNARY_LOGICAL_NOT = 21;
    /// Inverts all bits; for BOOL, the logical negation.
    BitwiseNot / 1, "bitwise_not": Own("NOT", 5, BITS), BOOL | INT => Same, SCONCE_UNARY_BITWISE_NOT = 22;
    /// Whether x is NaN.
    IsNan / 1, "isnan": Own("IS_NAN", 6, ALL | PREDICATE), ALL_KINDS => Truth, SCONCE_UNARY_IS_NAN = 23;
    /// Whether x is neither infinite nor NaN.
    IsFinite / 1, "isfinite": Own("IS_FINITE", 7, ALL | PREDICATE), ALL_KINDS => Truth, SCONCE_UNARY_IS_FINITE = 24;

    /// `a + alpha * b`.
    Add / 2, "add": Own("ADD", 32, ALL | FLAT), ALL_KINDS => Same, SCONCE_BINARY_ADD = 0;
    /// `a - alpha * b`.
    Sub / 2, "sub": Of(Add, Plain), INT | REAL | COMPLEX => Same, SCONCE_BINARY_SUB = 1;
    /// `a * b`.
    Mul / 2, "mul": Own("MUL", 33, ALL | FLAT), ALL_KINDS => Same, SCONCE_BINARY_MUL = 2;
    /// `a / b`; a floating-point number, also for integers.
    Div / 2, "div": Own("DIV", 34, REAL | COMPLEX | FLAT), ALL_KINDS => Fraction, SCONCE_BINARY_DIV = 3;
    /// The quotient rounded down.
    FloorDivide / 2, "floor_divide": Own("FLOOR_DIVIDE", 35, INT | REAL | SLOW), INT | REAL => Same,
        SCONCE_BINARY_FLOOR_DIVIDE = 4;
    /// The quotient rounded toward 0.
    TruncDivide / 2, "div_trunc": Own("TRUNC_DIVIDE", 36, INT | REAL), INT | REAL => Same,
        SCONCE_BINARY_TRUNC_DIVIDE = 5;
    /// The remainder, with the sign of `b`, as in Python.
    Remainder / 2, "remainder": Own("REMAINDER", 37, INT | REAL | SLOW), INT | REAL => Same,
        SCONCE_BINARY_REMAINDER = 6;
    /// `a` to the power of `b`.
    Pow / 2, "pow": Own("POW", 38, ALL | SLOW), INT | REAL | COMPLEX => Same, SCONCE_BINARY_POW = 7;
    /// The smaller of the two; NaN if either is NaN.
    Minimum / 2, "minimum": Own("MINIMUM", 39, INT | REAL | FLAT), BOOL | INT | REAL => Same,
        SCONCE_BINARY_MINIMUM = 8;
    /// The larger of the two; NaN if either is NaN.
    Maximum / 2, "maximum": Own("MAXIMUM", 40, INT | REAL | FLAT), BOOL | INT | REAL => Same,
        SCONCE_BINARY_MAXIMUM = 9;
    /// Whether `a == b`.
    Eq / 2, "eq": Own("EQ", 41, ALL | PREDICATE), ALL_KINDS => Truth, SCONCE_BINARY_EQ = 10;
    /// Whether `a != b`.
    Ne / 2, "ne": Own("NE", 42, ALL | PREDICATE), ALL_KINDS => Truth, SCONCE_BINARY_NE = 11;
    /// Whether `a < b`.
    Lt / 2, "lt": Own("LT", 43, INT | REAL | PREDICATE), BOOL | INT | REAL => Truth, SCONCE_BINARY_LT = 12;
    /// Whether `a <= b`.
    Le / 2, "le": Own("LE", 44, INT | REAL | PREDICATE), BOOL | INT | REAL => Truth, SCONCE_BINARY_LE = 13;
    /// Whether `a > b`.
    Gt / 2, "gt": Of(Lt, Swapped), BOOL | INT | REAL => Truth, SCONCE_BINARY_GT = 14;
    /// Whether `a >= b`.
    Ge / 2, "ge": Of(Le, Swapped), BOOL | INT | REAL => Truth, SCONCE_BINARY_GE = 15;
    /// `a & b`.
    BitwiseAnd / 2, "bitwise_and": Own("AND", 45, BITS), BOOL | INT => Same, SCONCE_BINARY_BITWISE_AND = 16;
    /// `a | b`.
    BitwiseOr / 2, "bitwise_or": Own("OR", 46, BITS), BOOL | INT => Same, SCONCE_BINARY_BITWISE_OR = 17;
    /// `a ^ b`.
    BitwiseXor / 2, "bitwise_xor": Own("XOR", 47, BITS), BOOL | INT => Same, SCONCE_BINARY_BITWISE_XOR = 18;
    /// Whether both are nonzero.
    LogicalAnd / 2, "logical_and": Of(BitwiseAnd, OfTruth), ALL_KINDS => Truth, SCONCE_BINARY_LOGICAL_AND = 19;
    /// Whether at least one is nonzero.
    LogicalOr / 2, "logical_or": Of(BitwiseOr, OfTruth), ALL_KINDS => Truth, SCONCE_BINARY_LOGICAL_OR = 20;
    /// Whether exactly one is nonzero.
    LogicalXor / 2, "logical_xor": Of(BitwiseXor, OfTruth), ALL_KINDS => Truth, SCONCE_BINARY_LOGICAL_XOR = 21;

    /// The second input where the first, a `Bool` or `U8`, is not 0; elsewhere the third.
    Where / 3, "where": Own("WHERE", 64, ALL), ALL_KINDS => Same;
    /// The first input between the second and the third; NaN if any is.
    Clamp / 3, "clamp": Own("CLAMP", 65, INT | REAL), INT | REAL => Same;
}

/// Kernels of all domains.
const ALL: Traits = INT | REAL | COMPLEX;
/// Those of bits. The kernels of complex numbers compute truth values of them instead.
const BITS: Traits = INT | COMPLEX;
const FUNCTION: Traits = REAL | COMPLEX | SLOW;

/// The kernels' operations by their numbers.
const BY_NUMBER: [Option<ElementOperation>; 256] = {
    let mut found = [None; 256];
    let mut index = 0;
    while index < ElementOperation::ALL.len() {
        if let Own(_, number, _) = ElementOperation::ROWS[index].kernel {
            assert!(found[number as usize].is_none(), "two operations of kernels have one number");
            found[number as usize] = Some(ElementOperation::ALL[index]);
        }
        index += 1;
    }
    found
};

/// The operations of the C API with a number of inputs, by their numbers, which leave no gap.
const fn in_c<const N: usize>(inputs: usize) -> [ElementOperation; N] {
    let (mut found, mut count) = ([ElementOperation::Cast; N], 0);
    let mut index = 0;
    while index < ElementOperation::ALL.len() {
        let row = &ElementOperation::ROWS[index];
        if row.inputs == inputs
            && let Some((_, number)) = row.in_c
        {
            let place = number as usize;
            assert!(
                matches!(found[place], ElementOperation::Cast),
                "two operations have one number"
            );
            found[place] = ElementOperation::ALL[index];
            count += 1;
        }
        index += 1;
    }
    assert!(count == N, "a number of the C API is missing");
    found
}

impl ElementOperation {
    /// The operations of one input in the C API: the index is the number.
    pub const UNARY: [ElementOperation; 25] = in_c(1);
    /// Those of two inputs.
    pub const BINARY: [ElementOperation; 22] = in_c(2);

    #[inline]
    const fn row(self) -> &'static Row {
        &ElementOperation::ROWS[self as usize]
    }

    #[inline]
    const fn traits(self) -> Traits {
        match self.row().kernel {
            Own(_, _, traits) => traits,
            Of(..) => 0,
        }
    }

    /// How many inputs the operation has.
    #[inline]
    pub const fn inputs(self) -> usize {
        self.row().inputs
    }

    /// The name in messages of torch.
    pub const fn torch_name(self) -> &'static str {
        self.row().torch_name
    }

    /// The name and the number in the C API.
    pub const fn in_c(self) -> Option<(&'static str, i32)> {
        self.row().in_c
    }

    /// What the operation computes, in lines of text.
    pub const fn doc(self) -> &'static [&'static str] {
        self.row().doc
    }

    /// Whether torch defines the operation on elements of a type.
    #[inline]
    pub const fn takes(self, dtype: Dtype) -> bool {
        let kind = match dtype.kind() {
            DtypeKind::Bool => BOOL,
            DtypeKind::SignedInteger | DtypeKind::UnsignedInteger => INT,
            DtypeKind::Float => REAL,
            DtypeKind::Complex => COMPLEX,
        };
        self.row().takes & kind != 0
    }

    /// The type of the result.
    #[inline]
    pub const fn result(self) -> ResultType {
        self.row().result
    }

    /// The operation that kernels compute for this one, and from which inputs.
    #[inline]
    pub const fn lowered(self) -> (ElementOperation, Lowering) {
        match self.row().kernel {
            Own(..) => (self, Plain),
            Of(operation, lowering) => (operation, lowering),
        }
    }

    /// The number of the kernels that compute the operation.
    #[inline]
    pub const fn kernel_number(self) -> u8 {
        match self.row().kernel {
            Own(_, number, _) => number,
            Of(operation, _) => operation.kernel_number(),
        }
    }

    /// The name in the sources of the kernels, if they have the operation.
    pub const fn kernel_name(self) -> Option<&'static str> {
        match self.row().kernel {
            Own(name, _, _) => Some(name),
            Of(..) => None,
        }
    }

    /// The operation of kernels with a number.
    pub fn numbered(number: u64) -> Option<ElementOperation> {
        BY_NUMBER.get(usize::try_from(number).ok()?).copied().flatten()
    }

    /// Whether the kernels for contiguous elements have the operation.
    #[inline]
    pub const fn is_flat(self) -> bool {
        self.traits() & FLAT != 0
    }

    /// Whether the kernels for few elements have the operation.
    #[inline]
    pub const fn is_small(self) -> bool {
        self.traits() & (FLAT | SMALL | PREDICATE) != 0
    }

    /// Whether kernels compute 0 or 1, whatever the type of the inputs is.
    #[inline]
    pub const fn is_predicate(self) -> bool {
        self.traits() & PREDICATE != 0
    }

    /// Whether an element takes ten times as long as a sum, or longer.
    #[inline]
    pub const fn is_slow(self) -> bool {
        self.traits() & SLOW != 0
    }

    /// Whether the result depends on the indices of elements.
    #[inline]
    pub const fn is_numbered(self) -> bool {
        self.row().inputs == 0
    }

    /// Whether kernels compute the operation on the numbers of a domain.
    #[inline]
    pub const fn is_defined_on(self, domain: Domain) -> bool {
        let kind = match domain {
            Domain::F32 | Domain::F64 => REAL,
            Domain::Integer => INT,
            Domain::C64 | Domain::C128 => COMPLEX,
        };
        self.traits() & kind != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_computed_by_one_that_kernels_have() {
        for operation in ElementOperation::ALL {
            let (computed, lowering) = operation.lowered();
            assert!(computed.kernel_name().is_some(), "{operation:?} is computed by {computed:?}");
            let found = ElementOperation::numbered(u64::from(operation.kernel_number()));
            assert_eq!(found, Some(computed));
            assert!(computed.inputs() == operation.inputs(), "{operation:?}");
            assert!(lowering != Swapped || operation.inputs() == 2, "{operation:?}");
        }
        for number in [31, 255, 256, u64::MAX] {
            assert_eq!(ElementOperation::numbered(number), None);
        }
    }

    /// What torch defines on a type, kernels compute in the type that `lower` chooses.
    #[test]
    fn kernels_compute_what_is_defined() {
        use ElementOperation::{Ceil, Floor, Linspace, Round, Trunc};
        for operation in ElementOperation::ALL {
            let (computed, lowering) = operation.lowered();
            let has_fractions = operation.result() == Fraction || operation == Linspace;
            let is_rounding = matches!(operation, Floor | Ceil | Round | Trunc);
            for dtype in [Dtype::Bool, Dtype::I32, Dtype::F32, Dtype::C64] {
                let is_whole = Domain::of(dtype) == Domain::Integer;
                let compute = match dtype {
                    Dtype::F32 if lowering == OfTruth => Dtype::Bool,
                    _ if is_whole && has_fractions => Dtype::F32,
                    _ => dtype,
                };
                // What is rounded already is converted.
                if operation.takes(dtype) && !(is_whole && is_rounding) {
                    let is_defined = computed.is_defined_on(Domain::of(compute));
                    assert!(is_defined, "{operation:?} of {dtype:?}");
                }
            }
        }
    }
}
