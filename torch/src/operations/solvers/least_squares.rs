//! Equations with more or fewer rows than unknowns: least squares, and pseudoinverses.

use super::checks;
use super::matrices::{Matrices, by_columns, check_field, copied_by_columns, real_type};
use super::reflections::{geqrf, multiply};
use super::spectra::{Singular, adjoint, eigen, singular};
use super::steps::{UpdateMode, first_zero_of_diagonal, update};
use super::triangles::Triangle;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::layout::broadcast;
use crate::operations::tensors::{check_device, empty, filled, name_of};
use crate::sconce::operations::{self, Operand, binary, choose, unary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

const NAME: &str = "linalg.lstsq";

/// What `linalg_lstsq` returns. What a driver does not calculate has no elements.
#[derive(Debug)]
pub struct LeastSquares {
    /// The solution.
    pub solution: Tensor,
    /// The squared distance of each column.
    pub residuals: Tensor,
    /// How many singular values count.
    pub rank: Tensor,
    /// The singular values.
    pub values: Tensor,
}

fn refused<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::invalid_argument(format!("{NAME}: {}", why.into())))
}

/// How equations are solved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driver {
    /// By reflections; matrices have full rank.
    Gels,
    /// By singular values, which LAPACK's driver has no results of.
    Gelsy,
    /// By singular values.
    Gelsd,
}

