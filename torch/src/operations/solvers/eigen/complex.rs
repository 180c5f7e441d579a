//! Schur's form of complex matrices, `z' a z = t` with a triangle `t`, and eigenvectors from it.

use super::super::field::{Complex, Field};
use super::balance::balance;
use super::{ComplexNumber, NotConverged, Spectrum, Square, normalize, size};

/// Steps for an eigenvalue.
const STEPS: usize = 300;

/// Eigenvalues of a matrix, and vectors.
pub(super) fn eigen(
    mut a: Square<ComplexNumber>,
    has_vectors: bool,
) -> Result<Spectrum, NotConverged> {
    let scales = balance(&mut a);
    let mut z = has_vectors.then(|| Square::identity(a.order));
    hessenberg(&mut a, z.as_mut());
    triangle(&mut a, z.as_mut())?;
    let values: Vec<ComplexNumber> = (0..a.order).map(|at| a.get(at, at)).collect();
    let vectors = z.map_or_else(Vec::new, |z| vectors(&a, &z, &scales));
    Ok(Spectrum { values, vectors })
}

/// A rotation of two rows: `(c, s)` with `[c s; -s' c] [x y] = [r 0]`.
fn rotation(x: ComplexNumber, y: ComplexNumber) -> (f64, ComplexNumber) {
    let (a, b) = (size(x), size(y));
    let length = a.hypot(b);
    if b == 0.0 {
        return (1.0, ComplexNumber::ZERO);
    }
    let turned = y.conjugate();
    let by = |number: ComplexNumber, factor: f64| Complex {
        re: number.re * factor,
        im: number.im * factor,
    };
    if a == 0.0 {
        return (0.0, by(turned, 1.0 / b));
    }
    (a / length, by(by(x, 1.0 / a) * turned, 1.0 / length))
}

/// Rotates two rows, from a column on.
fn rotate_rows(
    h: &mut Square<ComplexNumber>,
    row: usize,
    (c, s): (f64, ComplexNumber),
    from: usize,
) {
    let c = Complex { re: c, im: 0.0 };
    for column in from..h.order {
        let (upper, lower) = (h.get(row, column), h.get(row + 1, column));
        h.set(row, column, c * upper + s * lower);
        h.set(row + 1, column, c * lower - s.conjugate() * upper);
    }
}

/// Rotates two columns by the adjoint, up to a row.
fn rotate_columns(
    h: &mut Square<ComplexNumber>,
    column: usize,
    (c, s): (f64, ComplexNumber),
    to: usize,
) {
    let c = Complex { re: c, im: 0.0 };
    for row in 0..to {
        let (left, right) = (h.get(row, column), h.get(row, column + 1));
        h.set(row, column, c * left + s.conjugate() * right);
        h.set(row, column + 1, c * right - s * left);
    }
}

/// Makes all below the first diagonal below the main one 0, by rotations.
fn hessenberg(h: &mut Square<ComplexNumber>, mut z: Option<&mut Square<ComplexNumber>>) {
    let order = h.order;
    for column in 0..order.saturating_sub(2) {
        for row in (column + 1..order - 1).rev() {
            let turn = rotation(h.get(row, column), h.get(row + 1, column));
            rotate_rows(h, row, turn, column);
            h.set(row + 1, column, ComplexNumber::ZERO);
            rotate_columns(h, row, turn, order);
            if let Some(z) = z.as_deref_mut() {
                rotate_columns(z, row, turn, order);
            }
        }
    }
}

/// The eigenvalue of the last two rows that is nearer to the last element.
fn shift(h: &Square<ComplexNumber>, last: usize) -> ComplexNumber {
    let (a, b) = (h.get(last - 1, last - 1), h.get(last - 1, last));
    let (c, d) = (h.get(last, last - 1), h.get(last, last));
    let half = |number: ComplexNumber| Complex { re: number.re * 0.5, im: number.im * 0.5 };
    let middle = half(a - d);
    let root = root(middle * middle + b * c);
    // The sum and the difference of `middle` and the root: the larger one is exact, the other from the product.
    let far =
        if size(middle + root) >= size(middle - root) { middle + root } else { middle - root };
    if far == ComplexNumber::ZERO { d } else { d - b * c / far }
}

