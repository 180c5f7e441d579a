//! The steps that factor some columns, on the CPU.

#![allow(unsafe_code, reason = "reads and writes elements")]

use super::Matrix;
use crate::operations::solvers::field::Field;
use crate::operations::solvers::matrices::Matrices;
use crate::operations::solvers::parameters::IntegerBatch;

impl IntegerBatch {
    fn place(self, entry: i64, at: i64) -> *mut i32 {
        let place = entry * self.step + at;
        assert!((0..self.count).contains(&place));
        self.data.wrapping_offset(place as isize)
    }

    /// A number of a matrix.
    pub(super) fn get(self, entry: i64, at: i64) -> i32 {
        // SAFETY: the place is one of the batch's numbers, whose tensor lives.
        unsafe { self.place(entry, at).read() }
    }

    pub(super) fn set(self, entry: i64, at: i64, value: i32) {
        // SAFETY: the place is one of the batch's numbers, whose tensor lives, and nobody else uses the number.
        unsafe { self.place(entry, at).write(value) };
    }

    /// Notes the first failure of a matrix.
    pub(super) fn note(self, entry: i64, value: i64) {
        if self.get(entry, 0) == 0 {
            self.set(entry, 0, value as i32);
        }
    }
}

/// See `panels::cholesky`.
pub fn cholesky<T: Field>(a: &Matrices, info: IntegerBatch, first: i64) {
    for entry in 0..a.count {
        let matrix = Matrix::<T>::of(a, entry);
        if info.get(entry, 0) != 0 {
            continue;
        }
        for k in 0..a.rows {
            let pivot = matrix.get(k, k).real();
            // Not a number counts as not positive, too.
            if pivot.is_nan() || pivot <= 0.0 {
                info.note(entry, first + k + 1);
                break;
            }
            let side = T::of(pivot.sqrt(), 0.0);
            matrix.set(k, k, side);
            for i in k + 1..a.rows {
                matrix.set(i, k, matrix.get(i, k) / side);
            }
            for j in k + 1..a.rows {
                let factor = matrix.get(j, k).conjugate();
                for i in j..a.rows {
                    matrix.set(i, j, matrix.get(i, j) - matrix.get(i, k) * factor);
                }
            }
        }
    }
}

/// See `panels::lu`.
pub fn lu<T: Field>(a: &Matrices, pivots: IntegerBatch, info: IntegerBatch, first: i64) {
    for entry in 0..a.count {
        let matrix = Matrix::<T>::of(a, entry);
        for k in 0..a.rows.min(a.columns) {
            let mut best = (k, matrix.get(k, k).size_of_parts());
            for i in k + 1..a.rows {
                let size = matrix.get(i, k).size_of_parts();
                if size > best.1 {
                    best = (i, size);
                }
            }
            pivots.set(entry, k, (first + best.0 + 1) as i32);
            if best.0 != k {
                for j in 0..a.columns {
                    let upper = matrix.get(k, j);
                    matrix.set(k, j, matrix.get(best.0, j));
                    matrix.set(best.0, j, upper);
                }
            }
            let pivot = matrix.get(k, k);
            if pivot == T::ZERO {
                info.note(entry, first + k + 1);
                continue;
            }
            // LAPACK multiplies by the reciprocal. Quotients are rounded otherwise, which decides between pivots of
            // the same size.
            let is_small = pivot.size_of_parts() < T::LEAST_DIVISOR;
            let reciprocal = T::ONE / pivot;
            for i in k + 1..a.rows {
                let value = matrix.get(i, k);
                matrix.set(i, k, if is_small { value / pivot } else { value * reciprocal });
            }
            for j in k + 1..a.columns {
                let factor = matrix.get(k, j);
                for i in k + 1..a.rows {
                    matrix.set(i, j, matrix.get(i, j) - matrix.get(i, k) * factor);
                }
            }
        }
    }
}

