//! Operations on integers and booleans, in 64 bits.

use sconce_base::element::Dtype;

use super::any_number::{AnyNumber, wrap};
use super::number::{DomainNumber, Rules};

/// What a division by 0 gives; its remainder is the number itself.
const DIVIDED_BY_ZERO: i64 = -1;

impl DomainNumber for i64 {
    const OWN: Dtype = Dtype::I64;

    fn from_any(value: AnyNumber, compute: Dtype) -> i64 {
        value.to_integer(compute)
    }

    fn to_any(self, compute: Dtype) -> AnyNumber {
        if compute == Dtype::U64 {
            AnyNumber::Unsigned(self as u64)
        } else {
            AnyNumber::Signed(self)
        }
    }

    #[inline]
    fn apply(rules: &Rules<i64>, [a, b, c]: [i64; 3], index: u64) -> i64 {
        use super::operation::ElementOperation::*;
        let is_unsigned = rules.compute == Dtype::U64;
        let below = |a: i64, b: i64| if is_unsigned { (a as u64) < b as u64 } else { a < b };
        let least = |a, b| if below(b, a) { b } else { a };
        let greatest = |a, b| if below(a, b) { b } else { a };
        let [first, second, _] = rules.parameters;
        let result = match rules.operation {
            Neg => a.wrapping_neg(),
            Abs if below(a, 0) => a.wrapping_neg(),
            Sign => i64::from(below(0, a)) - i64::from(below(a, 0)),
            Relu => greatest(a, 0),
            BitwiseNot if rules.compute == Dtype::Bool => a ^ 1,
            BitwiseNot => !a,
            IsNan => 0,
            IsFinite => 1,
            Range => first.wrapping_add(second.wrapping_mul(index as i64)),
            Add => a.wrapping_add(first.wrapping_mul(b)),
            Mul => a.wrapping_mul(b),
            FloorDivide => {
                let (quotient, rest) = divide(a, b, is_unsigned);
                let is_below = !is_unsigned && b != 0 && rest != 0 && (rest < 0) != (b < 0);
                quotient.wrapping_sub(i64::from(is_below))
            }
            TruncDivide => divide(a, b, is_unsigned).0,
            Remainder => {
                let rest = divide(a, b, is_unsigned).1;
                let is_below = !is_unsigned && rest != 0 && (rest < 0) != (b < 0);
                if is_below { rest.wrapping_add(b) } else { rest }
            }
            Pow => power(a, b, is_unsigned),
            Minimum => least(a, b),
            Maximum => greatest(a, b),
            Eq => i64::from(a == b),
            Ne => i64::from(a != b),
            Lt => i64::from(below(a, b)),
            Le => i64::from(!below(b, a)),
            BitwiseAnd => a & b,
            BitwiseOr => a | b,
            BitwiseXor => a ^ b,
            Where if a == 0 => c,
            Where => b,
            Clamp => least(greatest(a, b), c),
            _ => a,
        };
        if rules.operation.is_predicate() { result } else { wrap(result, rules.compute) }
    }
}

/// Quotient, toward 0, and remainder.
fn divide(a: i64, b: i64, is_unsigned: bool) -> (i64, i64) {
    match (b, is_unsigned) {
        (0, _) => (DIVIDED_BY_ZERO, a),
        (_, true) => ((a as u64 / b as u64) as i64, (a as u64 % b as u64) as i64),
        (_, false) => (a.wrapping_div(b), a.wrapping_rem(b)),
    }
}

/// Repeated multiplication. With a negative exponent only 1 and -1 have powers that are not 0.
fn power(mut base: i64, exponent: i64, is_unsigned: bool) -> i64 {
    if exponent < 0 && !is_unsigned {
        return match base {
            1 => 1,
            -1 if exponent & 1 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    let (mut rest, mut result) = (exponent as u64, 1_i64);
    while rest != 0 {
        if rest & 1 != 0 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        rest >>= 1;
    }
    result
}
