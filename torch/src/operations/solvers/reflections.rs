//! Factors of reflections (QR), and products with them. Reflections of a panel are joined to `1 - v t v'`, so that they
//! reflect other columns by products.

use super::checks;
use super::matrices::{Matrices, by_columns, check_field, copied_by_columns};
use super::panels::{join, reflect};
use super::steps::{ABOVE, BELOW, DIAGONAL, ONES, PANEL, UpdateMode, identity, part, update};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor};
use crate::error::{Error, Result};
use crate::operations::tensors::empty;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, operations};

/// The reflections of a panel, joined.
struct Joined {
    v: Matrices,
    t: Matrices,
    _memory: [Tensor; 3],
}

impl Joined {
    /// Those below the diagonal of a panel of columns.
    fn of(panel: Matrices, tau: Matrices) -> Result<Joined> {
        let size =
            |rows, columns| by_columns(&[panel.count, rows, columns], panel.dtype, panel.device);
        let memory = [
            size(panel.rows, panel.columns)?,
            size(panel.columns, panel.columns)?,
            size(panel.columns, panel.columns)?,
        ];
        let [v, gram, t] =
            [Matrices::of(&memory[0])?, Matrices::of(&memory[1])?, Matrices::of(&memory[2])?];
        part(v, panel, BELOW | ONES)?;
        update(gram, v.adjoint(), v, UpdateMode::Set)?;
        join(t, gram, tau)?;
        Ok(Joined { v, t, _memory: memory })
    }

    /// Replaces `c` by the product with these reflections, or with their adjoint, from the left or from the right.
    fn apply(&self, c: Matrices, is_adjoint: bool, is_left: bool) -> Result<()> {
        let (v, t) = (self.v, if is_adjoint { self.t.adjoint() } else { self.t });
        let [rows, columns] = match is_left {
            true => [v.columns, c.columns],
            false => [c.rows, v.columns],
        };
        let memory = [(); 2].map(|()| by_columns(&[c.count, rows, columns], c.dtype, c.device));
        let [first, second] = memory;
        let (first, second) = (first?, second?);
        let [w, x] = [Matrices::of(&first)?, Matrices::of(&second)?];
        if is_left {
            update(w, v.adjoint(), c, UpdateMode::Set)?;
            update(x, t, w, UpdateMode::Set)?;
            update(c, v, x, UpdateMode::Subtract)
        } else {
            update(w, c, v, UpdateMode::Set)?;
            update(x, w, t, UpdateMode::Set)?;
            update(c, x, v.adjoint(), UpdateMode::Subtract)
        }
    }
}

/// Factors matrices in place.
fn factor(a: Matrices, tau: Matrices) -> Result<()> {
    let mut begin = 0;
    while begin < tau.rows {
        let end = (begin + PANEL).min(tau.rows);
        let (panel, factors) = (a.part(begin..a.rows, begin..end), tau.rows_of(begin..end));
        reflect(panel, factors)?;
        if end < a.columns {
            let rest = a.part(begin..a.rows, end..a.columns);
            Joined::of(panel, factors)?.apply(rest, true, true)?;
        }
        begin = end;
    }
    Ok(())
}

/// Replaces `c` by its product with all reflections, or with their adjoint.
pub fn multiply(
    a: Matrices,
    tau: Matrices,
    c: Matrices,
    is_left: bool,
    is_adjoint: bool,
) -> Result<()> {
    let count = tau.rows;
    let mut begins: Vec<i64> = (0..count).step_by(PANEL as usize).collect();
    // The product is that of the first reflection with the second, and so on.
    if is_left != is_adjoint {
        begins.reverse();
    }
    for begin in begins {
        let end = (begin + PANEL).min(count);
        let joined = Joined::of(a.part(begin..a.rows, begin..end), tau.rows_of(begin..end))?;
        let touched = match is_left {
            true => c.rows_of(begin..c.rows),
            false => c.columns_of(begin..c.columns),
        };
        joined.apply(touched, is_adjoint, is_left)?;
    }
    Ok(())
}

