//! The steps on the CPU: plain loops, whose innermost goes along memory.

#![allow(unsafe_code, reason = "reads and writes elements")]

use super::field::Field;
use super::matrices::Matrices;
use super::steps::{ABOVE, BELOW, DIAGONAL, Mode, ONES};

/// A matrix of the CPU.
#[derive(Clone, Copy)]
pub struct Matrix<T> {
    data: *mut T,
    row: isize,
    column: isize,
}

impl<T: Field> Matrix<T> {
    /// One of a batch.
    pub fn of(matrices: &Matrices, entry: i64) -> Matrix<T> {
        let view = matrices.view;
        let data = view.data.cast::<T>().wrapping_offset((entry * view.batch) as isize);
        Matrix { data, row: view.row as isize, column: view.column as isize }
    }

    fn place(self, i: i64, j: i64) -> *mut T {
        self.data.wrapping_offset(i as isize * self.row + j as isize * self.column)
    }

    /// An element.
    ///
    /// # Safety
    /// The matrix has the element, and lives.
    pub unsafe fn get(self, i: i64, j: i64) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.place(i, j).read() }
    }

    /// Writes an element.
    ///
    /// # Safety
    /// As [`Matrix::get`]; nobody else uses the element.
    pub unsafe fn set(self, i: i64, j: i64, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.place(i, j).write(value) };
    }

    fn transposed(self) -> Matrix<T> {
        Matrix { row: self.column, column: self.row, ..self }
    }
}

/// `c -= a b` or `c = a b`.
pub fn update<T: Field>(c: &Matrices, a: &Matrices, b: &Matrices, mode: Mode) {
    let factor = if mode == Mode::Set { T::ONE } else { -T::ONE };
    for entry in 0..c.count {
        let (to, first, second) =
            (Matrix::<T>::of(c, entry), Matrix::<T>::of(a, entry), Matrix::<T>::of(b, entry));
        let conjugate = (a.is_conjugate, b.is_conjugate);
        if mode == Mode::Set {
            for j in 0..c.columns {
                for i in 0..c.rows {
                    // SAFETY: the matrix has the element.
                    unsafe { to.set(i, j, T::ZERO) };
                }
            }
        }
        let sizes = [c.rows, c.columns, a.columns];
        // The product of the exchanged matrices is the exchanged product.
        if c.view.row.abs() <= c.view.column.abs() {
            let is_lower = mode == Mode::SubtractLower;
            add::<T>([to, first, second], sizes, conjugate, factor, is_lower);
        } else {
            let exchanged = [to.transposed(), second.transposed(), first.transposed()];
            let sizes = [sizes[1], sizes[0], sizes[2]];
            add::<T>(exchanged, sizes, (conjugate.1, conjugate.0), factor, false);
        }
    }
}

/// `c += factor a b`, where the rows of `c` lie along memory.
fn add<T: Field>(
    [c, a, b]: [Matrix<T>; 3],
    [rows, columns, inner]: [i64; 3],
    (first_conjugate, second_conjugate): (bool, bool),
    factor: T,
    is_lower: bool,
) {
    let own = |value: T| if first_conjugate { value.conjugate() } else { value };
    let other = |value: T| if second_conjugate { value.conjugate() } else { value };
    for j in 0..columns {
        let begin = if is_lower { j.min(rows) } else { 0 };
        if a.row.abs() <= a.column.abs() {
            for k in 0..inner {
                // SAFETY: the matrices have these elements; `c` shares none with the factors.
                unsafe {
                    let scale = factor * other(b.get(k, j));
                    if a.row == 1 && c.row == 1 {
                        // Written out, as the compiler then uses vectors.
                        let (mut to, mut from) = (c.place(begin, j), a.place(begin, k));
                        for _ in begin..rows {
                            *to = *to + own(*from) * scale;
                            (to, from) = (to.wrapping_add(1), from.wrapping_add(1));
                        }
                    } else {
                        for i in begin..rows {
                            c.set(i, j, c.get(i, j) + own(a.get(i, k)) * scale);
                        }
                    }
                }
            }
        } else {
            for i in begin..rows {
                // Four sums, which do not wait for each other.
                let mut sums = [T::ZERO; 4];
                // SAFETY: as above.
                unsafe {
                    for k in 0..inner {
                        let sum = &mut sums[(k % 4) as usize];
                        *sum = *sum + own(a.get(i, k)) * other(b.get(k, j));
                    }
                    let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
                    c.set(i, j, c.get(i, j) + factor * sum);
                }
            }
        }
    }
}

/// Solves `l y = x` for lower triangles, in place of `x`.
pub fn substitute<T: Field>(l: &Matrices, x: &Matrices, is_unit: bool) {
    for entry in 0..x.count {
        let (triangle, to) = (Matrix::<T>::of(l, entry), Matrix::<T>::of(x, entry));
        let factor = |i: i64, j: i64| {
            // SAFETY: the triangle has the element.
            let value = unsafe { triangle.get(i, j) };
            if l.is_conjugate { value.conjugate() } else { value }
        };
        for j in 0..x.columns {
            for i in 0..x.rows {
                // SAFETY: the matrix has these elements, and shares none with the triangle.
                unsafe {
                    let mut value = to.get(i, j);
                    if !is_unit {
                        value = value / factor(i, i);
                    }
                    to.set(i, j, value);
                    for below in i + 1..x.rows {
                        to.set(below, j, to.get(below, j) - factor(below, i) * value);
                    }
                }
            }
        }
    }
}

/// Copies parts of matrices; what is left out becomes 0.
pub fn part<T: Field>(to: &Matrices, from: &Matrices, parts: u32) {
    for entry in 0..to.count {
        let (target, source) = (Matrix::<T>::of(to, entry), Matrix::<T>::of(from, entry));
        for j in 0..to.columns {
            for i in 0..to.rows {
                let own = match i.cmp(&j) {
                    std::cmp::Ordering::Greater => BELOW,
                    std::cmp::Ordering::Less => ABOVE,
                    std::cmp::Ordering::Equal => DIAGONAL,
                };
                let value = if parts & own != 0 {
                    // SAFETY: the source has the parts that are copied.
                    unsafe { source.get(i, j) }
                } else if i == j && parts & ONES != 0 {
                    T::ONE
                } else {
                    T::ZERO
                };
                // SAFETY: the matrix has the element.
                unsafe { target.set(i, j, value) };
            }
        }
    }
}

/// The first place on the diagonal of a matrix that is 0.
pub fn first_zero_of_diagonal<T: Field>(matrix: &Matrices) -> Option<i64> {
    let of = Matrix::<T>::of(matrix, 0);
    // SAFETY: the matrix has these elements.
    (0..matrix.rows.min(matrix.columns)).find(|&at| unsafe { of.get(at, at) } == T::ZERO)
}
