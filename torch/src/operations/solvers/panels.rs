//! Steps that factor some columns of a matrix: a block of threads has a matrix, on devices.

#![allow(unsafe_code, reason = "launches kernels")]

use std::ffi::c_void;

use super::cpu::panels as on_cpu;
use super::matrices::{Matrices, View};
use super::steps::{PANEL, Step, THREADS, at, blocks_for, suffix, unless_on_a_device};
use crate::error::{Result, ensure};
use crate::kernels::{Grid, images, launch};

pub use super::parameters::IntegerBatch;

// SAFETY: `KERNELS` of `torch/kernels/solvers.cu` gives `cholesky` these parameters.
pub(super) static CHOLESKY: Step<(View, u32, *mut i32, u32)> =
    unsafe { Step::new(&images::SOLVERS, "cholesky") };
// SAFETY: `KERNELS` of `torch/kernels/solvers_panels.cu` gives `lu` these parameters.
pub(super) static LU: Step<(View, i64, u32, *mut i32, i64, *mut i32, u32)> =
    unsafe { Step::new(&images::SOLVERS_PANELS, "lu") };
// SAFETY: `KERNELS` of `torch/kernels/solvers_panels.cu` gives `swap_rows` these parameters.
pub(super) static SWAP_ROWS: Step<(View, i64, *mut i32, i64, i64, i64, u32)> =
    unsafe { Step::new(&images::SOLVERS_PANELS, "swap_rows") };
// SAFETY: `KERNELS` of `torch/kernels/solvers_panels.cu` gives `reflect` these parameters.
pub(super) static REFLECT: Step<(View, i64, u32, *mut c_void, i64)> =
    unsafe { Step::new(&images::SOLVERS_PANELS, "reflect") };
// SAFETY: `KERNELS` of `torch/kernels/solvers_panels.cu` gives `join` these parameters.
pub(super) static JOIN: Step<(View, View, *mut c_void, i64, u32)> =
    unsafe { Step::new(&images::SOLVERS_PANELS, "join") };

/// Factors matrices of at most [`PANEL`] rows, of which the lower triangle is read, into a lower triangle and its
/// adjoint. `info` has a number for each matrix: `first`, plus that of the leading part that is not positive definite.
pub fn cholesky(a: Matrices, info: IntegerBatch, first: i64) -> Result<()> {
    ensure!(a.rows == a.columns && a.rows <= PANEL && !a.is_conjugate);
    ensure!(info.has_one_for_each(a.count));
    unless_on_a_device!(a, T => on_cpu::cholesky::<T>(&a, info, first));
    let parameters = |entry| (at(&a, entry), a.rows as u32, info.entries(entry).data, first as u32);
    // SAFETY: the matrices have so many rows and columns, at most those that shared memory is for; `info` has a number
    // for each of them, and the tensors live.
    unsafe {
        CHOLESKY.launch(&a, [0, 0], |bytes| PANEL as u32 * (PANEL as u32 + 1) * bytes, parameters)
    }
}

/// Factors the columns of a panel, at most [`PANEL`], whose rows begin at row `first` of the matrix, into lower and
/// upper triangles with pivots. `info` gets the number, from 1, of the first pivot that is 0.
pub fn lu(a: Matrices, pivots: IntegerBatch, info: IntegerBatch, first: i64) -> Result<()> {
    ensure!(a.columns <= PANEL && !a.is_conjugate);
    ensure!(pivots.has(a.count, a.rows.min(a.columns)) && info.has_one_for_each(a.count));
    unless_on_a_device!(a, T => on_cpu::lu::<T>(&a, pivots, info, first));
    let parameters = |entry| {
        (
            at(&a, entry),
            a.rows,
            a.columns as u32,
            pivots.entries(entry).data,
            pivots.step,
            info.entries(entry).data,
            first as u32,
        )
    };
    // SAFETY: the matrices have so many rows and columns; `pivots` has a number for each column and `info` one for each
    // matrix; the tensors live.
    unsafe { LU.launch(&a, [0, 0], |_| 16 * THREADS, parameters) }
}