fn driver(named: Option<&str>, device: i32) -> Result<Driver> {
    let is_on_cpu = device == api::SCONCE_DEVICE_CPU;
    Ok(match named {
        None if is_on_cpu => Driver::Gelsy,
        None | Some("gels") => Driver::Gels,
        Some("gelsy" | "gelsd" | "gelss") if !is_on_cpu => {
            return refused("`driver` other than `gels` is not supported on CUDA");
        }
        Some("gelsy") => Driver::Gelsy,
        Some("gelsd" | "gelss") => Driver::Gelsd,
        Some(_) => {
            return refused("parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
        }
    })
}

/// Both sides, with vectors of the right one as columns, and their common batch.
struct Sides {
    a: Tensor,
    b: Tensor,
    batch: Vec<i64>,
    /// Rows, unknowns.
    shape: [i64; 2],
    columns: i64,
    is_vector: bool,
    dtype: i32,
    device: i32,
}

fn sides(a: TensorHandle, b: TensorHandle) -> Result<Sides> {
    let (left, right) = (sizes_of(a)?, sizes_of(b)?);
    if left.len() < 2 {
        return refused("input must have at least 2 dimensions.");
    }
    if right.is_empty() {
        return refused("other must have at least 1 dimension.");
    }
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    check_device("other", device_of_tensor(b)?, device)?;
    let other = dtype_of_tensor(b)?;
    if other != dtype {
        return refused(format!(
            "Expected input and other to have the same dtype, but got input's dtype {} and other's dtype {}",
            name_of(dtype),
            name_of(other)
        ));
    }
    check_field(dtype)?;
    let (outer, [rows, unknowns]) = checks::split(&left);
    let is_vector = right.len() == 1 || right == left[..left.len() - 1];
    let b = match is_vector {
        true => operations::unsqueeze(b, -1)?,
        false => Tensor::retained(b)?,
    };
    let right = sizes_of(b.handle())?;
    let (others, [height, columns]) = checks::split(&right);
    if height != rows {
        return refused(match is_vector {
            true => "input.size(-2) should match other.size(-1)",
            false => "input.size(-2) should match other.size(-2)",
        });
    }
    let batch = broadcast(&[outer, others])?;
    let a = copied_by_columns(a, &batch)?;
    Ok(Sides { a, b, batch, shape: [rows, unknowns], columns, is_vector, dtype, device })
}

impl Sides {
    /// Memory for a column of as many numbers as the larger side has, which the solution is a part of.
    fn unfilled(&self) -> Result<Tensor> {
        let height = self.shape[0].max(self.shape[1]);
        by_columns(&[&self.batch[..], &[height, self.columns]].concat(), self.dtype, self.device)
    }

    /// A part of the rows of `whole`.
    fn rows_of(whole: &Tensor, begin: i64, count: i64) -> Result<Tensor> {
        operations::narrow(whole.handle(), -2, begin, count)
    }

    /// The sums of the squares of each column.
    fn squares(rows: &Tensor) -> Result<Tensor> {
        let sizes = unary(api::SCONCE_UNARY_ABS, rows)?;
        let squares = binary(api::SCONCE_BINARY_MUL, &sizes, Operand::Tensor(&sizes))?;
        let (sum, any) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_DEFAULT);
        operations::reduce(sum, squares.handle(), &[-2], false, any)
    }

    fn nothing(&self, dtype: i32) -> Result<Tensor> {
        empty(&[0], dtype, self.device)
    }

    /// By reflections: of the matrix, or of its adjoint where it has fewer rows than unknowns.
    fn by_reflections(&self) -> Result<LeastSquares> {
        let [rows, unknowns] = self.shape;
        let whole = self.unfilled()?;
        let x = Matrices::of(&whole)?;
        let real = real_type(self.dtype);
        let mut residuals = self.nothing(real)?;
        let tall =
            if rows < unknowns { adjoint(&self.a)? } else { Tensor::retained(self.a.handle())? };
        let [packed, tau] = geqrf(tall.handle())?;
        let (factors, tau) = (Matrices::of(&packed)?, Matrices::of_vectors(&tau)?);
        let least = rows.min(unknowns);
        let of = factors.part(0..least, 0..least);
        // On a device the host cannot know the values without waiting.
        for entry in 0..if of.is_on_cpu() { of.count } else { 0 } {
            if let Some(place) = first_zero_of_diagonal(of.entries(entry..entry + 1))? {
                return refused(format!(
                    "(Batch element {entry}): The least squares solution could not be computed because the input \
                     matrix does not have full rank (error code: {}).",
                    place + 1
                ));
            }
        }
        let upper = Triangle { of, is_upper: true, is_unit: false };
        if rows < unknowns {
            operations::fill(whole.handle(), &crate::sconce::values::integer(0))?;
        }
        let given = operations::expand(
            self.b.handle(),
            &[&self.batch[..], &[rows, self.columns]].concat(),
        )?;
        operations::copy(&Self::rows_of(&whole, 0, rows)?, given.handle())?;
        if rows < unknowns {
            upper.adjoint().solve(x.rows_of(0..least))?;
            multiply(factors, tau, x, true, false)?;
        } else {
            multiply(factors, tau, x, true, true)?;
            upper.solve(x.rows_of(0..least))?;
            if rows > unknowns {
                residuals = Self::squares(&Self::rows_of(&whole, unknowns, rows - unknowns)?)?;
            }
        }
        let solution = Self::rows_of(&whole, 0, unknowns)?;
        let rank = self.nothing(api::SCONCE_DTYPE_I64)?;
        self.returned(LeastSquares { solution, residuals, rank, values: self.nothing(real)? })
    }

    /// By singular values, of which those count that are larger than a part of the largest.
    fn by_values(&self, rcond: Option<f64>, driver: Driver) -> Result<LeastSquares> {
        let [rows, unknowns] = self.shape;
        let real = real_type(self.dtype);
        let whole = self.unfilled()?;
        let solution = Self::rows_of(&whole, 0, unknowns)?;
        let mut residuals = self.nothing(real)?;
        let Singular { left, values, right } = singular(self.a.handle(), false, true)?;
        let least = operations::narrow(values.handle(), -1, 0, 1)?;
        let cut = rcond.unwrap_or_else(|| default_share(self.dtype, self.shape));
        let cut = binary(api::SCONCE_BINARY_MUL, &least, Operand::Number(cut))?;
        let counts = binary(api::SCONCE_BINARY_GT, &values, Operand::Tensor(&cut))?;
        let rank = operations::reduce(
            api::SCONCE_REDUCE_SUM,
            counts.handle(),
            &[-1],
            false,
            api::SCONCE_DTYPE_I64,
        )?;
        let inverse = reciprocals(&values, &counts)?;
        let sizes = [&self.batch[..], &[rows.min(unknowns), self.columns]].concat();
        let b = copied_by_columns(self.b.handle(), &self.batch)?;
        let turned = by_columns(&sizes, self.dtype, self.device)?;
        let left = copied_by_columns(left.handle(), &self.batch)?;
        let right = copied_by_columns(right.handle(), &self.batch)?;
        update(
            Matrices::of(&turned)?,
            Matrices::of(&left)?.adjoint(),
            Matrices::of(&b)?,
            UpdateMode::Set,
        )?;
        let inverse = operations::unsqueeze(inverse.handle(), -1)?;
        let inverse = operations::to_dtype(inverse.handle(), self.dtype)?;
        let scaled = binary(api::SCONCE_BINARY_MUL, &turned, Operand::Tensor(&inverse))?;
        operations::copy(&turned, scaled.handle())?;
        let x = Matrices::of(&whole)?.rows_of(0..unknowns);
        update(x, Matrices::of(&right)?.adjoint(), Matrices::of(&turned)?, UpdateMode::Set)?;
        if driver == Driver::Gelsd && rows > unknowns {
            let is_full = binary(api::SCONCE_BINARY_EQ, &rank, Operand::Whole(unknowns))?;
            if operations::all_true(&is_full)? {
                update(Matrices::of(&b)?, Matrices::of(&self.a)?, x, UpdateMode::Subtract)?;
                residuals = Self::squares(&b)?;
            }
        }
        let values = match driver {
            Driver::Gelsd => values,
            _ => self.nothing(real)?,
        };
        self.returned(LeastSquares { solution, residuals, rank, values })
    }

    /// Vectors as the caller passed them.
    fn returned(&self, mut found: LeastSquares) -> Result<LeastSquares> {
        if self.is_vector {
            found.solution = operations::squeeze(found.solution.handle(), -1)?;
        }
        Ok(found)
    }
}

