//! The operations that kernels and host compute.

/// An operation on the elements of up to three inputs.
///
/// The numbers are those of `kernels/pointwise/operations.cuh`.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementOperation {
    Copy = 0,
    Neg = 1,
    Abs = 2,
    Sign = 3,
    Relu = 4,
    Not = 5,
    IsNan = 6,
    IsFinite = 7,
    /// `start + index * step`; parameters `start` and `step`.
    Range = 8,
    /// Equal steps from `start` to `end`; parameters `start`, `end` and the step.
    Linspace = 9,
    Floor = 10,
    Ceil = 11,
    Round = 12,
    Trunc = 13,
    Sqrt = 14,
    Rsqrt = 15,
    Reciprocal = 16,
    Exp = 17,
    Log = 18,
    Sin = 19,
    Cos = 20,
    Tanh = 21,
    Sigmoid = 22,
    Silu = 23,
    Erf = 24,
    GeluErf = 25,
    GeluTanh = 26,
    /// `a + alpha * b`; the parameter is `alpha`.
    Add = 32,
    Mul = 33,
    Div = 34,
    FloorDivide = 35,
    TruncDivide = 36,
    Remainder = 37,
    Pow = 38,
    Minimum = 39,
    Maximum = 40,
    Eq = 41,
    Ne = 42,
    Lt = 43,
    Le = 44,
    /// Of bits; of complex numbers whether both are not 0.
    And = 45,
    Or = 46,
    Xor = 47,
    /// The second input where the first is not 0, else the third.
    Where = 64,
    /// The first input between the second and the third.
    Clamp = 65,
}

use super::domain::Domain;

impl ElementOperation {
    /// Every operation, in the order of the numbers.
    #[rustfmt::skip]
    pub(crate) const ALL: [ElementOperation; 45] = {
        use ElementOperation::*;
        [
            Copy, Neg, Abs, Sign, Relu, Not, IsNan, IsFinite, Range, Linspace, Floor, Ceil, Round,
            Trunc, Sqrt, Rsqrt, Reciprocal, Exp, Log, Sin, Cos, Tanh, Sigmoid, Silu, Erf, GeluErf,
            GeluTanh, Add, Mul, Div, FloorDivide, TruncDivide, Remainder, Pow, Minimum, Maximum, Eq,
            Ne, Lt, Le, And, Or, Xor, Where, Clamp,
        ]
    };

    /// The operation with a number.
    pub fn numbered(number: u64) -> Option<ElementOperation> {
        ElementOperation::ALL.into_iter().find(|operation| *operation as u64 == number)
    }

    /// How many inputs the operation has.
    pub const fn inputs(self) -> usize {
        match self as u8 {
            0..32 => 1,
            32..64 => 2,
            _ => 3,
        }
    }

    /// Whether the result is 0 or 1, whatever the type of the inputs is.
    pub(crate) const fn is_predicate(self) -> bool {
        use ElementOperation::*;
        matches!(self, IsNan | IsFinite | Eq | Ne | Lt | Le)
    }

    /// Whether the result depends on the indices of elements.
    pub const fn is_numbered(self) -> bool {
        matches!(self, ElementOperation::Range | ElementOperation::Linspace)
    }

    /// Whether an element takes ten times as long as a sum, and more.
    pub const fn is_function(self) -> bool {
        use ElementOperation::*;
        matches!(
            self,
            Exp | Log
                | Sin
                | Cos
                | Tanh
                | Sigmoid
                | Silu
                | Erf
                | GeluErf
                | GeluTanh
                | Remainder
                | Pow
                | FloorDivide
        )
    }

    /// Whether the operation is defined on the numbers of a domain.
    pub const fn is_defined_on(self, domain: Domain) -> bool {
        use ElementOperation::*;
        match domain {
            Domain::F32 | Domain::F64 => !matches!(self, Not | And | Or | Xor),
            Domain::Integer => !matches!(
                self,
                Linspace
                    | Floor
                    | Ceil
                    | Round
                    | Trunc
                    | Sqrt
                    | Rsqrt
                    | Reciprocal
                    | Exp
                    | Log
                    | Sin
                    | Cos
                    | Tanh
                    | Sigmoid
                    | Silu
                    | Erf
                    | GeluErf
                    | GeluTanh
                    | Div
            ),
            Domain::C64 | Domain::C128 => matches!(
                self,
                Copy | Neg
                    | Abs
                    | Sign
                    | Not
                    | IsNan
                    | IsFinite
                    | Range
                    | Linspace
                    | Sqrt
                    | Rsqrt
                    | Reciprocal
                    | Exp
                    | Log
                    | Sin
                    | Cos
                    | Tanh
                    | Sigmoid
                    | Add
                    | Mul
                    | Div
                    | Pow
                    | Eq
                    | Ne
                    | And
                    | Or
                    | Xor
                    | Where
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_found_again() {
        for pair in ElementOperation::ALL.windows(2) {
            assert!((pair[0] as u8) < pair[1] as u8, "{pair:?}");
        }
        for operation in ElementOperation::ALL {
            assert_eq!(ElementOperation::numbered(operation as u64), Some(operation));
            assert!((1..=3).contains(&operation.inputs()));
        }
        assert_eq!(ElementOperation::numbered(31), None);
    }
}
