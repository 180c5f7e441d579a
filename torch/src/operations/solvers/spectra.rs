//! Singular values and vectors, and those of Hermitian matrices.

use super::checks;
use super::matrices::{Matrices, by_columns, check_field, copied_by_columns, real_type};
use super::reflections::{geqrf, multiply};
use super::rotations::rotate;
use super::steps::{ABOVE, BELOW, DIAGONAL, ONES, UpdateMode, identity, part, update};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result, ensure};
use crate::operations::indexed::gather;
use crate::operations::ordering;
use crate::operations::tensors::{empty, filled};
use crate::operations::views::{as_real, real_of};
use crate::sconce::operations::{self, Operand, all_true, binary, choose, unary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// What `_linalg_svd` returns; vectors are empty if they are not wanted.
pub struct Singular {
    /// The left vectors, a column each.
    pub left: Tensor,
    /// The values, largest first.
    pub values: Tensor,
    /// The conjugates of the right vectors, a row each.
    pub right: Tensor,
}

fn reduced(operation: i32, tensor: &Tensor, dims: &[i64], keeps: bool) -> Result<Tensor> {
    operations::reduce(operation, tensor.handle(), dims, keeps, api::SCONCE_DTYPE_DEFAULT)
}

/// Matrices that are contiguous or lie by columns, from any.
fn as_columns(tensor: &Tensor) -> Result<Tensor> {
    let sizes = sizes_of(tensor.handle())?;
    copied_by_columns(tensor.handle(), &sizes[..sizes.len() - 2])
}

/// How the elements of new matrices lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixLines {
    /// Row by row.
    Rows,
    /// Column by column.
    Columns,
}

impl MatrixLines {
    /// A batch of matrices whose values are not set.
    fn empty(self, sizes: &[i64], dtype: i32, device: i32) -> Result<Tensor> {
        match self {
            MatrixLines::Rows => empty(sizes, dtype, device),
            MatrixLines::Columns => by_columns(sizes, dtype, device),
        }
    }
}

/// The adjoint of matrices, column by column.
pub(super) fn adjoint(of: &Tensor) -> Result<Tensor> {
    adjoint_in(of, MatrixLines::Columns)
}

/// The adjoint of matrices: of complex ones a product with an identity, as libsconce.so has no conjugate. Row by row, a
/// real one of matrices that lie by columns shares their memory.
fn adjoint_in(of: &Tensor, lines: MatrixLines) -> Result<Tensor> {
    let mut sizes = sizes_of(of.handle())?;
    let rank = sizes.len();
    sizes.swap(rank - 2, rank - 1);
    let (dtype, device) = (dtype_of_tensor(of.handle())?, device_of_tensor(of.handle())?);
    if real_of(dtype).is_none() {
        let turned = operations::transpose(of.handle(), -2, -1)?;
        if lines == MatrixLines::Rows {
            return operations::contiguous(turned.handle());
        }
        let result = lines.empty(&sizes, dtype, device)?;
        operations::copy(&result, turned.handle())?;
        return Ok(result);
    }
    let result = lines.empty(&sizes, dtype, device)?;
    let one = by_columns(&[&sizes[..rank - 1], &[sizes[rank - 2]]].concat(), dtype, device)?;
    identity(Matrices::of(&one)?)?;
    update(
        Matrices::of(&result)?,
        Matrices::of(&one)?,
        Matrices::of(of)?.adjoint(),
        UpdateMode::Set,
    )?;
    Ok(result)
}

/// The columns of matrices in the order of indices, which each matrix has its own of.
fn in_order(matrices: &Tensor, order: &Tensor) -> Result<Tensor> {
    let index = operations::unsqueeze(order.handle(), -2)?;
    let index = operations::expand(index.handle(), &sizes_of(matrices.handle())?)?;
    as_columns(&gather(matrices.handle(), -1, index.handle())?)
}

