//! Factors of symmetric or Hermitian matrices, and equations with them, on the CPU.

use super::Matrix;
use crate::operations::solvers::field::Field;
use crate::operations::solvers::matrices::Matrices;
use crate::operations::solvers::parameters::GROWTH;
use crate::operations::solvers::parameters::IntegerBatch;

/// A matrix of which the lower triangle is read and written.
struct Lower<T> {
    of: Matrix<T>,
    size: i64,
    is_hermitian: bool,
}

/// The rows and columns that a step eliminates: one or two, of which the last one is exchanged with `row`.
struct SymmetricPivot {
    row: i64,
    count: i64,
}

impl<T: Field> Lower<T> {
    /// An element of the upper triangle, from that of the lower one.
    fn mirrored(&self, value: T) -> T {
        if self.is_hermitian { value.conjugate() } else { value }
    }

    fn size_of(&self, i: i64, j: i64) -> f64 {
        self.of.get(i, j).size_of_parts()
    }

    fn swap(&self, one: [i64; 2], other: [i64; 2]) {
        let value = self.of.get(one[0], one[1]);
        self.of.set(one[0], one[1], self.of.get(other[0], other[1]));
        self.of.set(other[0], other[1], value);
    }

    fn make_diagonal_real(&self, begin: i64) {
        for k in begin..if self.is_hermitian { self.size } else { begin } {
            self.of.set(k, k, T::of(self.of.get(k, k).real(), 0.0));
        }
    }

    /// The pivot of a column by the rule of Bunch and Kaufman, or nothing if the column is 0 or no number.
    fn choose(&self, k: i64) -> Option<SymmetricPivot> {
        let own = self.size_of(k, k);
        let (mut row, mut most) = (k, 0.0);
        for i in k + 1..self.size {
            if self.size_of(i, k) > most {
                (row, most) = (i, self.size_of(i, k));
            }
        }
        if own.max(most) == 0.0 || own.is_nan() {
            return None;
        }
        if own >= GROWTH * most {
            return Some(SymmetricPivot { row: k, count: 1 });
        }
        let across = (k..row).map(|j| self.size_of(row, j));
        let most_of_row =
            (row + 1..self.size).map(|i| self.size_of(i, row)).chain(across).fold(0.0, f64::max);
        if own >= GROWTH * most * (most / most_of_row) {
            return Some(SymmetricPivot { row: k, count: 1 });
        }
        let count = if self.size_of(row, row) >= GROWTH * most_of_row { 1 } else { 2 };
        Some(SymmetricPivot { row, count })
    }

    /// Exchanges rows and columns of what is left to be factored.
    fn exchange(&self, k: i64, chosen: &SymmetricPivot) {
        let (last, row) = (k + chosen.count - 1, chosen.row);
        if row == last {
            return;
        }
        for i in row + 1..self.size {
            self.swap([i, last], [i, row]);
        }
        for j in last + 1..row {
            let value = self.mirrored(self.of.get(j, last));
            self.of.set(j, last, self.mirrored(self.of.get(row, j)));
            self.of.set(row, j, value);
        }
        self.of.set(row, last, self.mirrored(self.of.get(row, last)));
        self.swap([last, last], [row, row]);
        if chosen.count == 2 {
            self.swap([k + 1, k], [row, k]);
        }
    }

    fn eliminate_one(&self, k: i64) {
        let reciprocal = T::ONE / self.of.get(k, k);
        for j in k + 1..self.size {
            let factor = reciprocal * self.mirrored(self.of.get(j, k));
            for i in j..self.size {
                self.of.set(i, j, self.of.get(i, j) - self.of.get(i, k) * factor);
            }
        }
        for i in k + 1..self.size {
            self.of.set(i, k, self.of.get(i, k) * reciprocal);
        }
    }

    fn eliminate_two(&self, k: i64) {
        let side = self.of.get(k + 1, k);
        // Of Hermitian matrices the block is divided by the length of the element beside the diagonal.
        let (scale, unit) = match self.is_hermitian {
            true => {
                let length = T::of(side.real().hypot(side.imaginary()), 0.0);
                (length, side / length)
            }
            false => (side, T::ONE),
        };
        let (below, above) = (self.of.get(k + 1, k + 1) / scale, self.of.get(k, k) / scale);
        let scale = T::ONE / (below * above - T::ONE) / scale;
        for j in k + 2..self.size {
            let (first, second) = (self.of.get(j, k), self.of.get(j, k + 1));
            let own = scale * (below * first - unit * second);
            let other = scale * (above * second - unit.conjugate() * first);
            for i in j..self.size {
                let product = self.of.get(i, k) * self.mirrored(own)
                    + self.of.get(i, k + 1) * self.mirrored(other);
                self.of.set(i, j, self.of.get(i, j) - product);
            }
            self.of.set(j, k, own);
            self.of.set(j, k + 1, other);
        }
    }
}

