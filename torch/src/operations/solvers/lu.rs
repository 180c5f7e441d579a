//! LU factors with pivots, what is in them, and equations with them.

use super::checks;
use super::matrices::{Matrices, by_columns, check_field, copied_by_columns, zeros_of_i32};
use super::panels::{self, IntegerBatch, permutation, swap_rows};
use super::steps::{
    ABOVE, BELOW, DIAGONAL, ONES, PANEL, UpdateMode, identity, part, substitute, update,
};
use super::triangles::Triangle;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::Result;
use crate::operations::tensors::{empty, filled};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// LU factors of a batch.
pub struct Factors {
    /// The lower triangle, whose diagonal is 1, and the upper one.
    pub lu: Tensor,
    /// The row that each row was exchanged with, from 1.
    pub pivots: Tensor,
    /// For each matrix the number of the first pivot that is 0, or 0.
    pub info: Tensor,
}

/// Factors matrices in place.
fn factor(a: Matrices, pivots: IntegerBatch, info: IntegerBatch) -> Result<()> {
    let least = a.rows.min(a.columns);
    let mut begin = 0;
    while begin < least {
        let end = (begin + PANEL).min(least);
        let own = pivots.from(begin);
        panels::lu(a.part(begin..a.rows, begin..end), own, info, begin)?;
        swap_rows(a.part(begin..a.rows, 0..begin), own, end - begin, begin, false)?;
        let right = a.part(begin..a.rows, end..a.columns);
        swap_rows(right, own, end - begin, begin, false)?;
        let upper = right.rows_of(0..end - begin);
        substitute(a.part(begin..end, begin..end), upper, true)?;
        let below = a.part(end..a.rows, begin..end);
        update(right.rows_of(end - begin..right.rows), below, upper, UpdateMode::Subtract)?;
        begin = end;
    }
    Ok(())
}

/// `linalg_lu_factor_ex(a)`
pub fn lu_factor(name: &str, a: TensorHandle) -> Result<Factors> {
    let sizes = checks::matrices(name, "A", a)?;
    let device = device_of_tensor(a)?;
    check_field(dtype_of_tensor(a)?)?;
    let (batch, [rows, columns]) = checks::split(&sizes);
    let least = rows.min(columns);
    let lu = copied_by_columns(a, batch)?;
    let pivots = zeros_of_i32(&[batch, &[least]].concat(), device)?;
    let info = zeros_of_i32(batch, device)?;
    factor(Matrices::of(&lu)?, IntegerBatch::of(&pivots, least)?, IntegerBatch::of(&info, 1)?)?;
    Ok(Factors { lu, pivots, info })
}

/// `linalg_lu_solve(lu, pivots, b, left, adjoint)`, with operands of one batch whose matrices are in order.
pub fn solve_in_place(
    lu: &Tensor,
    pivots: &Tensor,
    x: Matrices,
    is_left: bool,
    is_adjoint: bool,
) -> Result<()> {
    let of = Matrices::of(lu)?;
    let count = of.rows;
    let pivots = IntegerBatch::of(pivots, count)?;
    let lower = Triangle { of, is_upper: false, is_unit: true };
    let upper = Triangle { of, is_upper: true, is_unit: false };
    // x a = b is a' x' = b' for the transposed sides; the adjoint of that one has the conjugate factors.
    let (x, is_transposed) = if is_left { (x, is_adjoint) } else { (x.transposed(), !is_adjoint) };
    let conjugate = |triangle: Triangle| match is_adjoint {
        true => Triangle { of: triangle.of.conjugate(), ..triangle },
        false => triangle,
    };
    let (lower, upper) = (conjugate(lower), conjugate(upper));
    if is_transposed {
        upper.transposed().solve(x)?;
        lower.transposed().solve(x)?;
        swap_rows(x, pivots, count, 0, true)
    } else {
        swap_rows(x, pivots, count, 0, false)?;
        lower.solve(x)?;
        upper.solve(x)
    }
}

/// The inverse of matrices from their factors.
pub fn inverse(factors: &Factors) -> Result<Tensor> {
    let lu = &factors.lu;
    let result = by_columns(
        &sizes_of(lu.handle())?,
        dtype_of_tensor(lu.handle())?,
        device_of_tensor(lu.handle())?,
    )?;
    let x = Matrices::of(&result)?;
    identity(x)?;
    solve_in_place(lu, &factors.pivots, x, true, false)?;
    Ok(result)
}

/// `lu_unpack(lu, pivots, unpack_data, unpack_pivots)`: the matrix of the exchanges and both triangles. What is not
/// wanted is empty.
pub fn unpack(
    lu: TensorHandle,
    pivots: TensorHandle,
    unpacks_data: bool,
    unpacks_pivots: bool,
) -> Result<[Tensor; 3]> {
    let sizes = checks::packed(lu, pivots, unpacks_pivots)?;
    let (dtype, device) = (dtype_of_tensor(lu)?, device_of_tensor(lu)?);
    check_field(dtype)?;
    let (batch, [rows, columns]) = checks::split(&sizes);
    let least = rows.min(columns);
    let nothing = || empty(&[0], dtype, device);
    let exchanges = match unpacks_pivots {
        true => exchanges(pivots, batch, rows, least, (dtype, device))?,
        false => nothing()?,
    };
    if !unpacks_data {
        return Ok([exchanges, nothing()?, nothing()?]);
    }
    let packed = copied_by_columns(lu, batch)?;
    let packed = Matrices::of(&packed).map(|of| (of, packed))?;
    let lower = empty(&[batch, &[rows, least]].concat(), dtype, device)?;
    let upper = empty(&[batch, &[least, columns]].concat(), dtype, device)?;
    part(Matrices::of(&lower)?, packed.0.columns_of(0..least), BELOW | ONES)?;
    part(Matrices::of(&upper)?, packed.0.rows_of(0..least), ABOVE | DIAGONAL)?;
    Ok([exchanges, lower, upper])
}

/// The matrices that exchange rows as pivots say.
fn exchanges(
    pivots: TensorHandle,
    batch: &[i64],
    rows: i64,
    least: i64,
    (dtype, device): (i32, i32),
) -> Result<Tensor> {
    let whole = operations::expand(pivots, &[batch, &[least]].concat())?;
    let whole = operations::contiguous(whole.handle())?;
    if device == api::SCONCE_DEVICE_CPU {
        checks::pivots(&whole, rows)?;
    }
    let result = filled(&[batch, &[rows, rows]].concat(), dtype, device, 0.0)?;
    let work = zeros_of_i32(&[batch, &[rows]].concat(), device)?;
    let matrices = Matrices::of(&result)?;
    permutation(matrices, IntegerBatch::of(&whole, least)?, least, IntegerBatch::of(&work, rows)?)?;
    Ok(result)
}