/// Factors by which elements are divided so that the largest one of a matrix is 1; 1 for matrices of zeros.
fn scales(a: &Tensor) -> Result<Tensor> {
    let most =
        reduced(api::SCONCE_REDUCE_AMAX, &unary(api::SCONCE_UNARY_ABS, a)?, &[-2, -1], true)?;
    let is_zero = binary(api::SCONCE_BINARY_EQ, &most, Operand::Number(0.0))?;
    choose(&is_zero, Operand::Number(1.0), Operand::Tensor(&most))
        .and_then(|scale| operations::to_dtype(scale.handle(), dtype_of_tensor(most.handle())?))
}

/// On the CPU, refuses elements that are no finite numbers.
fn check_finite(name: &str, a: TensorHandle) -> Result<()> {
    if device_of_tensor(a)? != api::SCONCE_DEVICE_CPU {
        return Ok(());
    }
    let sizes = unary(api::SCONCE_UNARY_ABS, &Tensor::retained(a)?)?;
    if all_true(&unary(api::SCONCE_UNARY_IS_FINITE, &sizes)?)? {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "{name}: The algorithm failed to converge because the input matrix contained non-finite values."
    )))
}

/// `_linalg_svd(a, full_matrices, compute_uv)`. The right vectors lie row by row on devices, and column by column on the
/// CPU, as PyTorch's.
pub fn singular(a: TensorHandle, is_full: bool, has_vectors: bool) -> Result<Singular> {
    let on_cpu = device_of_tensor(a)? == api::SCONCE_DEVICE_CPU;
    singular_in(
        a,
        is_full,
        has_vectors,
        if on_cpu { MatrixLines::Columns } else { MatrixLines::Rows },
    )
}

/// As [`singular`], with right vectors that lie as is said.
pub(super) fn singular_in(
    a: TensorHandle,
    is_full: bool,
    has_vectors: bool,
    lines: MatrixLines,
) -> Result<Singular> {
    let name = "linalg.svd";
    let sizes = checks::matrices(name, "A", a)?;
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    check_field(dtype)?;
    let (batch, [rows, columns]) = checks::split(&sizes);
    let least = rows.min(columns);
    if least == 0 || sizes.contains(&0) {
        let (sizes, of) = ([rows, columns], (dtype, device));
        return without_values(batch, sizes, of, is_full, has_vectors.then_some(lines));
    }
    check_finite(name, a)?;
    let is_wide = rows < columns;
    let own = copied_by_columns(a, batch)?;
    let decomposed = tall(&if is_wide { adjoint(&own)? } else { own }, is_full, has_vectors)?;
    let Some([left, right]) = decomposed.vectors else {
        let nothing = || empty(&[0], dtype, device);
        return Ok(Singular { left: nothing()?, values: decomposed.values, right: nothing()? });
    };
    let (left, right) = if is_wide { (right, left) } else { (left, right) };
    Ok(Singular { left, values: decomposed.values, right: adjoint_in(&right, lines)? })
}

/// The results of matrices without elements.
fn without_values(
    batch: &[i64],
    [rows, columns]: [i64; 2],
    (dtype, device): (i32, i32),
    is_full: bool,
    right_lines: Option<MatrixLines>,
) -> Result<Singular> {
    let least = rows.min(columns);
    let values = filled(&[batch, &[least]].concat(), real_type(dtype), device, 0.0)?;
    let Some(right_lines) = right_lines else {
        let nothing = || empty(&[0], dtype, device);
        return Ok(Singular { left: nothing()?, values, right: nothing()? });
    };
    let (width, height) = if is_full { (rows, columns) } else { (least, least) };
    let left = by_columns(&[batch, &[rows, width]].concat(), dtype, device)?;
    let right = right_lines.empty(&[batch, &[height, columns]].concat(), dtype, device)?;
    identity(Matrices::of(&left)?)?;
    identity(Matrices::of(&right)?)?;
    Ok(Singular { left, values, right })
}

/// Singular values, and left and right vectors, a column each.
struct Decomposed {
    values: Tensor,
    /// If they are wanted. All of them lie column by column.
    vectors: Option<[Tensor; 2]>,
}

