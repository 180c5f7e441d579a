//! Operations on real numbers, in single and in double precision.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use sconce_base::element::Dtype;

use super::any_number::AnyNumber;
use super::erf::{erf, erff};
use super::number::{DomainNumber, Rules};

/// A floating-point type of the processor.
pub(super) trait RealPrecision:
    Copy
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    fn any(self) -> AnyNumber;
    fn from_number(value: AnyNumber, compute: Dtype) -> Self;
    fn from_place(index: u64) -> Self;
    fn erf(self) -> Self;
    fn abs(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn trunc(self) -> Self;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn atan2(self, other: Self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
    fn is_infinite(self) -> bool;
}

macro_rules! real {
    ($real:ident, $to:ident, $any:ident, $own:ident, $erf:ident) => {
        impl RealPrecision for $real {
            fn of(value: f64) -> $real {
                value as $real
            }
            fn any(self) -> AnyNumber {
                AnyNumber::$any(self)
            }
            fn from_number(value: AnyNumber, compute: Dtype) -> $real {
                value.round_to(compute).$to()
            }
            fn from_place(index: u64) -> $real {
                index as $real
            }
            fn erf(self) -> $real {
                $erf(self)
            }
            real!($real: abs floor ceil round_ties_even trunc sqrt exp ln ln_1p sin cos sinh);
            real!($real: cosh tanh);
            fn powf(self, exponent: $real) -> $real {
                $real::powf(self, exponent)
            }
            fn hypot(self, other: $real) -> $real {
                $real::hypot(self, other)
            }
            fn atan2(self, other: $real) -> $real {
                $real::atan2(self, other)
            }
            fn copysign(self, sign: $real) -> $real {
                $real::copysign(self, sign)
            }
            fn mul_add(self, factor: $real, addend: $real) -> $real {
                $real::mul_add(self, factor, addend)
            }
            fn is_nan(self) -> bool {
                $real::is_nan(self)
            }
            fn is_finite(self) -> bool {
                $real::is_finite(self)
            }
            fn is_infinite(self) -> bool {
                $real::is_infinite(self)
            }
        }

        impl DomainNumber for $real {
            const OWN: Dtype = Dtype::$own;
            #[inline]
            fn from_any(value: AnyNumber, compute: Dtype) -> $real {
                <$real as RealPrecision>::from_number(value, compute)
            }
            fn to_any(self, compute: Dtype) -> AnyNumber {
                self.any().round_to(compute)
            }
            #[inline(always)]
            fn apply(rules: &Rules<$real>, inputs: [$real; 3], index: u64) -> $real {
                apply(rules, inputs, index)
            }
        }
    };
    ($real:ident: $($function:ident)*) => {
        $(fn $function(self) -> $real {
            $real::$function(self)
        })*
    };
}

real!(f32, to_single, Single, F32, erff);
real!(f64, to_double, Double, F64, erf);

#[inline(always)]
fn apply<R: RealPrecision>(rules: &Rules<R>, [a, b, c]: [R; 3], index: u64) -> R {
    use super::operation::ElementOperation::*;
    let (zero, one, half) = (R::of(0.0), R::of(1.0), R::of(0.5));
    let flag = |is_true: bool| if is_true { one } else { zero };
    let [first, second, third] = rules.parameters;
    match rules.operation {
        Neg => -a,
        Abs => a.abs(),
        Sign => flag(a > zero) - flag(a < zero),
        Relu if a <= zero => zero,
        IsNan => flag(a.is_nan()),
        IsFinite => flag(a.is_finite()),
        Range => second.mul_add(R::from_place(index), first),
        Linspace => {
            if matches!(rules.compute, Dtype::F32 | Dtype::F64) {
                return match index < rules.count / 2 {
                    true => third.mul_add(R::from_place(index), first),
                    false => (-third).mul_add(R::from_place(rules.count - 1 - index), second),
                };
            }
            // torch rounds each step of this one to the type.
            let round = |value: R| R::from_number(value.any(), rules.compute);
            let steps = |count: u64| round(third * round(R::from_place(count)));
            if index < rules.count / 2 {
                first + steps(index)
            } else {
                second - steps(rules.count - 1 - index)
            }
        }
        Floor => a.floor(),
        Ceil => a.ceil(),
        Round => a.round_ties_even(),
        Trunc => a.trunc(),
        Sqrt => a.sqrt(),
        Rsqrt => one / a.sqrt(),
        Reciprocal => one / a,
        Exp => a.exp(),
        Log => a.ln(),
        Sin => a.sin(),
        Cos => a.cos(),
        Tanh => a.tanh(),
        Sigmoid => one / (one + (-a).exp()),
        Silu => a / (one + (-a).exp()),
        Erf => a.erf(),
        GeluErf => half * a * (one + (a * R::of(std::f64::consts::FRAC_1_SQRT_2)).erf()),
        GeluTanh => {
            let factor = R::of(std::f64::consts::SQRT_2 * std::f64::consts::FRAC_2_SQRT_PI * 0.5);
            let inner = factor * (a + R::of(0.044_715) * (a * a * a));
            half * a * (one + inner.tanh())
        }
        Add if first == one => a + b,
        Add => first.mul_add(b, a),
        Mul => a * b,
        Div => a / b,
        FloorDivide => floor_divide(a, b),
        // torch rounds the quotient to the type before it cuts it.
        TruncDivide => R::from_number((a / b).any(), rules.compute).trunc(),
        Remainder => {
            let rest = a % b;
            if rest != zero && (rest < zero) != (b < zero) { rest + b } else { rest }
        }
        Pow => a.powf(b),
        Minimum if a.is_nan() || a < b => a,
        Maximum if a.is_nan() || a > b => a,
        Minimum | Maximum => b,
        Eq => flag(a == b),
        Ne => flag(a != b),
        Lt => flag(a < b),
        Le => flag(a <= b),
        Where if a == zero => c,
        Where => b,
        Clamp if a.is_nan() => a,
        Clamp if b.is_nan() => b,
        Clamp if c.is_nan() => c,
        Clamp => {
            let raised = if a < b { b } else { a };
            if raised > c { c } else { raised }
        }
        _ => a,
    }
}

/// The quotient rounded down, exactly where `a / b` would round up to the next integer.
fn floor_divide<R: RealPrecision>(a: R, b: R) -> R {
    let (zero, one) = (R::of(0.0), R::of(1.0));
    if b == zero {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != zero && (b < zero) != (rest < zero) {
        quotient = quotient - one;
    }
    if quotient == zero {
        return zero.copysign(a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > R::of(0.5) { floor + one } else { floor }
}
