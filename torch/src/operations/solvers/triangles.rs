//! Equations with triangles, block by block: a block of rows is solved, and its products are subtracted from the rest.

use super::checks;
use super::matrices::{Matrices, copied_by_columns};
use super::steps::{PANEL, UpdateMode, substitute, update};
use crate::error::Result;
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

/// A triangle of a matrix: the rest of it is not read.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// The matrix.
    pub of: Matrices,
    /// Whether it is the upper triangle.
    pub is_upper: bool,
    /// Whether the diagonal counts as 1.
    pub is_unit: bool,
}

impl Triangle {
    /// The triangle with rows and columns exchanged.
    pub fn transposed(self) -> Triangle {
        Triangle { of: self.of.transposed(), is_upper: !self.is_upper, ..self }
    }

    /// The conjugate of that.
    pub fn adjoint(self) -> Triangle {
        Triangle { of: self.of.adjoint(), is_upper: !self.is_upper, ..self }
    }

    /// Solves `triangle y = x`, and writes `y` where `x` was.
    pub fn solve(self, x: Matrices) -> Result<()> {
        // An upper triangle whose last row comes first is a lower one.
        let (l, x) = match self.is_upper {
            true => (self.of.reversed(), x.rows_reversed()),
            false => (self.of, x),
        };
        let mut begin = 0;
        while begin < l.rows {
            let end = (begin + PANEL).min(l.rows);
            let solved = x.rows_of(begin..end);
            substitute(l.part(begin..end, begin..end), solved, self.is_unit)?;
            let rest = x.rows_of(end..l.rows);
            update(rest, l.part(end..l.rows, begin..end), solved, UpdateMode::Subtract)?;
            begin = end;
        }
        Ok(())
    }

    /// Solves `y triangle = x`, and writes `y` where `x` was.
    pub fn solve_from_the_right(self, x: Matrices) -> Result<()> {
        self.transposed().solve(x.transposed())
    }
}

/// The results of [`triangular_solve`].
pub struct Solved {
    /// The solution.
    pub solution: Tensor,
    /// A copy of the coefficients.
    pub coefficients: Tensor,
}

impl From<Solved> for (Tensor, Tensor) {
    fn from(solved: Solved) -> (Tensor, Tensor) {
        (solved.solution, solved.coefficients)
    }
}

/// `triangular_solve(b, a, upper, transpose, unitriangular)`
pub fn triangular_solve(
    b: TensorHandle,
    a: TensorHandle,
    [is_upper, is_transposed, is_unit]: [bool; 3],
) -> Result<Solved> {
    let batch = checks::equations("triangular_solve", b, a)?;
    let (solution, coefficients) = (copied_by_columns(b, &batch)?, copied_by_columns(a, &batch)?);
    let triangle = Triangle { of: Matrices::of(&coefficients)?, is_upper, is_unit };
    let triangle = if is_transposed { triangle.transposed() } else { triangle };
    triangle.solve(Matrices::of(&solution)?)?;
    Ok(Solved { solution, coefficients })
}

/// `linalg_solve_triangular(a, b, upper, left, unitriangular)`
pub fn solve_triangular(
    a: TensorHandle,
    b: TensorHandle,
    [is_upper, is_left, is_unit]: [bool; 3],
) -> Result<Tensor> {
    let batch = checks::sides("linalg.solve_triangular", a, b, is_left)?;
    let (solution, coefficients) = (copied_by_columns(b, &batch)?, copied_by_columns(a, &batch)?);
    let triangle = Triangle { of: Matrices::of(&coefficients)?, is_upper, is_unit };
    let x = Matrices::of(&solution)?;
    if is_left { triangle.solve(x) } else { triangle.solve_from_the_right(x) }?;
    Ok(solution)
}
