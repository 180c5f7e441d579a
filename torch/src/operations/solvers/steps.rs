//! The steps that solutions are made of, for the CPU and for devices: products, triangles, parts of matrices. Panels of
//! columns are in `panels`. Which rows and columns a step gets is the same on the CPU and on devices.

#![allow(unsafe_code, reason = "launches kernels")]

use super::cpu;
use super::matrices::{Matrices, View};
use crate::error::{Result, ensure};
use crate::kernels::{Grid, Image, KernelArgument, images, launch};
use crate::operations::tensors::refused_type;
use crate::sconce::api;

pub use super::parameters::{ABOVE, BELOW, DIAGONAL, ONES, UpdateMode};

// These are in `torch/kernels/solvers/field.cuh` too.
/// Threads of a block.
pub const THREADS: u32 = 256;
/// Columns of a panel, and rows of the triangles that are solved at once.
pub const PANEL: i64 = 32;

// These are in `torch/kernels/solvers.cu` too.
const SUBTRACT: u32 = 1;
const CONJUGATE_FIRST: u32 = 2;
const CONJUGATE_SECOND: u32 = 4;
const LOWER: u32 = 8;
const UNIT: u32 = 1;
const CONJUGATE: u32 = 2;
const TILE: i64 = 64;
const DEPTH: u32 = 16;

/// Blocks of a launch along z, one for each matrix.
const MOST_ENTRIES: i64 = 65_535;

/// A type in the names of kernels, and the bytes of an element.
pub fn suffix(dtype: i32) -> Result<(&'static str, u32)> {
    Ok(match dtype {
        api::SCONCE_DTYPE_F32 => ("f32", 4),
        api::SCONCE_DTYPE_F64 => ("f64", 8),
        api::SCONCE_DTYPE_C64 => ("c64", 8),
        api::SCONCE_DTYPE_C128 => ("c128", 16),
        other => return Err(refused_type(other)),
    })
}

/// Launches a step: `x` and `y` blocks for each of `count` matrices, which are along z, or along x if `y` is 0.
///
/// # Safety
/// As `launch`; `arguments` returns those for the matrices from one on.
pub unsafe fn launched(
    image: &'static Image,
    step: &str,
    matrices: &Matrices,
    [x, y]: [i64; 2],
    shared: impl Fn(u32) -> u32,
    arguments: impl Fn(i64) -> Vec<Box<dyn KernelArgument>>,
) -> Result<()> {
    let (name, bytes) = suffix(matrices.dtype)?;
    let kernel = format!("sconce_torch_solvers_{step}_{name}");
    let mut first = 0;
    while first < matrices.count {
        let count = MOST_ENTRIES.min(matrices.count - first);
        let blocks = match y {
            0 => [count as u32, 1, 1],
            _ => [x as u32, y as u32, count as u32],
        };
        let grid = Grid { blocks, threads: [THREADS, 1, 1], shared_bytes: shared(bytes) };
        let owned = arguments(first);
        let borrowed: Vec<&dyn KernelArgument> = owned.iter().map(|one| &**one).collect();
        // SAFETY: this function demands that the kernel has the parameters which `arguments` returns, for the `count`
        // matrices from `first` on.
        unsafe { launch(matrices.device, image, &kernel, grid, &borrowed) }?;
        first += count;
    }
    Ok(())
}

/// The blocks whose threads are as many as these.
pub fn blocks_for(threads: i64) -> i64 {
    (threads + i64::from(THREADS) - 1) / i64::from(THREADS)
}

/// The matrices of a batch from one on, as a parameter.
pub fn at(matrices: &Matrices, first: i64) -> View {
    matrices.entries(first..first + 1).view
}

