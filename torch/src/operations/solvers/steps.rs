//! The steps that solutions are made of, for the CPU and for devices: products, triangles, parts of matrices. Panels of
//! columns are in `panels`. Which rows and columns a step gets is the same on the CPU and on devices.

#![allow(unsafe_code, reason = "launches kernels")]

use std::ffi::c_void;
use std::marker::PhantomData;

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

/// A parameter of a kernel, with its type in the kernel's source, where `T` is the type of elements.
pub trait Parameter: KernelArgument {
    /// The type in CUDA C++.
    const TYPE: &'static str;
}

macro_rules! parameters_of_kernels {
    ($($kind:ty = $name:literal),*) => {
        $(impl Parameter for $kind {
            const TYPE: &'static str = $name;
        })*
    };
}
parameters_of_kernels!(View = "View<T>", i64 = "i64", u32 = "u32", *mut i32 = "i32*", *mut c_void = "T*");

/// The parameters of a kernel: a tuple of their types in Rust.
pub trait Parameters {
    /// Their types in CUDA C++.
    const TYPES: &'static [&'static str];

    /// The parameters as a launch takes them.
    fn list(&self) -> Vec<&dyn KernelArgument>;
}

macro_rules! tuples_of_parameters {
    ($(($($name:ident $at:tt),*))*) => {
        $(impl<$($name: Parameter),*> Parameters for ($($name,)*) {
            const TYPES: &'static [&'static str] = &[$($name::TYPE),*];

            fn list(&self) -> Vec<&dyn KernelArgument> {
                vec![$(&self.$at),*]
            }
        })*
    };
}
tuples_of_parameters! {
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
}

/// The kernels of a step, one for each type of elements, and the types of their parameters.
pub struct Step<P> {
    /// The image that has the kernels.
    image: &'static Image,
    /// The step in the names of the kernels.
    pub(super) name: &'static str,
    parameters: PhantomData<fn(P)>,
}

impl<P: Parameters> Step<P> {
    /// The step of this name.
    ///
    /// # Safety
    /// The image's kernels `sconce_torch_solvers_…` of this name have these parameters.
    pub const unsafe fn new(image: &'static Image, name: &'static str) -> Step<P> {
        Step { image, name, parameters: PhantomData }
    }

    /// Launches the step: `x` and `y` blocks for each of `count` matrices, which are along z, or along x if `y` is 0.
    ///
    /// # Safety
    /// `parameters` returns those for the matrices from one on. What the kernel accesses for each of them, with the sizes
    /// among the parameters, is memory of tensors that live, on the matrices' device and of their type.
    pub unsafe fn launch(
        &self,
        matrices: &Matrices,
        [x, y]: [i64; 2],
        shared: impl Fn(u32) -> u32,
        parameters: impl Fn(i64) -> P,
    ) -> Result<()> {
        let (name, bytes) = suffix(matrices.dtype)?;
        let kernel = format!("sconce_torch_solvers_{}_{name}", self.name);
        let mut first = 0;
        while first < matrices.count {
            let count = MOST_ENTRIES.min(matrices.count - first);
            let blocks = match y {
                0 => [count as u32, 1, 1],
                _ => [x as u32, y as u32, count as u32],
            };
            let grid = Grid { blocks, threads: [THREADS, 1, 1], shared_bytes: shared(bytes) };
            let parameters = parameters(first);
            // SAFETY: `Step::new` demands that the kernel has parameters of these types, and this function that they
            // are those for the `count` matrices from `first` on.
            unsafe { launch(matrices.device, self.image, &kernel, grid, &parameters.list()) }?;
            first += count;
        }
        Ok(())
    }
}

/// The blocks whose threads are as many as these.
pub fn blocks_for(threads: i64) -> i64 {
    (threads + i64::from(THREADS) - 1) / i64::from(THREADS)
}

/// The matrices of a batch from one on, as a parameter.
pub fn at(matrices: &Matrices, first: i64) -> View {
    matrices.entries(first..first + 1).view
}

/// Returns from a function if there is nothing to do on a device: without work if the matrices are empty, and after an
/// expression, with `$T` as the type of their elements, if they are on the CPU.
macro_rules! unless_on_a_device {
    ($matrices:ident, $T:ident => $on_cpu:expr) => {
        if $matrices.is_empty() {
            return Ok(());
        }
        if $matrices.is_on_cpu() {
            return with_field!($matrices.dtype, $T => {
                $on_cpu;
                Ok(())
            });
        }
    };
}
pub(super) use unless_on_a_device;

// SAFETY: `KERNELS` of `torch/kernels/solvers.cu` gives `update` these parameters.
pub(super) static UPDATE: Step<(View, View, View, i64, i64, i64, u32)> =
    unsafe { Step::new(&images::SOLVERS, "update") };
// SAFETY: `KERNELS` of `torch/kernels/solvers.cu` gives `substitute` these parameters.
pub(super) static SUBSTITUTE: Step<(View, View, u32, i64, u32)> =
    unsafe { Step::new(&images::SOLVERS, "substitute") };
// SAFETY: `KERNELS` of `torch/kernels/solvers.cu` gives `part` these parameters.
pub(super) static PART: Step<(View, View, i64, i64, u32)> =
    unsafe { Step::new(&images::SOLVERS, "part") };

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
    unless_on_a_device!(c, T => cpu::update::<T>(&c, &a, &b, mode));
    let parameters =
        |first| (at(&c, first), at(&a, first), at(&b, first), c.rows, c.columns, a.columns, bits);
    // SAFETY: the sizes are those of all three, as was found above, which have one type and device; their tensors live.
    unsafe {
        UPDATE.launch(
            &c,
            [tiles(c.rows), tiles(c.columns)],
            |bytes| 2 * DEPTH * (TILE as u32 + 1) * bytes,
            parameters,
        )
    }
}

/// Solves `l y = x` for lower triangles of at most [`PANEL`] rows, and writes `y` where `x` was.
pub fn substitute(l: Matrices, x: Matrices, is_unit: bool) -> Result<()> {
    ensure!(l.rows == l.columns && l.rows == x.rows && l.rows <= PANEL);
    ensure!(l.is_like(&x) && !x.is_conjugate);
    let bits = if is_unit { UNIT } else { 0 } | if l.is_conjugate { CONJUGATE } else { 0 };
    unless_on_a_device!(x, T => cpu::substitute::<T>(&l, &x, is_unit));
    let parameters = |first| (at(&l, first), at(&x, first), l.rows as u32, x.columns, bits);
    // SAFETY: `l` has as many rows and columns as `x` has rows, at most those that shared memory is for; both have one
    // type and device, and their tensors live.
    unsafe {
        SUBSTITUTE.launch(
            &x,
            [(x.columns + PANEL - 1) / PANEL, 1],
            |bytes| 2 * PANEL as u32 * (PANEL as u32 + 1) * bytes,
            parameters,
        )
    }
}

/// Copies parts of matrices (`BELOW` and others); what is left out becomes 0. `from` may be `to`.
pub fn part(to: Matrices, from: Matrices, parts: u32) -> Result<()> {
    ensure!(to.rows == from.rows && to.columns == from.columns && to.is_like(&from));
    ensure!(!to.is_conjugate && !from.is_conjugate);
    unless_on_a_device!(to, T => cpu::part::<T>(&to, &from, parts));
    let parameters = |first| (at(&to, first), at(&from, first), to.rows, to.columns, parts);
    // SAFETY: both have these rows and columns, one type and one device, and their tensors live.
    unsafe { PART.launch(&to, [blocks_for(to.rows * to.columns), 1], |_| 0, parameters) }
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