/// The part of the largest singular value that smaller ones are noise of.
fn default_share(dtype: i32, [rows, columns]: [i64; 2]) -> f64 {
    let epsilon = match real_type(dtype) {
        api::SCONCE_DTYPE_F32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    epsilon * rows.max(columns) as f64
}

/// 1 divided by each value that counts, else 0.
fn reciprocals(values: &Tensor, counts: &Tensor) -> Result<Tensor> {
    let inverse = unary(api::SCONCE_UNARY_RECIPROCAL, values)?;
    let inverse = choose(counts, Operand::Tensor(&inverse), Operand::Number(0.0))?;
    operations::to_dtype(inverse.handle(), dtype_of_tensor(values.handle())?)
}

/// `linalg_lstsq(a, b, rcond, driver)`
pub fn lstsq(
    a: TensorHandle,
    b: TensorHandle,
    rcond: Option<f64>,
    named: Option<&str>,
) -> Result<LeastSquares> {
    let sides = sides(a, b)?;
    let driver = driver(named, sides.device)?;
    let [rows, unknowns] = sides.shape;
    if rows == 0 || unknowns == 0 || sides.columns == 0 || sides.batch.contains(&0) {
        let sizes = [&sides.batch[..], &[unknowns, sides.columns]].concat();
        let solution = filled(&sizes, sides.dtype, sides.device, 0.0)?;
        let rank = match driver {
            Driver::Gels => sides.nothing(api::SCONCE_DTYPE_I64)?,
            _ => filled(&sides.batch, api::SCONCE_DTYPE_I64, sides.device, 0.0)?,
        };
        let nothing = || sides.nothing(real_type(sides.dtype));
        let (residuals, values) = (nothing()?, nothing()?);
        return sides.returned(LeastSquares { solution, residuals, rank, values });
    }
    match driver {
        Driver::Gels => sides.by_reflections(),
        _ => sides.by_values(rcond, driver),
    }
}

/// `linalg_pinv.atol_rtol_tensor(a, atol, rtol, hermitian)`: singular values, or sizes of eigenvalues, count if they are
/// larger than `atol` and than `rtol` times the largest.
pub fn pseudoinverse(
    a: TensorHandle,
    atol: Option<TensorHandle>,
    rtol: Option<TensorHandle>,
    is_hermitian: bool,
) -> Result<Tensor> {
    let name = "linalg.pinv";
    let sizes = checks::matrices(name, "A", a)?;
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    check_field(dtype)?;
    let (batch, [rows, columns]) = checks::split(&sizes);
    let result = empty(&[batch, &[columns, rows]].concat(), dtype, device)?;
    if sizes.contains(&0) {
        return Ok(result);
    }
    let real = real_type(dtype);
    let (left, values, right) = if is_hermitian {
        let found = eigen(a, "L", true)?;
        let right = adjoint(&found.vectors)?;
        (found.vectors, found.values, right)
    } else {
        let found = singular(a, false, true)?;
        (found.left, found.values, found.right)
    };
    let lengths = unary(api::SCONCE_UNARY_ABS, &values)?;
    let (amax, any) = (api::SCONCE_REDUCE_AMAX, api::SCONCE_DTYPE_DEFAULT);
    let largest = operations::reduce(amax, lengths.handle(), &[-1], true, any)?;
    let column = |tensor| operations::unsqueeze(operations::to_dtype(tensor, real)?.handle(), -1);
    let atol = atol.map(column).transpose()?;
    let usual = default_share(dtype, [rows, columns]);
    let share = match (rtol, &atol) {
        (Some(rtol), _) => {
            binary(api::SCONCE_BINARY_MUL, &largest, Operand::Tensor(&column(rtol)?))?
        }
        (None, None) => binary(api::SCONCE_BINARY_MUL, &largest, Operand::Number(usual))?,
        (None, Some(atol)) => {
            let is_said = binary(api::SCONCE_BINARY_GT, atol, Operand::Number(0.0))?;
            let share = binary(api::SCONCE_BINARY_MUL, &largest, Operand::Number(usual))?;
            choose(&is_said, Operand::Number(0.0), Operand::Tensor(&share))?
        }
    };
    let cut = match &atol {
        Some(atol) => binary(api::SCONCE_BINARY_MAXIMUM, &share, Operand::Tensor(atol))?,
        None => share,
    };
    let counts = binary(api::SCONCE_BINARY_GT, &lengths, Operand::Tensor(&cut))?;
    let inverse = operations::unsqueeze(reciprocals(&values, &counts)?.handle(), -2)?;
    let inverse = operations::to_dtype(inverse.handle(), dtype)?;
    let scaled = binary(api::SCONCE_BINARY_MUL, &left, Operand::Tensor(&inverse))?;
    let (scaled, right) =
        (copied_by_columns(scaled.handle(), batch)?, copied_by_columns(right.handle(), batch)?);
    let (x, y) = (Matrices::of(&right)?.adjoint(), Matrices::of(&scaled)?.adjoint());
    update(Matrices::of(&result)?, x, y, UpdateMode::Set)?;
    Ok(result)
}