/// A step of matrices that are not empty: on the CPU an expression with `$T` as the type of their elements, on devices
/// a launch of a kernel, with the parameters for the matrices from `$first` on.
///
/// The kernel has to have these parameters, and sizes and strides are those of tensors that live.
macro_rules! step {
    (
        $matrices:ident on the CPU: $T:ident => $on_cpu:expr;
        on devices: $image:expr, $step:literal, $blocks:expr, $shared:expr;
        |$first:ident| $($parameter:expr),*
    ) => {{
        if $matrices.is_empty() {
            return Ok(());
        }
        if $matrices.is_on_cpu() {
            return with_field!($matrices.dtype, $T => {
                $on_cpu;
                Ok(())
            });
        }
        let parameters = |$first| -> Vec<Box<dyn $crate::kernels::KernelArgument>> {
            vec![$(Box::new($parameter)),*]
        };
        // SAFETY: the step says what parameters the kernel of its name has, and has checked the sizes of the matrices,
        // whose tensors live.
        unsafe { launched(&$image, $step, &$matrices, $blocks, $shared, parameters) }
    }};
}
pub(super) use step;

/// `c = a b`, or what the mode says. `c` shares no element with the factors.
pub fn update(c: Matrices, a: Matrices, b: Matrices, mode: UpdateMode) -> Result<()> {
    ensure!(c.rows == a.rows && c.columns == b.columns && a.columns == b.rows);
    ensure!(c.is_like(&a) && c.is_like(&b) && !c.is_conjugate);
    let mut bits = match mode {
        UpdateMode::Set => 0,
        UpdateMode::Subtract => SUBTRACT,
        UpdateMode::SubtractLower => SUBTRACT | LOWER,
    };
    bits |= if a.is_conjugate { CONJUGATE_FIRST } else { 0 };
    bits |= if b.is_conjugate { CONJUGATE_SECOND } else { 0 };
    let tiles = |size: i64| (size + TILE - 1) / TILE;
    step! {
        c on the CPU: T => cpu::update::<T>(&c, &a, &b, mode);
        on devices: images::SOLVERS, "update", [tiles(c.rows), tiles(c.columns)],
            |bytes| 2 * DEPTH * (TILE as u32 + 1) * bytes;
        |first| at(&c, first), at(&a, first), at(&b, first), c.rows, c.columns, a.columns, bits
    }
}

/// Solves `l y = x` for lower triangles of at most [`PANEL`] rows, and writes `y` where `x` was.
pub fn substitute(l: Matrices, x: Matrices, is_unit: bool) -> Result<()> {
    ensure!(l.rows == l.columns && l.rows == x.rows && l.rows <= PANEL);
    ensure!(l.is_like(&x) && !x.is_conjugate);
    let bits = if is_unit { UNIT } else { 0 } | if l.is_conjugate { CONJUGATE } else { 0 };
    step! {
        x on the CPU: T => cpu::substitute::<T>(&l, &x, is_unit);
        on devices: images::SOLVERS, "substitute", [(x.columns + PANEL - 1) / PANEL, 1],
            |bytes| 2 * PANEL as u32 * (PANEL as u32 + 1) * bytes;
        |first| at(&l, first), at(&x, first), l.rows as u32, x.columns, bits
    }
}

/// Copies parts of matrices (`BELOW` and others); what is left out becomes 0. `from` may be `to`.
pub fn part(to: Matrices, from: Matrices, parts: u32) -> Result<()> {
    ensure!(to.rows == from.rows && to.columns == from.columns && to.is_like(&from));
    ensure!(!to.is_conjugate && !from.is_conjugate);
    step! {
        to on the CPU: T => cpu::part::<T>(&to, &from, parts);
        on devices: images::SOLVERS, "part", [blocks_for(to.rows * to.columns), 1], |_| 0;
        |first| at(&to, first), at(&from, first), to.rows, to.columns, parts
    }
}

/// Makes identity matrices.
pub fn identity(to: Matrices) -> Result<()> {
    part(to, to, ONES)
}

/// The first place on the diagonal of a matrix of the CPU that is 0.
pub fn first_zero_of_diagonal(matrix: Matrices) -> Result<Option<i64>> {
    ensure!(matrix.is_on_cpu() && matrix.count == 1);
    with_field!(matrix.dtype, T => Ok(cpu::first_zero_of_diagonal::<T>(&matrix)))
}