/// `geqrf(a)`: the upper factor with the reflections below its diagonal, and the reflections' factors.
pub fn geqrf(a: TensorHandle) -> Result<[Tensor; 2]> {
    let sizes = checks::matrices("torch.geqrf", "input", a)?;
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    check_field(dtype)?;
    let (batch, [rows, columns]) = checks::split(&sizes);
    let result = copied_by_columns(a, batch)?;
    let tau = empty(&[batch, &[rows.min(columns)]].concat(), dtype, device)?;
    factor(Matrices::of(&result)?, Matrices::of_vectors(&tau)?)?;
    Ok([result, tau])
}

/// `ormqr(input, tau, other, left, transpose)`: the product of `other` with the reflections.
pub fn ormqr(
    input: TensorHandle,
    tau: TensorHandle,
    other: TensorHandle,
    is_left: bool,
    is_adjoint: bool,
) -> Result<Tensor> {
    let sizes = checks::reflections(input, tau, other, is_left)?;
    check_field(dtype_of_tensor(input)?)?;
    let (batch, _) = checks::split(&sizes);
    let (reflections, result) =
        (copied_by_columns(input, batch)?, copied_by_columns(other, batch)?);
    let factors = operations::contiguous(tau)?;
    multiply(
        Matrices::of(&reflections)?,
        Matrices::of_vectors(&factors)?,
        Matrices::of(&result)?,
        is_left,
        is_adjoint,
    )?;
    Ok(result)
}

/// `linalg_householder_product(input, tau)`: the first columns of the product of the reflections.
pub fn householder_product(input: TensorHandle, tau: TensorHandle) -> Result<Tensor> {
    let sizes = checks::product_of_reflections(input, tau)?;
    check_field(dtype_of_tensor(input)?)?;
    let (batch, [_, columns]) = checks::split(&sizes);
    let reflections = copied_by_columns(input, batch)?;
    let factors = operations::contiguous(tau)?;
    first_columns(Matrices::of(&reflections)?, Matrices::of_vectors(&factors)?, batch, columns)
}

/// The first columns of the product of reflections.
fn first_columns(a: Matrices, tau: Matrices, batch: &[i64], columns: i64) -> Result<Tensor> {
    let product = by_columns(&[batch, &[a.rows, columns]].concat(), a.dtype, a.device)?;
    let c = Matrices::of(&product)?;
    identity(c)?;
    multiply(a, tau, c, true, false)?;
    Ok(product)
}

/// `linalg_qr(a, mode)`: both factors; the first one is empty in the mode "r".
pub fn qr(a: TensorHandle, mode: &str) -> Result<[Tensor; 2]> {
    let is_complete = match mode {
        "reduced" | "r" => false,
        "complete" => true,
        other => {
            return Err(Error::invalid_argument(format!(
                "qr received unrecognized mode '{other}' but expected one of 'reduced' (default), 'r', or 'complete'"
            )));
        }
    };
    let sizes = checks::matrices("linalg.qr", "A", a)?;
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    check_field(dtype)?;
    let (batch, [rows, columns]) = checks::split(&sizes);
    let [factors, tau] = geqrf(a)?;
    let least = rows.min(columns);
    let height = if is_complete { rows } else { least };
    let upper = by_columns(&[batch, &[height, columns]].concat(), dtype, device)?;
    let whole = Matrices::of(&factors)?;
    part(Matrices::of(&upper)?, whole.rows_of(0..height), ABOVE | DIAGONAL)?;
    let first = match mode {
        "r" => empty(&[0], dtype, device)?,
        _ => {
            let reflections = whole.columns_of(0..least);
            first_columns(reflections, Matrices::of_vectors(&tau)?, batch, height)?
        }
    };
    Ok([first, upper])
}