/// See `panels::swap_rows`.
pub fn swap_rows<T: Field>(
    a: &Matrices,
    pivots: IntegerBatch,
    count: i64,
    first: i64,
    backwards: bool,
) {
    for entry in 0..a.count {
        let matrix = Matrix::<T>::of(a, entry);
        for k in 0..count {
            let at = if backwards { count - 1 - k } else { k };
            let other = i64::from(pivots.get(entry, at)) - 1 - first;
            if other == at {
                continue;
            }
            for j in 0..a.columns {
                let value = matrix.get(at, j);
                matrix.set(at, j, matrix.get(other, j));
                matrix.set(other, j, value);
            }
        }
    }
}

/// The length of a column below a row. Squares of parts of the largest element do not overflow.
fn length_below<T: Field>(matrix: Matrix<T>, rows: i64, k: i64) -> f64 {
    let values = || (k + 1..rows).map(|i| matrix.get(i, k));
    let scale = values().map(T::size_of_parts).fold(0.0, f64::max);
    if scale == 0.0 {
        return values().map(T::size_of_parts).sum();
    }
    let square = |value: T| (value.real() / scale).powi(2) + (value.imaginary() / scale).powi(2);
    scale * values().map(square).sum::<f64>().sqrt()
}

/// See `panels::reflect`.
pub fn reflect<T: Field>(a: &Matrices, tau: &Matrices) {
    for entry in 0..a.count {
        let (matrix, factors) = (Matrix::<T>::of(a, entry), Matrix::<T>::of(tau, entry));
        for k in 0..a.rows.min(a.columns) {
            let length = length_below(matrix, a.rows, k);
            let alpha = matrix.get(k, k);
            let (real, imaginary) = (alpha.real(), alpha.imaginary());
            if length == 0.0 && imaginary == 0.0 {
                factors.set(k, 0, T::ZERO);
                continue;
            }
            let size = real.hypot(imaginary).hypot(length);
            let beta = if real >= 0.0 { -size } else { size };
            let factor = T::of((beta - real) / beta, -imaginary / beta);
            let divisor = T::of(real - beta, imaginary);
            matrix.set(k, k, T::of(beta, 0.0));
            factors.set(k, 0, factor);
            for i in k + 1..a.rows {
                matrix.set(i, k, matrix.get(i, k) / divisor);
            }
            for j in k + 1..a.columns {
                let mut sum = matrix.get(k, j);
                for i in k + 1..a.rows {
                    sum = sum + matrix.get(i, k).conjugate() * matrix.get(i, j);
                }
                sum = factor.conjugate() * sum;
                matrix.set(k, j, matrix.get(k, j) - sum);
                for i in k + 1..a.rows {
                    matrix.set(i, j, matrix.get(i, j) - matrix.get(i, k) * sum);
                }
            }
        }
    }
}

/// See `panels::join`.
pub fn join<T: Field>(t: &Matrices, gram: &Matrices, tau: &Matrices) {
    for entry in 0..t.count {
        let (to, products) = (Matrix::<T>::of(t, entry), Matrix::<T>::of(gram, entry));
        let factors = Matrix::<T>::of(tau, entry);
        for j in 0..t.rows {
            for i in 0..t.rows {
                let own = factors.get(j, 0);
                let value = match i.cmp(&j) {
                    std::cmp::Ordering::Greater => T::ZERO,
                    std::cmp::Ordering::Equal => own,
                    std::cmp::Ordering::Less => {
                        let terms = (i..j).map(|l| to.get(i, l) * products.get(l, j));
                        -own * terms.fold(T::ZERO, |sum, term| sum + term)
                    }
                };
                to.set(i, j, value);
            }
        }
    }
}

/// See `panels::permutation`.
pub fn permutation<T: Field>(to: &Matrices, pivots: IntegerBatch, count: i64) {
    for entry in 0..to.count {
        let matrix = Matrix::<T>::of(to, entry);
        let mut order: Vec<i64> = (0..to.rows).collect();
        for k in 0..count {
            let other = i64::from(pivots.get(entry, k)) - 1;
            // Pivots that are no rows exchange nothing.
            if (0..to.rows).contains(&other) {
                order.swap(k as usize, other as usize);
            }
        }
        for (i, &row) in order.iter().enumerate() {
            matrix.set(row, i as i64, T::ONE);
        }
    }
}