/// Exchanges rows as `count` pivots say, which count from row `-first` of `a`; the last one first if `backwards`.
pub fn swap_rows(
    a: Matrices,
    pivots: IntegerBatch,
    count: i64,
    first: i64,
    backwards: bool,
) -> Result<()> {
    ensure!(pivots.has(a.count, count));
    unless_on_a_device!(a, T => on_cpu::swap_rows::<T>(&a, pivots, count, first, backwards));
    let parameters = |entry| {
        (
            at(&a, entry),
            a.columns,
            pivots.entries(entry).data,
            pivots.step,
            count,
            first,
            u32::from(backwards),
        )
    };
    // SAFETY: the matrices have so many columns, and `pivots` so many numbers for each; the tensors live. The numbers are
    // rows, unless a program passes `linalg.lu_solve` others on a device, whose values no check of the host has read.
    unsafe { SWAP_ROWS.launch(&a, [blocks_for(a.columns), 1], |_| 0, parameters) }
}

/// Reflects the columns of a panel, at most [`PANEL`], so that they end at the diagonal. The vectors of the reflections
/// are then below it, without their first element, which is 1; `tau` has their factors, a column for each matrix.
pub fn reflect(a: Matrices, tau: Matrices) -> Result<()> {
    ensure!(a.columns <= PANEL && tau.rows == a.rows.min(a.columns) && tau.view.row == 1);
    ensure!(a.is_like(&tau) && !a.is_conjugate);
    unless_on_a_device!(a, T => on_cpu::reflect::<T>(&a, &tau));
    let parameters =
        |entry| (at(&a, entry), a.rows, a.columns as u32, at(&tau, entry).data, tau.view.batch);
    // SAFETY: the matrices have so many rows and columns; `tau` has a number for each reflection, one behind the other,
    // and their type and device; the tensors live.
    unsafe { REFLECT.launch(&a, [0, 0], |_| 16 * THREADS, parameters) }
}

/// The factor `t` of the reflections of a panel, whose product is `1 - v t v'`, from `gram`, which is `v' v`.
pub fn join(t: Matrices, gram: Matrices, tau: Matrices) -> Result<()> {
    ensure!(t.rows == t.columns && t.rows == tau.rows && tau.view.row == 1 && t.rows <= PANEL);
    ensure!(t.rows == gram.rows && t.rows == gram.columns);
    ensure!(t.is_like(&gram) && t.is_like(&tau));
    unless_on_a_device!(t, T => on_cpu::join::<T>(&t, &gram, &tau));
    let parameters = |entry| {
        (at(&t, entry), at(&gram, entry), at(&tau, entry).data, tau.view.batch, t.rows as u32)
    };
    // SAFETY: `t` and `gram` have so many rows and columns, at most those that shared memory is for; `tau` has as many
    // numbers, one behind the other; all have one type and device, and the tensors live.
    unsafe {
        JOIN.launch(&t, [0, 0], |bytes| PANEL as u32 * (PANEL as u32 + 1) * bytes, parameters)
    }
}

/// Matrices that exchange rows as `count` pivots say, which count from 1. `to` is 0 before, and `work` has a number for
/// each row.
pub fn permutation(
    to: Matrices,
    pivots: IntegerBatch,
    count: i64,
    work: IntegerBatch,
) -> Result<()> {
    ensure!(to.rows == to.columns && work.step == to.rows);
    if to.is_empty() {
        return Ok(());
    }
    if to.is_on_cpu() {
        return with_field!(to.dtype, T => {
            on_cpu::permutation::<T>(&to, pivots, count);
            Ok(())
        });
    }
    let (name, _) = suffix(to.dtype)?;
    // SAFETY: the kernel has these parameters; sizes and strides are those of tensors that live, and there is a number
    // for each row of each matrix.
    unsafe {
        launch(
            to.device,
            &images::SOLVERS_PANELS,
            &format!("sconce_torch_solvers_permutation_{name}"),
            Grid::of(to.count, THREADS, 1),
            &[&to.view, &to.rows, &pivots.data, &pivots.step, &count, &work.data, &to.count],
        )
    }
}
