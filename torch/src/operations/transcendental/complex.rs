//! The functions of complex numbers, with the branch cuts and the signs of zeros of C. They are in
//! `torch/kernels/transcendental.cu`, too.

use std::f64::consts::{FRAC_PI_2, LN_2, LN_10, PI};

use super::Transcendental;

/// The real and the imaginary part of a complex number.
pub(super) type ComplexParts = [f64; 2];

// Squares of numbers in between neither overflow nor lose digits.
const LARGE: f64 = 1e150;
const SMALL: f64 = 1e-150;

/// The logarithm of the length, exact also where that is close to 1.
fn log_of_length(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (most, least) = (x.max(y), x.min(y));
    if x.is_finite() && y.is_finite() {
        if most > LARGE {
            return (x * 0.5).hypot(y * 0.5).ln() + LN_2;
        }
        if most > 0.5 && most < 2.0 {
            return 0.5 * ((most - 1.0) * (most + 1.0) + least * least).ln_1p();
        }
    }
    x.hypot(y).ln()
}

fn logarithm([x, y]: ComplexParts, scale: f64) -> ComplexParts {
    [log_of_length(x, y) / scale, y.atan2(x) / scale]
}

/// What the inverse sine and cosine of a number with positive parts are made of: their real parts, and the size of
/// their imaginary parts. From "Implementing the complex arcsine and arccosine functions using exception handling" of
/// Hull, Fairgrieve and Tang.
struct Arcs {
    sine: f64,
    cosine: f64,
    size: f64,
}

fn arcs(x: f64, y: f64) -> Arcs {
    if x > LARGE || y > LARGE {
        return Arcs { sine: x.atan2(y), cosine: y.atan2(x), size: LN_2 + log_of_length(x, y) };
    }
    let (right, left) = ((x + 1.0).hypot(y), (x - 1.0).hypot(y));
    let a = 0.5 * (right + left);
    let (half, far) = (0.5 * (a + x), right + (x + 1.0));
    let root = if x <= 1.0 {
        (half * (y * y / far + (left + (1.0 - x)))).sqrt()
    } else {
        y * (half / far + half / (left + (x - 1.0))).sqrt()
    };
    let size = if y < SMALL && x < 1.0 {
        y / ((1.0 - x) * (1.0 + x)).sqrt()
    } else if a <= 1.5 {
        let near = if x < 1.0 { y * y / (left + (1.0 - x)) } else { left + (x - 1.0) };
        let above = 0.5 * (y * y / far + near);
        (above + (above * (a + 1.0)).sqrt()).ln_1p()
    } else {
        (a + (a * a - 1.0).sqrt()).ln()
    };
    Arcs { sine: x.atan2(root), cosine: root.atan2(x), size }
}

/// An infinity, or NaN instead of any other number.
fn infinite_or_nan(value: f64) -> f64 {
    if value.is_infinite() { value } else { f64::NAN }
}

fn inverse_sine([x, y]: ComplexParts) -> ComplexParts {
    if x.is_nan() || y.is_nan() {
        if x == 0.0 {
            return [x, y];
        }
        return [f64::NAN, infinite_or_nan(if x.is_infinite() { x } else { y })];
    }
    let found = arcs(x.abs(), y.abs());
    [found.sine.copysign(x), found.size.copysign(y)]
}

fn inverse_cosine([x, y]: ComplexParts) -> ComplexParts {
    if x.is_nan() || y.is_nan() {
        if x == 0.0 {
            return [FRAC_PI_2, f64::NAN];
        }
        return [f64::NAN, infinite_or_nan(if x.is_infinite() { x } else { -y })];
    }
    let found = arcs(x.abs(), y.abs());
    let cosine = if x.is_sign_negative() { PI - found.cosine } else { found.cosine };
    [cosine, found.size.copysign(-y)]
}

fn inverse_hyperbolic_tangent([re, im]: ComplexParts) -> ComplexParts {
    let (x, y) = (re.abs(), im.abs());
    let is_infinite = x.is_infinite() || y.is_infinite();
    if x.is_nan() || y.is_nan() {
        if x == 0.0 {
            return [re, im];
        }
        let up = if y.is_infinite() { FRAC_PI_2.copysign(im) } else { f64::NAN };
        return [if is_infinite { 0.0_f64.copysign(re) } else { f64::NAN }, up];
    }
    let (across, up) = if is_infinite {
        (0.0, FRAC_PI_2)
    } else if x > LARGE || y > LARGE {
        let length = (x * 0.5).hypot(y * 0.5);
        (x * 0.25 / length / length, FRAC_PI_2)
    } else {
        let up = 0.5 * (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y);
        let across = if x == 1.0 && y < SMALL {
            if y == 0.0 { f64::INFINITY } else { 0.5 * (LN_2 - y.ln()) }
        } else {
            0.25 * (4.0 * x / ((1.0 - x) * (1.0 - x) + y * y)).ln_1p()
        };
        (across, up)
    };
    [across.copysign(re), up.copysign(im)]
}

