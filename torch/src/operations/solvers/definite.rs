//! Cholesky's factors of positive definite matrices, equations with them, and inverses.

use super::checks;
use super::matrices::{Matrices, by_columns, copied_by_columns, zeros_of_i32};
use super::panels::{IntegerBatch, cholesky};
use super::steps::{BELOW, DIAGONAL, PANEL, UpdateMode, identity, part, substitute, update};
use super::triangles::Triangle;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Factors matrices, of which the lower triangle is read, in place.
fn factor(a: Matrices, info: IntegerBatch) -> Result<()> {
    let mut begin = 0;
    while begin < a.rows {
        let end = (begin + PANEL).min(a.rows);
        let corner = a.part(begin..end, begin..end);
        cholesky(corner, info, begin)?;
        // What is below the corner times the corner's adjoint is what was there: with both sides transposed, equations
        // with the corner's conjugate.
        let below = a.part(end..a.rows, begin..end);
        substitute(corner.conjugate(), below.transposed(), false)?;
        let rest = a.part(end..a.rows, end..a.rows);
        update(rest, below, below.adjoint(), UpdateMode::SubtractLower)?;
        begin = end;
    }
    Ok(())
}

/// `linalg_cholesky_ex(a, upper, check_errors)`: the factor, and for each matrix the number of the first leading part
/// that is not positive definite, or 0.
pub fn cholesky_ex(a: TensorHandle, is_upper: bool, checks_errors: bool) -> Result<[Tensor; 2]> {
    let batch = checks::squares("linalg.cholesky_ex", "A", a)?;
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    super::matrices::check_field(dtype)?;
    let (result, info) = (copied_by_columns(a, &batch)?, zeros_of_i32(&batch, device)?);
    let whole = Matrices::of(&result)?;
    // The transposed matrix of an upper factor has the lower one, transposed.
    let lower = if is_upper { whole.transposed() } else { whole };
    factor(lower, IntegerBatch::of(&info, 1)?)?;
    part(lower, lower, BELOW | DIAGONAL)?;
    if checks_errors {
        checks::factored("linalg.cholesky_ex", &info)?;
    }
    Ok([result, info])
}

/// Solves `a y = x` in place of `x`, with a factor of `a`.
fn solve(factor: Triangle, x: Matrices) -> Result<()> {
    let (first, second) = match factor.is_upper {
        true => (factor.adjoint(), factor),
        false => (factor, factor.adjoint()),
    };
    first.solve(x)?;
    second.solve(x)
}

/// `cholesky_solve(b, u, upper)`
pub fn cholesky_solve(b: TensorHandle, u: TensorHandle, is_upper: bool) -> Result<Tensor> {
    let batch = checks::equations("cholesky_solve", b, u)?;
    let (solution, coefficients) = (copied_by_columns(b, &batch)?, copied_by_columns(u, &batch)?);
    let of = Matrices::of(&coefficients)?;
    solve(Triangle { of, is_upper, is_unit: false }, Matrices::of(&solution)?)?;
    Ok(solution)
}

/// `cholesky_inverse(u, upper)`: the inverse of the matrix with this factor.
pub fn cholesky_inverse(u: TensorHandle, is_upper: bool) -> Result<Tensor> {
    let batch = checks::squares("cholesky_inverse", "A", u)?;
    let (dtype, device) = (dtype_of_tensor(u)?, device_of_tensor(u)?);
    super::matrices::check_field(dtype)?;
    let coefficients = copied_by_columns(u, &batch)?;
    // The host knows values of devices only after it has waited for them; there PyTorch does not look, either.
    if device == api::SCONCE_DEVICE_CPU {
        check_diagonal(&coefficients, batch.is_empty())?;
    }
    let inverse = by_columns(&sizes_of(u)?, dtype, device)?;
    let x = Matrices::of(&inverse)?;
    identity(x)?;
    solve(Triangle { of: Matrices::of(&coefficients)?, is_upper, is_unit: false }, x)?;
    Ok(inverse)
}

/// Refuses a factor with a 0 on the diagonal, with PyTorch's words.
fn check_diagonal(factors: &Tensor, is_single: bool) -> Result<()> {
    let matrices = Matrices::of(factors)?;
    for entry in 0..matrices.count {
        let zero = super::steps::first_zero_of_diagonal(matrices.entries(entry..entry + 1))?;
        if let Some(at) = zero {
            let which =
                if is_single { String::new() } else { format!("(Batch element {entry}): ") };
            return Err(Error::invalid_argument(format!(
                "cholesky_inverse: {which}The diagonal element {} is zero, the inversion could not be completed \
                 because the input matrix is singular.",
                at + 1
            )));
        }
    }
    Ok(())
}
