//! Schur's form of real matrices, `z' a z = t` with blocks of one or two rows on the diagonal of `t`. A block of two rows
//! has two complex eigenvalues, each the conjugate of the other.

use super::super::field::Complex;
use super::balance::balance;
use super::real_vectors::vectors;
use super::{ComplexNumber, NotConverged, Spectrum, Square};

/// Steps for an eigenvalue, or two.
const STEPS: usize = 300;

/// Eigenvalues of a matrix, and vectors.
pub(super) fn eigen(mut a: Square<f64>, has_vectors: bool) -> Result<Spectrum, NotConverged> {
    let scales = balance(&mut a);
    let mut z = has_vectors.then(|| Square::identity(a.order));
    hessenberg(&mut a, z.as_mut());
    blocks(&mut a, z.as_mut())?;
    let values = values(&a);
    let vectors = z.map_or_else(Vec::new, |z| vectors(&a, &z, &values, &scales));
    Ok(Spectrum { values, vectors })
}

/// The reflection `1 - b v v'` that leaves the first of some numbers alone: `v`, whose first number is 1, and `b`.
fn reflection<const N: usize>(x: [f64; N]) -> ([f64; N], f64) {
    let most = x.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
    let mut v = [0.0; N];
    v[0] = 1.0;
    if most == 0.0 || x[1..].iter().all(|number| *number == 0.0) {
        return (v, 0.0);
    }
    let length = x.iter().map(|number| (number / most).powi(2)).sum::<f64>().sqrt() * most;
    let first = x[0] + length.copysign(x[0]);
    for (to, from) in v[1..].iter_mut().zip(&x[1..]) {
        *to = from / first;
    }
    let square: f64 = v.iter().map(|number| number * number).sum();
    (v, 2.0 / square)
}

/// Reflects some rows, from a column on.
fn reflect_rows<const N: usize>(
    h: &mut Square<f64>,
    row: usize,
    (v, b): ([f64; N], f64),
    from: usize,
) {
    for column in from..h.order {
        let sum: f64 = v.iter().enumerate().map(|(at, v)| v * h.get(row + at, column)).sum();
        for (at, v) in v.iter().enumerate() {
            h.set(row + at, column, h.get(row + at, column) - b * sum * v);
        }
    }
}

/// Reflects some columns, up to a row.
fn reflect_columns<const N: usize>(
    h: &mut Square<f64>,
    column: usize,
    (v, b): ([f64; N], f64),
    to: usize,
) {
    for row in 0..to {
        let sum: f64 = v.iter().enumerate().map(|(at, v)| v * h.get(row, column + at)).sum();
        for (at, v) in v.iter().enumerate() {
            h.set(row, column + at, h.get(row, column + at) - b * sum * v);
        }
    }
}

/// Makes all below the first diagonal below the main one 0, by reflections of two rows at a time.
fn hessenberg(h: &mut Square<f64>, mut z: Option<&mut Square<f64>>) {
    let order = h.order;
    for column in 0..order.saturating_sub(2) {
        for row in (column + 1..order - 1).rev() {
            let mirror = reflection([h.get(row, column), h.get(row + 1, column)]);
            reflect_rows(h, row, mirror, column);
            h.set(row + 1, column, 0.0);
            reflect_columns(h, row, mirror, order);
            if let Some(z) = z.as_deref_mut() {
                reflect_columns(z, row, mirror, order);
            }
        }
    }
}

/// Uncouples blocks of one or two rows by double steps (Francis).
fn blocks(h: &mut Square<f64>, mut z: Option<&mut Square<f64>>) -> Result<(), NotConverged> {
    let whole = h.values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    // Rows from `end` on are done.
    let (mut end, mut steps) = (h.order, 0);
    while end > 1 {
        let last = end - 1;
        let mut first = last;
        while first > 0 {
            let near = h.get(first - 1, first - 1).abs() + h.get(first, first).abs();
            let near = if near == 0.0 { whole } else { near };
            if h.get(first, first - 1).abs() <= f64::EPSILON * near {
                h.set(first, first - 1, 0.0);
                break;
            }
            first -= 1;
        }
        match last - first {
            0 => {
                (end, steps) = (last, 0);
                continue;
            }
            1 => {
                split(h, first, z.as_deref_mut());
                (end, steps) = (first, 0);
                continue;
            }
            _ => {}
        }
        steps += 1;
        if steps > STEPS {
            return Err(NotConverged);
        }
        step(h, [first, last], steps % 10 == 0, z.as_deref_mut());
    }
    Ok(())
}