/// The hyperbolic sine and cosine, of which each is made of the other's parts.
fn hyperbolic([x, y]: ComplexParts, is_sine: bool) -> ComplexParts {
    let sign = 1.0_f64.copysign(x);
    if y == 0.0 {
        return if is_sine { [x.sinh(), y] } else { [x.cosh(), y * sign] };
    }
    if x == 0.0 {
        // NaN of what is not finite.
        let (sine, cosine) = y.sin_cos();
        return match (is_sine, y.is_finite()) {
            (true, _) => [if cosine < 0.0 { -x } else { x }, sine],
            (false, true) => [cosine, x * sine],
            (false, false) => [cosine, 0.0],
        };
    }
    if x.is_infinite() && !y.is_finite() {
        return [if is_sine { x } else { f64::INFINITY }, f64::NAN];
    }
    let (sine, cosine) = y.sin_cos();
    if x.abs() > 700.0 {
        let half = (x.abs() * 0.5).exp();
        let (across, up) = (0.5 * half * cosine * half, 0.5 * half * sine * half);
        return if is_sine { [sign * across, up] } else { [across, sign * up] };
    }
    if is_sine {
        [x.sinh() * cosine, x.cosh() * sine]
    } else {
        [x.cosh() * cosine, x.sinh() * sine]
    }
}

/// By Kahan's formula.
fn hyperbolic_tangent([x, y]: ComplexParts) -> ComplexParts {
    if x.is_infinite() {
        let sign = if y.is_finite() { y.sin() * y.cos() } else { y };
        return [1.0_f64.copysign(x), 0.0_f64.copysign(sign)];
    }
    if x.is_nan() {
        return [x, if y == 0.0 { y } else { f64::NAN }];
    }
    if !y.is_finite() {
        return [if x == 0.0 { x } else { f64::NAN }, f64::NAN];
    }
    if x.abs() > 22.0 {
        let small = (-x.abs()).exp();
        return [1.0_f64.copysign(x), 4.0 * y.sin() * y.cos() * small * small];
    }
    let (tangent, sine) = (y.tan(), x.sinh());
    let slope = 1.0 + tangent * tangent;
    let below = 1.0 + slope * sine * sine;
    [slope * (1.0 + sine * sine).sqrt() * sine / below, tangent / below]
}

fn turned([x, y]: ComplexParts) -> ComplexParts {
    [y, x]
}

/// The function of a number.
pub(super) fn of_complex(function: Transcendental, z: ComplexParts) -> ComplexParts {
    let [x, y] = z;
    match function {
        Transcendental::Acos => inverse_cosine(z),
        Transcendental::Acosh => {
            let [across, up] = inverse_cosine(z);
            [up.abs(), across.copysign(y)]
        }
        Transcendental::Asin => inverse_sine(z),
        Transcendental::Asinh => turned(inverse_sine(turned(z))),
        Transcendental::Atan => turned(inverse_hyperbolic_tangent(turned(z))),
        Transcendental::Atanh => inverse_hyperbolic_tangent(z),
        Transcendental::Cosh => hyperbolic(z, false),
        Transcendental::Expm1 => {
            let half = (0.5 * y).sin();
            [x.exp_m1() * y.cos() - 2.0 * half * half, x.exp() * y.sin()]
        }
        Transcendental::Log10 => logarithm(z, LN_10),
        Transcendental::Log1p => {
            let angle = y.atan2(x + 1.0);
            if x.hypot(y) < 0.5 {
                let square = x * (2.0 + x) + y * y;
                return [if square == 0.0 { x } else { 0.5 * square.ln_1p() }, angle];
            }
            [log_of_length(x + 1.0, y), angle]
        }
        Transcendental::Log2 => logarithm(z, LN_2),
        Transcendental::Sinh => hyperbolic(z, true),
        Transcendental::Tan => turned(hyperbolic_tangent(turned(z))),
    }
}
