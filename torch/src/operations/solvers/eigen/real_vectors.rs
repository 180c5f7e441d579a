//! Eigenvectors of real matrices from Schur's form: rows from the last one of the eigenvalue's block upwards.

use super::super::field::{Complex, Field};
use super::complex::shrink;
use super::{ComplexNumber, Square, normalize, size};

/// A matrix in Schur's form, and what divisors are at least.
struct SchurForm<'a> {
    t: &'a Square<f64>,
    least: f64,
}

impl SchurForm<'_> {
    fn get(&self, row: usize, column: usize) -> ComplexNumber {
        Complex { re: self.t.get(row, column), im: 0.0 }
    }

    /// Whether a row is the second one of a block of two.
    fn is_second(&self, row: usize) -> bool {
        row > 0 && self.t.get(row, row - 1) != 0.0
    }

    /// A divisor that is not near to 0.
    fn apart(&self, number: ComplexNumber) -> ComplexNumber {
        if size(number) < self.least { Complex { re: self.least, im: 0.0 } } else { number }
    }

    /// The vector of an eigenvalue whose block ends with a row.
    fn vector(&self, value: ComplexNumber, end: usize) -> Vec<ComplexNumber> {
        let mut x = vec![ComplexNumber::ZERO; self.t.order];
        let mut next = end;
        if self.is_second(end) {
            let (above, below) = (self.get(end - 1, end), self.get(end, end - 1));
            if size(above) >= size(below) {
                x[end - 1] = ComplexNumber::ONE;
                x[end] = (value - self.get(end - 1, end - 1)) / above;
            } else {
                x[end] = ComplexNumber::ONE;
                x[end - 1] = (value - self.get(end, end)) / below;
            }
            next = end - 1;
        } else {
            x[end] = ComplexNumber::ONE;
        }
        while next > 0 {
            let row = next - 1;
            let sum = |row: usize, x: &[ComplexNumber]| {
                (next..=end).fold(ComplexNumber::ZERO, |sum, k| sum + self.get(row, k) * x[k])
            };
            if self.is_second(row) {
                let [upper, lower] = [-sum(row - 1, &x), -sum(row, &x)];
                let (a, b) = (self.get(row - 1, row - 1) - value, self.get(row - 1, row));
                let (c, d) = (self.get(row, row - 1), self.get(row, row) - value);
                let determinant = a * d - b * c;
                // Its size is that of products.
                let most = [a, b, c, d].into_iter().map(size).fold(0.0, f64::max);
                let determinant = match size(determinant) < self.least * most.max(self.least) {
                    true => Complex { re: self.least * most.max(self.least), im: 0.0 },
                    false => determinant,
                };
                x[row - 1] = (d * upper - b * lower) / determinant;
                x[row] = (a * lower - c * upper) / determinant;
                if size(x[row]) > size(x[row - 1]) {
                    x.swap(row, row - 1);
                    shrink(&mut x[row - 1..=end]);
                    x.swap(row, row - 1);
                } else {
                    shrink(&mut x[row - 1..=end]);
                }
                next = row - 1;
            } else {
                x[row] = -sum(row, &x) / self.apart(self.get(row, row) - value);
                shrink(&mut x[row..=end]);
                next = row;
            }
        }
        x
    }
}

/// All vectors, one after another, in the basis `z` of the scaled matrix.
pub(super) fn vectors(
    t: &Square<f64>,
    z: &Square<f64>,
    values: &[ComplexNumber],
    scales: &[f64],
) -> Vec<ComplexNumber> {
    let most = t.values.iter().fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let form = SchurForm { t, least: most * f64::EPSILON };
    let mut all: Vec<ComplexNumber> = Vec::with_capacity(t.order * t.order);
    for (at, value) in values.iter().enumerate() {
        if value.im < 0.0 {
            // The conjugate of the one before.
            let begin = all.len() - t.order;
            let turned: Vec<ComplexNumber> = all[begin..].iter().map(|x| x.conjugate()).collect();
            all.extend(turned);
            continue;
        }
        let end = if value.im > 0.0 { at + 1 } else { at };
        let x = form.vector(*value, end);
        let mut vector: Vec<ComplexNumber> = (0..t.order)
            .map(|row| {
                let sum = (0..=end).fold(ComplexNumber::ZERO, |sum, k| {
                    sum + Complex { re: z.get(row, k) * x[k].re, im: z.get(row, k) * x[k].im }
                });
                Complex { re: sum.re * scales[row], im: sum.im * scales[row] }
            })
            .collect();
        normalize(&mut vector);
        all.extend(vector);
    }
    all
}