/// A double step of the rows from `first` to `last`, which are three or more.
fn step(
    h: &mut Square<f64>,
    [first, last]: [usize; 2],
    is_other_shift: bool,
    mut z: Option<&mut Square<f64>>,
) {
    let order = h.order;
    // The sum and the product of both shifts: those of the last two rows, or now and then others.
    let (sum, product) = if is_other_shift {
        let size = h.get(last, last - 1).abs() + h.get(last - 1, last - 2).abs();
        (1.5 * size, size * size)
    } else {
        let (a, b) = (h.get(last - 1, last - 1), h.get(last - 1, last));
        let (c, d) = (h.get(last, last - 1), h.get(last, last));
        (a + d, a * d - b * c)
    };
    let (a, b) = (h.get(first, first), h.get(first, first + 1));
    let (c, d) = (h.get(first + 1, first), h.get(first + 1, first + 1));
    let mut x =
        [a * a + b * c - sum * a + product, c * (a + d - sum), c * h.get(first + 2, first + 1)];
    for at in first..last - 1 {
        let mirror = reflection(x);
        reflect_rows(h, at, mirror, if at > first { at - 1 } else { at });
        if at > first {
            h.set(at + 1, at - 1, 0.0);
            h.set(at + 2, at - 1, 0.0);
        }
        reflect_columns(h, at, mirror, (at + 3).min(last) + 1);
        if let Some(z) = z.as_deref_mut() {
            reflect_columns(z, at, mirror, order);
        }
        x = [
            h.get(at + 1, at),
            h.get(at + 2, at),
            if at + 3 <= last { h.get(at + 3, at) } else { 0.0 },
        ];
    }
    let at = last - 1;
    let mirror = reflection([x[0], x[1]]);
    reflect_rows(h, at, mirror, at - 1);
    h.set(last, at - 1, 0.0);
    reflect_columns(h, at, mirror, last + 1);
    if let Some(z) = z {
        reflect_columns(z, at, mirror, order);
    }
}

/// Half of the difference of the diagonal, and the square of the distance of both eigenvalues from their middle.
fn middle(h: &Square<f64>, at: usize) -> (f64, f64) {
    let half = (h.get(at, at) - h.get(at + 1, at + 1)) / 2.0;
    (half, half * half + h.get(at, at + 1) * h.get(at + 1, at))
}

/// Makes a block of two rows with real eigenvalues a triangle.
fn split(h: &mut Square<f64>, at: usize, z: Option<&mut Square<f64>>) {
    let (half, square) = middle(h, at);
    if square < 0.0 {
        return;
    }
    let far = half + square.sqrt().copysign(half);
    // The vector of the eigenvalue that is the last element, moved by `far`.
    let mirror = reflection([far, h.get(at + 1, at)]);
    reflect_rows(h, at, mirror, at);
    let order = h.order;
    reflect_columns(h, at, mirror, at + 2);
    h.set(at + 1, at, 0.0);
    if let Some(z) = z {
        reflect_columns(z, at, mirror, order);
    }
}

/// The eigenvalues of the blocks; of two the one with the positive imaginary part first.
fn values(t: &Square<f64>) -> Vec<ComplexNumber> {
    let mut values = Vec::with_capacity(t.order);
    while values.len() < t.order {
        let at = values.len();
        if at + 1 < t.order && t.get(at + 1, at) != 0.0 {
            let (half, square) = middle(t, at);
            let (re, im) = (t.get(at + 1, at + 1) + half, (-square).sqrt());
            values.extend([Complex { re, im }, Complex { re, im: -im }]);
        } else {
            values.push(Complex { re: t.get(at, at), im: 0.0 });
        }
    }
    values
}
