//! Steps that factor some columns of a matrix: a block of threads has a matrix, on devices.

#![allow(unsafe_code, reason = "launches kernels")]

use super::cpu::panels as on_cpu;
use super::matrices::Matrices;
use super::steps::{PANEL, THREADS, at, blocks_for, launched, step, suffix};
use crate::error::{Result, ensure};
use crate::kernels::{Grid, images, launch};

pub use super::parameters::IntegerBatch;

/// Factors matrices of at most [`PANEL`] rows, of which the lower triangle is read, into a lower triangle and its
/// adjoint. `info` has a number for each matrix: `first`, plus that of the leading part that is not positive definite.
pub fn cholesky(a: Matrices, info: IntegerBatch, first: i64) -> Result<()> {
    ensure!(a.rows == a.columns && a.rows <= PANEL && !a.is_conjugate);
    step! {
        a on the CPU: T => on_cpu::cholesky::<T>(&a, info, first);
        on devices: images::SOLVERS, "cholesky", [0, 0],
            |bytes| PANEL as u32 * (PANEL as u32 + 1) * bytes;
        |entry| at(&a, entry), a.rows as u32, info.entries(entry).data, first as u32
    }
}

/// Factors the columns of a panel, at most [`PANEL`], whose rows begin at row `first` of the matrix, into lower and
/// upper triangles with pivots. `info` gets the number, from 1, of the first pivot that is 0.
pub fn lu(a: Matrices, pivots: IntegerBatch, info: IntegerBatch, first: i64) -> Result<()> {
    ensure!(a.columns <= PANEL && !a.is_conjugate);
    step! {
        a on the CPU: T => on_cpu::lu::<T>(&a, pivots, info, first);
        on devices: images::SOLVERS_PANELS, "lu", [0, 0], |_| 16 * THREADS;
        |entry| at(&a, entry), a.rows, a.columns as u32, pivots.entries(entry).data, pivots.step,
            info.entries(entry).data, first as u32
    }
}

/// Exchanges rows as `count` pivots say, which count from row `-first` of `a`; the last one first if `backwards`.
pub fn swap_rows(
    a: Matrices,
    pivots: IntegerBatch,
    count: i64,
    first: i64,
    backwards: bool,
) -> Result<()> {
    step! {
        a on the CPU: T => on_cpu::swap_rows::<T>(&a, pivots, count, first, backwards);
        on devices: images::SOLVERS_PANELS, "swap_rows", [blocks_for(a.columns), 1], |_| 0;
        |entry| at(&a, entry), a.columns, pivots.entries(entry).data, pivots.step, count, first,
            u32::from(backwards)
    }
}

/// Reflects the columns of a panel, at most [`PANEL`], so that they end at the diagonal. The vectors of the reflections
/// are then below it, without their first element, which is 1; `tau` has their factors, a column for each matrix.
pub fn reflect(a: Matrices, tau: Matrices) -> Result<()> {
    ensure!(a.columns <= PANEL && tau.rows == a.rows.min(a.columns) && tau.view.row == 1);
    ensure!(a.is_like(&tau) && !a.is_conjugate);
    step! {
        a on the CPU: T => on_cpu::reflect::<T>(&a, &tau);
        on devices: images::SOLVERS_PANELS, "reflect", [0, 0], |_| 16 * THREADS;
        |entry| at(&a, entry), a.rows, a.columns as u32, at(&tau, entry).data, tau.view.batch
    }
}

/// The factor `t` of the reflections of a panel, whose product is `1 - v t v'`, from `gram`, which is `v' v`.
pub fn join(t: Matrices, gram: Matrices, tau: Matrices) -> Result<()> {
    ensure!(t.rows == t.columns && t.rows == tau.rows && tau.view.row == 1 && t.rows <= PANEL);
    ensure!(t.rows == gram.rows && t.rows == gram.columns);
    ensure!(t.is_like(&gram) && t.is_like(&tau));
    step! {
        t on the CPU: T => on_cpu::join::<T>(&t, &gram, &tau);
        on devices: images::SOLVERS_PANELS, "join", [0, 0],
            |bytes| PANEL as u32 * (PANEL as u32 + 1) * bytes;
        |entry| at(&t, entry), at(&gram, entry), at(&tau, entry).data, tau.view.batch,
            t.rows as u32
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
