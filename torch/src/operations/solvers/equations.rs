//! Equations with square matrices, by their LU factors.

use super::checks;
use super::lu::{Factors, inverse, lu_factor, solve_in_place};
use super::matrices::{Matrices, copied_by_columns};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::layout::broadcast;
use crate::operations::tensors::{check_device, name_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// The solution of equations, and the factors of the matrices.
pub struct Solution {
    /// The solution.
    pub result: Tensor,
    /// The factors.
    pub factors: Factors,
}

/// Whether the right side has a vector for each matrix: `linalg.solve` reads it so.
fn has_vectors(a: &[i64], b: &[i64]) -> bool {
    b.len() == 1 || (a.len() == b.len() + 1 && a[..a.len() - 1] == *b)
}

/// `_linalg_solve_ex(a, b, left, check_errors)`
pub fn solve(
    a: TensorHandle,
    b: TensorHandle,
    is_left: bool,
    checks_errors: bool,
) -> Result<Solution> {
    let name = "linalg.solve";
    let (left, right) = (sizes_of(a)?, sizes_of(b)?);
    let is_vector = has_vectors(&left, &right);
    if is_vector && !is_left {
        return Err(Error::invalid_argument(
            "linalg.solve: Vector broadcasting of the left hand side is not supported unless left is true. In this case \
             linalg.solve is equivalent to B / A.squeeze(-1)",
        ));
    }
    let columns = match is_vector {
        true => operations::unsqueeze(b, -1)?,
        false => Tensor::retained(b)?,
    };
    let batch = checks::sides("linalg.solve", a, columns.handle(), is_left)?;
    let factors = lu_factor("linalg.solve", a)?;
    let result = solved(&factors.lu, &factors.pivots, &columns, &batch, [is_left, false])?;
    if checks_errors {
        checks::factored(name, &factors.info)?;
    }
    if is_vector {
        // Vectors of a batch lie as the columns of one matrix do in PyTorch.
        let vectors = operations::squeeze(result.handle(), -1)?;
        let result = match batch.len() {
            0 => vectors,
            count => copied_by_columns(vectors.handle(), &batch[..count - 1])?,
        };
        return Ok(Solution { result, factors });
    }
    Ok(Solution { result, factors })
}

/// The solution of equations whose sides are repeated to a batch.
fn solved(
    lu: &Tensor,
    pivots: &Tensor,
    b: &Tensor,
    batch: &[i64],
    [is_left, is_adjoint]: [bool; 2],
) -> Result<Tensor> {
    let order = sizes_of(pivots.handle())?.last().copied().unwrap_or(0);
    let factors = copied_by_columns(lu.handle(), batch)?;
    let pivots = operations::expand(pivots.handle(), &[batch, &[order]].concat())?;
    let pivots = operations::contiguous(pivots.handle())?;
    // From the right, rows lie one after another: columns of the transposed sides.
    let result = match is_left {
        true => copied_by_columns(b.handle(), batch)?,
        false => {
            let turned = operations::transpose(b.handle(), -2, -1)?;
            let turned = copied_by_columns(turned.handle(), batch)?;
            operations::transpose(turned.handle(), -2, -1)?
        }
    };
    solve_in_place(&factors, &pivots, Matrices::of(&result)?, is_left, is_adjoint)?;
    Ok(result)
}

/// `linalg_lu_solve(lu, pivots, b, left, adjoint)`
pub fn lu_solve(
    lu: TensorHandle,
    pivots: TensorHandle,
    b: TensorHandle,
    is_left: bool,
    is_adjoint: bool,
) -> Result<Tensor> {
    let name = "linalg.lu_solve";
    if dtype_of_tensor(pivots)? != api::SCONCE_DTYPE_I32 {
        return Err(Error::invalid_argument(format!(
            "{name}: pivots should be a tensor of int32, but are of {}",
            name_of(dtype_of_tensor(pivots)?)
        )));
    }
    let batch = checks::sides(name, lu, b, is_left)?;
    check_device("pivots", device_of_tensor(pivots)?, device_of_tensor(lu)?)?;
    let (factors, found) = (sizes_of(lu)?, sizes_of(pivots)?);
    let order = factors[factors.len() - 1];
    let fits = found.last() == Some(&order)
        && broadcast(&[&found[..found.len() - 1], &batch]).is_ok_and(|common| common == batch);
    if !fits {
        return Err(Error::invalid_argument(format!(
            "{name}: Number of pivots per batch should be same as the dimension of the matrix, but pivots have sizes \
             {found:?} and LU {factors:?}"
        )));
    }
    let whole = operations::contiguous(pivots)?;
    if device_of_tensor(lu)? == api::SCONCE_DEVICE_CPU {
        checks::pivots(&whole, order)?;
    }
    let [factors, b] = [Tensor::retained(lu)?, Tensor::retained(b)?];
    solved(&factors, &whole, &b, &batch, [is_left, is_adjoint])
}

/// `linalg_inv_ex(a, check_errors)`: the inverse, and for each matrix the number of the first pivot that is 0.
pub fn invert(name: &str, a: TensorHandle, checks_errors: bool) -> Result<[Tensor; 2]> {
    checks::squares(name, "A", a)?;
    let factors = lu_factor(name, a)?;
    if checks_errors {
        checks::factored(name, &factors.info)?;
    }
    let inverse = inverse(&factors)?;
    Ok([inverse, factors.info])
}
