//! Operations on complex numbers, in single and in double precision.

use sconce_base::element::Dtype;

use super::any_number::AnyNumber;
use super::number::{DomainNumber, Rules};
use super::real::RealPrecision;

/// A complex number: its real and its imaginary part.
type Pair<R> = [R; 2];

impl DomainNumber for [f32; 2] {
    const OWN: Dtype = Dtype::C64;

    fn from_any(value: AnyNumber, compute: Dtype) -> [f32; 2] {
        value.round_to(compute).to_complex_single()
    }
    fn to_any(self, compute: Dtype) -> AnyNumber {
        AnyNumber::ComplexSingle(self).round_to(compute)
    }
    fn apply(rules: &Rules<[f32; 2]>, inputs: [[f32; 2]; 3], index: u64) -> [f32; 2] {
        apply(rules, inputs, index)
    }
}

impl DomainNumber for [f64; 2] {
    const OWN: Dtype = Dtype::C128;

    fn from_any(value: AnyNumber, _: Dtype) -> [f64; 2] {
        value.to_complex_double()
    }
    fn to_any(self, _: Dtype) -> AnyNumber {
        AnyNumber::ComplexDouble(self)
    }
    fn apply(rules: &Rules<[f64; 2]>, inputs: [[f64; 2]; 3], index: u64) -> [f64; 2] {
        apply(rules, inputs, index)
    }
}

fn apply<R: RealPrecision>(rules: &Rules<Pair<R>>, [a, b, c]: [Pair<R>; 3], index: u64) -> Pair<R> {
    use super::operation::ElementOperation::*;
    let (zero, one) = (R::of(0.0), R::of(1.0));
    let flag = |is_true: bool| [if is_true { one } else { zero }, zero];
    let is_nonzero = |z: Pair<R>| z[0] != zero || z[1] != zero;
    let [first, second, third] = rules.parameters;
    match rules.operation {
        Neg => [-a[0], -a[1]],
        Abs => [a[0].hypot(a[1]), zero],
        Sign if is_nonzero(a) => a.map(|part| part / a[0].hypot(a[1])),
        BitwiseNot => flag(!is_nonzero(a)),
        IsNan => flag(a[0].is_nan() || a[1].is_nan()),
        IsFinite => flag(a[0].is_finite() && a[1].is_finite()),
        Range => add(first, scale(second, R::from_place(index))),
        Linspace if index < rules.count / 2 => add(first, scale(third, R::from_place(index))),
        Linspace => {
            let back = R::from_place(rules.count - 1 - index);
            add(second, scale(third, -back))
        }
        Sqrt => sqrt(a),
        Rsqrt => divide([one, zero], sqrt(a)),
        Reciprocal => divide([one, zero], a),
        Exp => exp(a),
        Log => ln(a),
        Sin => [a[0].sin() * a[1].cosh(), a[0].cos() * a[1].sinh()],
        Cos => [a[0].cos() * a[1].cosh(), -(a[0].sin() * a[1].sinh())],
        Tanh => tanh(a),
        Sigmoid => {
            let [real, imaginary] = exp([-a[0], -a[1]]);
            divide([one, zero], [one + real, imaginary])
        }
        Add if first == [one, zero] => add(a, b),
        Add => add(a, multiply(first, b)),
        Mul => multiply(a, b),
        Div => divide(a, b),
        Pow => power(a, b),
        Eq => flag(a == b),
        Ne => flag(a != b),
        BitwiseAnd => flag(is_nonzero(a) && is_nonzero(b)),
        BitwiseOr => flag(is_nonzero(a) || is_nonzero(b)),
        BitwiseXor => flag(is_nonzero(a) != is_nonzero(b)),
        Where if is_nonzero(a) => b,
        Where => c,
        _ => a,
    }
}

fn add<R: RealPrecision>(a: Pair<R>, b: Pair<R>) -> Pair<R> {
    [a[0] + b[0], a[1] + b[1]]
}

fn scale<R: RealPrecision>(a: Pair<R>, factor: R) -> Pair<R> {
    a.map(|part| part * factor)
}

fn multiply<R: RealPrecision>(a: Pair<R>, b: Pair<R>) -> Pair<R> {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Smith's way, which scales by the larger part of the divisor, so that nothing overflows on the way.
fn divide<R: RealPrecision>([a, b]: Pair<R>, [c, d]: Pair<R>) -> Pair<R> {
    let zero = R::of(0.0);
    if c.abs() >= d.abs() {
        if c == zero && d == zero {
            return [a / c.abs(), b / d.abs()];
        }
        let ratio = d / c;
        let scale = R::of(1.0) / (c + d * ratio);
        [(a + b * ratio) * scale, (b - a * ratio) * scale]
    } else {
        let ratio = c / d;
        let scale = R::of(1.0) / (c * ratio + d);
        [(a * ratio + b) * scale, (b * ratio - a) * scale]
    }
}

fn exp<R: RealPrecision>([real, imaginary]: Pair<R>) -> Pair<R> {
    let (size, zero) = (real.exp(), R::of(0.0));
    if imaginary == zero {
        return [size, imaginary];
    }
    if !imaginary.is_finite() && real.is_infinite() {
        return if real < zero { [zero, zero] } else { [size, R::of(f64::NAN)] };
    }
    [size * imaginary.cos(), size * imaginary.sin()]
}

fn ln<R: RealPrecision>([a, b]: Pair<R>) -> Pair<R> {
    let (one, half) = (R::of(1.0), R::of(0.5));
    let size = a.hypot(b);
    let is_near_one = size > half && size < R::of(2.0);
    let (large, small) = if a.abs() < b.abs() { (b.abs(), a.abs()) } else { (a.abs(), b.abs()) };
    // Near 1 the logarithm of the rounded size would lose its digits.
    let real = match is_near_one {
        true => half * ((large - one) * (large + one) + small * small).ln_1p(),
        false => size.ln(),
    };
    [real, b.atan2(a)]
}

fn sqrt<R: RealPrecision>([a, b]: Pair<R>) -> Pair<R> {
    let (zero, half) = (R::of(0.0), R::of(0.5));
    if a == zero && b == zero {
        return [zero, b];
    }
    if b.is_infinite() {
        return [b.abs(), b];
    }
    if a.is_infinite() {
        let rest = if b.is_nan() { b } else { zero };
        return if a > zero { [a, rest.copysign(b)] } else { [rest, a.abs().copysign(b)] };
    }
    // Of halves, so that nothing overflows on the way.
    let root = (a.abs() * half + (a * half).hypot(b * half)).sqrt();
    let other = b.abs() / (root + root);
    if a >= zero { [root, other.copysign(b)] } else { [other, root.copysign(b)] }
}

fn tanh<R: RealPrecision>([a, b]: Pair<R>) -> Pair<R> {
    let (twice, angle) = (a + a, b + b);
    // From here on the nearest number to the real part is 1.
    if a.abs() > R::of(20.0) {
        return [R::of(1.0).copysign(a), R::of(0.0).copysign(angle.sin())];
    }
    let divisor = twice.cosh() + angle.cos();
    [twice.sinh() / divisor, angle.sin() / divisor]
}

/// Of a base of 0 the logarithm is infinite: the result is 0, infinite or NaN as the exponent's parts say, as in
/// torch.
fn power<R: RealPrecision>(base: Pair<R>, exponent: Pair<R>) -> Pair<R> {
    exp(multiply(exponent, ln(base)))
}