/// Those of matrices with at least as many rows as columns: the columns of the upper factor are made orthogonal.
fn tall(a: &Tensor, is_full: bool, has_vectors: bool) -> Result<Decomposed> {
    let (dtype, device) = (dtype_of_tensor(a.handle())?, device_of_tensor(a.handle())?);
    let sizes = sizes_of(a.handle())?;
    let (batch, [rows, columns]) = checks::split(&sizes);
    let square = [batch, &[columns, columns]].concat();
    let scale = scales(a)?;
    let scaled = as_columns(&binary(api::SCONCE_BINARY_DIV, a, Operand::Tensor(&scale))?)?;
    let [packed, tau] = geqrf(scaled.handle())?;
    let whole = Matrices::of(&packed)?;
    let (w, v) = (by_columns(&square, dtype, device)?, by_columns(&square, dtype, device)?);
    part(Matrices::of(&w)?, whole.rows_of(0..columns), ABOVE | DIAGONAL)?;
    identity(Matrices::of(&v)?)?;
    rotate(Matrices::of(&w)?, Matrices::of(&v)?)?;
    // The lengths of the columns are the values.
    let lengths = unary(api::SCONCE_UNARY_ABS, &w)?;
    let squares = binary(api::SCONCE_BINARY_MUL, &lengths, Operand::Tensor(&lengths))?;
    let lengths = reduced(api::SCONCE_REDUCE_SUM, &squares, &[-2], false)?;
    let lengths = unary(api::SCONCE_UNARY_SQRT, &lengths)?;
    let sorted = ordering::sort(lengths.handle(), -1, true)?;
    let scale = operations::squeeze(scale.handle(), -1)?;
    let values = binary(api::SCONCE_BINARY_MUL, &sorted.values, Operand::Tensor(&scale))?;
    if !has_vectors {
        return Ok(Decomposed { values, vectors: None });
    }
    // Orthogonal columns have a diagonal upper factor. Reflections also complete those that are 0 to a basis.
    let [inner, factors] = geqrf(in_order(&w, &sorted.indices)?.handle())?;
    let width = if is_full { rows } else { columns };
    let left = by_columns(&[batch, &[rows, width]].concat(), dtype, device)?;
    let all = Matrices::of(&left)?;
    identity(all)?;
    let corner = all.part(0..columns, 0..columns);
    multiply(Matrices::of(&inner)?, Matrices::of_vectors(&factors)?, corner, true, false)?;
    multiply(whole, Matrices::of_vectors(&tau)?, all, true, false)?;
    let signs = signs_of_diagonal(&inner)?;
    let signed = operations::narrow(left.handle(), -1, 0, columns)?;
    let turned = binary(api::SCONCE_BINARY_MUL, &signed, Operand::Tensor(&signs))?;
    operations::copy(&signed, turned.handle())?;
    let right = in_order(&v, &sorted.indices)?;
    Ok(Decomposed { values, vectors: Some([left, right]) })
}

/// -1 for each number on the diagonal that is below 0, else 1: a row of numbers for each matrix.
fn signs_of_diagonal(upper: &Tensor) -> Result<Tensor> {
    let sizes = sizes_of(upper.handle())?;
    let (batch, [_, columns]) = checks::split(&sizes);
    let own = Matrices::of(upper)?;
    let diagonal = by_columns(&sizes, own.dtype, own.device)?;
    part(Matrices::of(&diagonal)?, own, DIAGONAL)?;
    let rows = reduced(api::SCONCE_REDUCE_SUM, &diagonal, &[-2], true)?;
    ensure!(sizes_of(rows.handle())? == [batch, &[1, columns]].concat());
    let real = match real_of(own.dtype) {
        None => rows,
        Some(_) => operations::select(as_real(rows.handle())?.handle(), -1, 0)?,
    };
    let below = binary(api::SCONCE_BINARY_LT, &real, Operand::Number(0.0))?;
    let signs = choose(&below, Operand::Number(-1.0), Operand::Number(1.0))?;
    operations::to_dtype(signs.handle(), own.dtype)
}

/// Eigenvalues of Hermitian matrices, the least first, and their vectors, a column each.
pub struct Eigen {
    /// The values.
    pub values: Tensor,
    /// The vectors; empty if they are not wanted.
    pub vectors: Tensor,
}