/// The square root whose real part is not below 0.
fn root(number: ComplexNumber) -> ComplexNumber {
    let length = size(number);
    if length == 0.0 {
        return ComplexNumber::ZERO;
    }
    let re = ((length + number.re.abs()) * 0.5).sqrt();
    let im = number.im / (2.0 * re);
    match number.re >= 0.0 {
        true => Complex { re, im },
        false => Complex { re: im.abs(), im: if number.im < 0.0 { -re } else { re } },
    }
}

/// Makes the first diagonal below the main one 0, too.
fn triangle(
    h: &mut Square<ComplexNumber>,
    mut z: Option<&mut Square<ComplexNumber>>,
) -> Result<(), NotConverged> {
    let order = h.order;
    let whole: f64 = h.values.iter().map(|value| size(*value)).fold(0.0, f64::max);
    let mut last = order - 1;
    let mut steps = 0;
    while last > 0 {
        // The rows from `first` on are not coupled to those before.
        let mut first = last;
        while first > 0 {
            let near = size(h.get(first - 1, first - 1)) + size(h.get(first, first));
            let near = if near == 0.0 { whole } else { near };
            if size(h.get(first, first - 1)) <= f64::EPSILON * near {
                h.set(first, first - 1, ComplexNumber::ZERO);
                break;
            }
            first -= 1;
        }
        if first == last {
            last -= 1;
            steps = 0;
            continue;
        }
        steps += 1;
        if steps > STEPS {
            return Err(NotConverged);
        }
        // Now and then another shift, as a cycle would not end.
        let by = match steps % 10 {
            0 => Complex { re: 1.5 * size(h.get(last, last - 1)), im: 0.0 } + h.get(last, last),
            _ => shift(h, last),
        };
        let (mut x, mut y) = (h.get(first, first) - by, h.get(first + 1, first));
        for at in first..last {
            let turn = rotation(x, y);
            rotate_rows(h, at, turn, if at > first { at - 1 } else { at });
            if at > first {
                h.set(at + 1, at - 1, ComplexNumber::ZERO);
            }
            rotate_columns(h, at, turn, (at + 2).min(last) + 1);
            if let Some(z) = z.as_deref_mut() {
                rotate_columns(z, at, turn, order);
            }
            if at + 2 <= last {
                (x, y) = (h.get(at + 1, at), h.get(at + 2, at));
            }
        }
    }
    Ok(())
}

/// Vectors of the triangle, in the basis `z` of the scaled matrix.
fn vectors(
    t: &Square<ComplexNumber>,
    z: &Square<ComplexNumber>,
    scales: &[f64],
) -> Vec<ComplexNumber> {
    let order = t.order;
    let most = t.values.iter().map(|value| size(*value)).fold(f64::MIN_POSITIVE, f64::max);
    let least = most * f64::EPSILON;
    let mut all = Vec::with_capacity(order * order);
    for at in 0..order {
        let value = t.get(at, at);
        let mut x = vec![ComplexNumber::ZERO; order];
        x[at] = ComplexNumber::ONE;
        for row in (0..at).rev() {
            let sum = (row + 1..=at).fold(ComplexNumber::ZERO, |sum, k| sum + t.get(row, k) * x[k]);
            let mut gap = t.get(row, row) - value;
            if size(gap) < least {
                gap = Complex { re: least, im: 0.0 };
            }
            x[row] = -sum / gap;
            shrink(&mut x[row..=at]);
        }
        let mut vector: Vec<ComplexNumber> = (0..order)
            .map(|row| {
                let sum = (0..=at).fold(ComplexNumber::ZERO, |sum, k| sum + z.get(row, k) * x[k]);
                Complex { re: sum.re * scales[row], im: sum.im * scales[row] }
            })
            .collect();
        normalize(&mut vector);
        all.extend(vector);
    }
    all
}

/// Divides a vector whose first element is very large.
pub(super) fn shrink(x: &mut [ComplexNumber]) {
    let most = x.first().map_or(0.0, |first| size(*first));
    if most > 1e100 {
        for number in x {
            *number = Complex { re: number.re / most, im: number.im / most };
        }
    }
}