/// See `symmetric::factor`.
pub fn factor<T: Field>(
    a: &Matrices,
    pivots: IntegerBatch,
    info: IntegerBatch,
    is_hermitian: bool,
) {
    for entry in 0..a.count {
        let lower = Lower { of: Matrix::<T>::of(a, entry), size: a.rows, is_hermitian };
        lower.make_diagonal_real(0);
        let mut k = 0;
        while k < a.rows {
            let Some(chosen) = lower.choose(k) else {
                info.note(entry, k + 1);
                pivots.set(entry, k, (k + 1) as i32);
                k += 1;
                continue;
            };
            lower.exchange(k, &chosen);
            let number = (chosen.row + 1) as i32;
            if chosen.count == 1 {
                lower.eliminate_one(k);
                pivots.set(entry, k, number);
            } else {
                lower.eliminate_two(k);
                pivots.set(entry, k, -number);
                pivots.set(entry, k + 1, -number);
            }
            k += chosen.count;
            lower.make_diagonal_real(k);
        }
    }
}

/// The row that a pivot names, and whether it has a block of two rows. What names no row names its own.
fn named(pivot: i32, own: i64, rows: i64) -> i64 {
    let row = i64::from(pivot.unsigned_abs()) - 1;
    if (0..rows).contains(&row) { row } else { own }
}

/// See `symmetric::solve`.
pub fn solve<T: Field>(a: &Matrices, pivots: IntegerBatch, x: &Matrices, is_hermitian: bool) {
    for entry in 0..x.count {
        let lower = Lower { of: Matrix::<T>::of(a, entry), size: a.rows, is_hermitian };
        let to = Matrix::<T>::of(x, entry);
        for column in 0..x.columns {
            forwards(&lower, pivots, entry, to, column);
            backwards(&lower, pivots, entry, to, column);
        }
    }
}

fn swap_in_column<T: Field>(x: Matrix<T>, column: i64, one: i64, other: i64) {
    let value = x.get(one, column);
    x.set(one, column, x.get(other, column));
    x.set(other, column, value);
}

/// Solves `l d y = x` with rows exchanged.
fn forwards<T: Field>(a: &Lower<T>, pivots: IntegerBatch, entry: i64, x: Matrix<T>, column: i64) {
    let mut k = 0;
    while k < a.size {
        let pivot = pivots.get(entry, k);
        let count = if pivot < 0 && k + 1 < a.size { 2 } else { 1 };
        let last = k + count - 1;
        swap_in_column(x, column, last, named(pivot, last, a.size));
        for i in k + count..a.size {
            let mut value = x.get(i, column);
            for own in k..k + count {
                value = value - a.of.get(i, own) * x.get(own, column);
            }
            x.set(i, column, value);
        }
        if count == 1 {
            x.set(k, column, x.get(k, column) / a.of.get(k, k));
        } else {
            let low = a.of.get(k + 1, k);
            let up = a.mirrored(low);
            let (above, below) = (a.of.get(k, k) / up, a.of.get(k + 1, k + 1) / low);
            let (first, second) = (x.get(k, column) / up, x.get(k + 1, column) / low);
            let divisor = above * below - T::ONE;
            x.set(k, column, (below * first - second) / divisor);
            x.set(k + 1, column, (above * second - first) / divisor);
        }
        k += count;
    }
}

/// Solves `l' y = x`, and exchanges the rows back.
fn backwards<T: Field>(a: &Lower<T>, pivots: IntegerBatch, entry: i64, x: Matrix<T>, column: i64) {
    let mut last = a.size - 1;
    while last >= 0 {
        let pivot = pivots.get(entry, last);
        let count = if pivot < 0 && last > 0 { 2 } else { 1 };
        for own in last + 1 - count..=last {
            let mut value = x.get(own, column);
            for i in last + 1..a.size {
                value = value - a.mirrored(a.of.get(i, own)) * x.get(i, column);
            }
            x.set(own, column, value);
        }
        swap_in_column(x, column, last, named(pivot, last, a.size));
        last -= count;
    }
}