/// Hermitian matrices, of which one triangle is given.
fn hermitian(a: TensorHandle, batch: &[i64], is_upper: bool) -> Result<Tensor> {
    let given = copied_by_columns(a, batch)?;
    let sizes = sizes_of(a)?;
    let like = || by_columns(&sizes, dtype_of_tensor(a)?, device_of_tensor(a)?);
    // Half of the matrix: what is off the diagonal, and half of the diagonal; then its adjoint is added.
    let side = if is_upper { ABOVE } else { BELOW };
    let (whole, off) = (like()?, like()?);
    part(Matrices::of(&whole)?, Matrices::of(&given)?, side | DIAGONAL)?;
    part(Matrices::of(&off)?, Matrices::of(&given)?, side)?;
    let sum = binary(api::SCONCE_BINARY_ADD, &whole, Operand::Tensor(&off))?;
    let half = as_columns(&binary(api::SCONCE_BINARY_MUL, &sum, Operand::Number(0.5))?)?;
    let full = binary(api::SCONCE_BINARY_ADD, &half, Operand::Tensor(&adjoint(&half)?))?;
    as_columns(&full)
}

/// `_linalg_eigh(a, uplo, compute_v)`. The matrix is moved along its diagonal until it is positive definite, so that
/// its singular vectors are its eigenvectors.
pub fn eigen(a: TensorHandle, uplo: &str, has_vectors: bool) -> Result<Eigen> {
    let name = "linalg.eigh";
    let batch = checks::squares(name, "A", a)?;
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    check_field(dtype)?;
    let is_upper = match uplo {
        "U" | "u" => true,
        "L" | "l" => false,
        other => {
            return Err(Error::invalid_argument(format!(
                "Expected UPLO argument to be 'L' or 'U', but got {other}"
            )));
        }
    };
    let sizes = sizes_of(a)?;
    let b = hermitian(a, &batch, is_upper)?;
    if sizes.contains(&0) {
        let order = sizes[sizes.len() - 1];
        let values = empty(&[&batch[..], &[order]].concat(), real_type(dtype), device)?;
        return Ok(Eigen { values, vectors: b });
    }
    let scale = scales(&b)?;
    let scaled = as_columns(&binary(api::SCONCE_BINARY_DIV, &b, Operand::Tensor(&scale))?)?;
    let one = by_columns(&sizes, dtype, device)?;
    part(Matrices::of(&one)?, Matrices::of(&one)?, ONES)?;
    // No eigenvalue is larger than the largest sum of a row.
    let rows =
        reduced(api::SCONCE_REDUCE_SUM, &unary(api::SCONCE_UNARY_ABS, &scaled)?, &[-1], true)?;
    let bound = reduced(api::SCONCE_REDUCE_AMAX, &rows, &[-2], true)?;
    let bound = binary(api::SCONCE_BINARY_MUL, &bound, Operand::Number(1.25))?;
    let moved = binary(api::SCONCE_BINARY_MUL, &one, Operand::Tensor(&bound))?;
    let w = as_columns(&binary(api::SCONCE_BINARY_ADD, &scaled, Operand::Tensor(&moved))?)?;
    rotate(Matrices::of(&w)?, Matrices::of(&one)?)?;
    // The values are those of the matrix itself: v' b v.
    let products = by_columns(&sizes, dtype, device)?;
    update(Matrices::of(&products)?, Matrices::of(&scaled)?, Matrices::of(&one)?, UpdateMode::Set)?;
    let (vectors, products, dims): (Tensor, Tensor, &[i64]) = match real_of(dtype) {
        None => (Tensor::retained(one.handle())?, products, &[-2]),
        Some(_) => (as_real(one.handle())?, as_real(products.handle())?, &[-3, -1]),
    };
    let terms = binary(api::SCONCE_BINARY_MUL, &vectors, Operand::Tensor(&products))?;
    let values = reduced(api::SCONCE_REDUCE_SUM, &terms, dims, false)?;
    let sorted = ordering::sort(values.handle(), -1, false)?;
    let scale = operations::squeeze(scale.handle(), -1)?;
    let values = binary(api::SCONCE_BINARY_MUL, &sorted.values, Operand::Tensor(&scale))?;
    let vectors = match has_vectors {
        true => in_order(&one, &sorted.indices)?,
        false => empty(&[0], dtype, device)?,
    };
    Ok(Eigen { values, vectors })
}
