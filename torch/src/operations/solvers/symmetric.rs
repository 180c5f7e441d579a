//! Factors of symmetric or Hermitian matrices (`l d l'`, Bunch and Kaufman), and equations with them.
//!
//! As LAPACK's lower form: `d` has blocks of one or two rows. The pivot of a block of one is the row that was exchanged
//! with it, from 1. Both pivots of a block of two are the negative of the row that was exchanged with the second one.

#![allow(unsafe_code, reason = "launches kernels")]

use super::checks;
use super::cpu::symmetric as on_cpu;
use super::matrices::{Matrices, View, check_field, copied_by_columns, zeros_of_i32};
use super::parameters::{BELOW, DIAGONAL, IntegerBatch};
use super::steps::{Step, THREADS, at, blocks_for, part, unless_on_a_device};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result, ensure};
use crate::kernels::images;
use crate::operations::tensors::{check_device, name_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

// SAFETY: `KERNELS` of `torch/kernels/solvers_symmetric.cu` gives `symmetric_factor` these parameters.
pub(super) static SYMMETRIC_FACTOR: Step<(View, i64, *mut i32, i64, *mut i32, u32)> =
    unsafe { Step::new(&images::SOLVERS_SYMMETRIC, "symmetric_factor") };
// SAFETY: `KERNELS` of `torch/kernels/solvers_symmetric.cu` gives `symmetric_solve` these parameters.
pub(super) static SYMMETRIC_SOLVE: Step<(View, i64, *mut i32, i64, View, i64, u32)> =
    unsafe { Step::new(&images::SOLVERS_SYMMETRIC, "symmetric_solve") };

/// Factors matrices, of which the lower triangle is read, in place. `info` gets the number, from 1, of the first block
/// that is 0.
fn factor(a: Matrices, pivots: IntegerBatch, info: IntegerBatch, is_hermitian: bool) -> Result<()> {
    ensure!(a.rows == a.columns && !a.is_conjugate);
    ensure!(pivots.has(a.count, a.rows) && info.has_one_for_each(a.count));
    unless_on_a_device!(a, T => on_cpu::factor::<T>(&a, pivots, info, is_hermitian));
    let parameters = |entry| {
        (
            at(&a, entry),
            a.rows,
            pivots.entries(entry).data,
            pivots.step,
            info.entries(entry).data,
            u32::from(is_hermitian),
        )
    };
    // SAFETY: the matrices have so many rows and columns; `pivots` has a number for each row and `info` one for each
    // matrix; the tensors live.
    unsafe { SYMMETRIC_FACTOR.launch(&a, [0, 0], |_| 16 * THREADS, parameters) }
}

/// Solves `a y = x` with the factors of `a`, and writes `y` where `x` was.
fn solve(a: Matrices, pivots: IntegerBatch, x: Matrices, is_hermitian: bool) -> Result<()> {
    ensure!(a.rows == a.columns && a.rows == x.rows && a.is_like(&x) && !x.is_conjugate);
    ensure!(pivots.has(a.count, a.rows));
    unless_on_a_device!(x, T => on_cpu::solve::<T>(&a, pivots, &x, is_hermitian));
    let parameters = |entry| {
        (
            at(&a, entry),
            a.rows,
            pivots.entries(entry).data,
            pivots.step,
            at(&x, entry),
            x.columns,
            u32::from(is_hermitian),
        )
    };
    // SAFETY: `a` has as many rows and columns as `x` has rows; `pivots` has a number for each; `a` and `x` have one
    // type and device, and the tensors live.
    unsafe { SYMMETRIC_SOLVE.launch(&x, [blocks_for(x.columns), 1], |_| 0, parameters) }
}

/// `linalg_ldl_factor_ex(a, hermitian)`: the factors, the pivots, and for each matrix the number of the first block that
/// is 0, or 0.
pub fn ldl_factor(a: TensorHandle, is_hermitian: bool) -> Result<[Tensor; 3]> {
    let batch = checks::squares("linalg.ldl_factor_ex", "A", a)?;
    check_field(dtype_of_tensor(a)?)?;
    let (device, sizes) = (device_of_tensor(a)?, sizes_of(a)?);
    let factors = copied_by_columns(a, &batch)?;
    let pivots = zeros_of_i32(&sizes[..sizes.len() - 1], device)?;
    let info = zeros_of_i32(&batch, device)?;
    let whole = Matrices::of(&factors)?;
    part(whole, whole, BELOW | DIAGONAL)?;
    factor(
        whole,
        IntegerBatch::of(&pivots, whole.rows)?,
        IntegerBatch::of(&info, 1)?,
        is_hermitian,
    )?;
    Ok([factors, pivots, info])
}

/// `linalg_ldl_solve(ld, pivots, b, hermitian)`
pub fn ldl_solve(
    factors: TensorHandle,
    pivots: TensorHandle,
    b: TensorHandle,
    is_hermitian: bool,
) -> Result<Tensor> {
    let name = "linalg.ldl_solve";
    let batch = checks::equations("linalg.ldl_solve", b, factors)?;
    let (sizes, found) = (sizes_of(factors)?, sizes_of(pivots)?);
    check_device("pivots", device_of_tensor(pivots)?, device_of_tensor(factors)?)?;
    let dtype = dtype_of_tensor(pivots)?;
    if ![api::SCONCE_DTYPE_I32, api::SCONCE_DTYPE_I64].contains(&dtype) {
        return Err(Error::invalid_argument(format!(
            "{name}: Expected pivots to be integers (int32 or int64). Got {}",
            name_of(dtype)
        )));
    }
    let wanted = &sizes[..sizes.len() - 1];
    if found != wanted {
        return Err(Error::invalid_argument(format!(
            "{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {found:?} \
             instead of {wanted:?}"
        )));
    }
    let order = sizes[sizes.len() - 1];
    let pivots = operations::to_dtype(pivots, api::SCONCE_DTYPE_I32)?;
    // The host knows values of devices only after it has waited for them; the kernel reads no row that is not there.
    if device_of_tensor(factors)? == api::SCONCE_DEVICE_CPU {
        check_pivots(name, &pivots, order)?;
    }
    let pivots = operations::expand(pivots.handle(), &[&batch[..], &[order]].concat())?;
    let pivots = operations::contiguous(pivots.handle())?;
    let (factors, solution) = (copied_by_columns(factors, &batch)?, copied_by_columns(b, &batch)?);
    let x = Matrices::of(&solution)?;
    solve(Matrices::of(&factors)?, IntegerBatch::of(&pivots, order)?, x, is_hermitian)?;
    Ok(solution)
}

/// Refuses pivots on the CPU that are no rows.
fn check_pivots(name: &str, pivots: &Tensor, order: i64) -> Result<()> {
    let all = operations::whole_numbers(pivots.handle())?;
    let is_row = |pivot: &i32| (1..=order).contains(&i64::from(pivot.unsigned_abs()));
    match all.iter().find(|pivot| !is_row(pivot)) {
        None => Ok(()),
        Some(pivot) => Err(Error::invalid_argument(format!(
            "{name}: pivots must be rows from 1 to {order}, or the negative of one, but one is {pivot}; pass those of \
             linalg.ldl_factor"
        ))),
    }
}
