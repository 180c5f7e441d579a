//! The steps on the CPU: plain loops, whose innermost goes along memory. Those that factor some columns are in `panels`, those
//! of symmetric matrices in `symmetric`.

#![allow(unsafe_code, reason = "reads and writes elements")]

pub mod panels;
pub mod symmetric;

use crate::operations::solvers::field::Field;
use crate::operations::solvers::matrices::Matrices;
use crate::operations::solvers::parameters::{ABOVE, BELOW, DIAGONAL, ONES, UpdateMode};

/// A matrix of the CPU. The tensor has to live as long as this is used, and nobody else writes to it.
#[derive(Clone, Copy)]
pub struct Matrix<T> {
    data: *mut T,
    sizes: [i64; 2],
    strides: [isize; 2],
}

impl<T: Field> Matrix<T> {
    /// One of a batch.
    pub fn of(matrices: &Matrices, entry: i64) -> Matrix<T> {
        let view = matrices.view;
        let data = view.data.cast::<T>().wrapping_offset((entry * view.batch) as isize);
        let strides = [view.row as isize, view.column as isize];
        Matrix { data, sizes: [matrices.rows, matrices.columns], strides }
    }

    fn place(self, i: i64, j: i64) -> *mut T {
        assert!((0..self.sizes[0]).contains(&i) && (0..self.sizes[1]).contains(&j));
        self.data.wrapping_offset(i as isize * self.strides[0] + j as isize * self.strides[1])
    }

    /// An element.
    pub fn get(self, i: i64, j: i64) -> T {
        // SAFETY: the matrix has the element, and the tensor lives.
        unsafe { self.place(i, j).read() }
    }

    /// Writes an element.
    pub fn set(self, i: i64, j: i64, value: T) {
        // SAFETY: the matrix has the element, the tensor lives, and nobody else uses the element.
        unsafe { self.place(i, j).write(value) };
    }

    fn transposed(self) -> Matrix<T> {
        let ([rows, columns], [row, column]) = (self.sizes, self.strides);
        Matrix { sizes: [columns, rows], strides: [column, row], ..self }
    }

    /// A column from a row on, if its elements lie one after another.
    fn column(self, begin: i64, j: i64) -> Option<(*mut T, usize)> {
        let is_dense = self.strides[0] == 1 && begin < self.sizes[0];
        is_dense.then(|| (self.place(begin, j), (self.sizes[0] - begin) as usize))
    }

    fn lies_by_columns(self) -> bool {
        self.strides[0].abs() <= self.strides[1].abs()
    }
}

/// `c -= a b` or `c = a b`.
pub fn update<T: Field>(c: &Matrices, a: &Matrices, b: &Matrices, mode: UpdateMode) {
    let factor = if mode == UpdateMode::Set { T::ONE } else { -T::ONE };
    for entry in 0..c.count {
        let (to, first, second) =
            (Matrix::<T>::of(c, entry), Matrix::<T>::of(a, entry), Matrix::<T>::of(b, entry));
        let conjugate = (a.is_conjugate, b.is_conjugate);
        if mode == UpdateMode::Set {
            for j in 0..c.columns {
                for i in 0..c.rows {
                    to.set(i, j, T::ZERO);
                }
            }
        }
        let sizes = [c.rows, c.columns, a.columns];
        // The product of the exchanged matrices is the exchanged product.
        if c.view.row.abs() <= c.view.column.abs() {
            let is_lower = mode == UpdateMode::SubtractLower;
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
        if a.lies_by_columns() {
            for k in 0..inner {
                let scale = factor * other(b.get(k, j));
                if let (Some(to), Some(from)) = (c.column(begin, j), a.column(begin, k)) {
                    add_column(to, from, |value| own(value) * scale);
                } else {
                    for i in begin..rows {
                        c.set(i, j, c.get(i, j) + own(a.get(i, k)) * scale);
                    }
                }
            }
        } else {
            for i in begin..rows {
                // Four sums, which do not wait for each other.
                let mut sums = [T::ZERO; 4];
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

/// Adds a column to another one, each element changed on the way. The loop is over slices, so that the compiler uses
/// vectors.
fn add_column<T: Field>(
    (to, count): (*mut T, usize),
    (from, length): (*mut T, usize),
    changed: impl Fn(T) -> T,
) {
    // SAFETY: the column has that many elements, which no factor shares.
    let to = unsafe { std::slice::from_raw_parts_mut(to, count) };
    // SAFETY: the column has that many elements, which nobody writes.
    let from = unsafe { std::slice::from_raw_parts(from, length) };
    for (to, from) in to.iter_mut().zip(from) {
        *to = *to + changed(*from);
    }
}

/// Solves `l y = x` for lower triangles, in place of `x`.
pub fn substitute<T: Field>(l: &Matrices, x: &Matrices, is_unit: bool) {
    for entry in 0..x.count {
        let (triangle, to) = (Matrix::<T>::of(l, entry), Matrix::<T>::of(x, entry));
        let factor = |i: i64, j: i64| {
            let value = triangle.get(i, j);
            if l.is_conjugate { value.conjugate() } else { value }
        };
        for j in 0..x.columns {
            for i in 0..x.rows {
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
                    source.get(i, j)
                } else if i == j && parts & ONES != 0 {
                    T::ONE
                } else {
                    T::ZERO
                };
                target.set(i, j, value);
            }
        }
    }
}

/// The first place on the diagonal of a matrix that is 0.
pub fn first_zero_of_diagonal<T: Field>(matrix: &Matrices) -> Option<i64> {
    let of = Matrix::<T>::of(matrix, 0);
    (0..matrix.rows.min(matrix.columns)).find(|&at| of.get(at, at) == T::ZERO)
}
