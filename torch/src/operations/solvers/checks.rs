//! What operands of equations must be, with PyTorch's words.

use super::matrices::check_field;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::layout::broadcast;
use crate::operations::tensors::{check_device, name_of};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

fn refused<T>(why: String) -> Result<T> {
    Err(Error::invalid_argument(why))
}

/// The dimensions of a batch, and the rows and columns of its matrices.
pub fn split(sizes: &[i64]) -> (&[i64], [i64; 2]) {
    let (batch, matrix) = sizes.split_at(sizes.len() - 2);
    (batch, [matrix[0], matrix[1]])
}

/// The sizes of a tensor of matrices.
pub fn matrices(name: &str, argument: &str, tensor: TensorHandle) -> Result<Vec<i64>> {
    let sizes = sizes_of(tensor)?;
    match (sizes.len() >= 2, name) {
        (true, _) => Ok(sizes),
        (false, "torch.geqrf") => {
            refused(format!("{name}: {argument} must have at least 2 dimensions."))
        }
        (false, "torch.lu_factor") => refused(format!(
            "{name}: Expected tensor with 2 or more dimensions. Got size: {sizes:?} instead"
        )),
        (false, _) => {
            refused(format!("{name}: The input tensor {argument} must have at least 2 dimensions."))
        }
    }
}

/// The batch of a tensor of square matrices.
pub fn squares(name: &str, argument: &str, tensor: TensorHandle) -> Result<Vec<i64>> {
    let sizes = matrices(name, argument, tensor)?;
    let (batch, [rows, columns]) = split(&sizes);
    if rows != columns {
        return refused(format!(
            "{name}: {argument} must be batches of square matrices, but they are {rows} by {columns} matrices"
        ));
    }
    Ok(batch.to_vec())
}

fn same_kind(b: (&str, TensorHandle), a: (&str, TensorHandle)) -> Result<()> {
    check_device(a.0, device_of_tensor(a.1)?, device_of_tensor(b.1)?)?;
    let [own, other] = [dtype_of_tensor(b.1)?, dtype_of_tensor(a.1)?];
    if own != other {
        return refused(format!(
            "Expected {} and {} to have the same dtype, but found {} of type {} and {} of type {} instead.",
            b.0,
            a.0,
            b.0,
            name_of(own),
            a.0,
            name_of(other)
        ));
    }
    check_field(own)
}

/// The common batch of the sides of equations `a x = b`, of triangular_solve and cholesky_solve.
pub fn equations(name: &str, b: TensorHandle, a: TensorHandle) -> Result<Vec<i64>> {
    let (right, left) = (sizes_of(b)?, sizes_of(a)?);
    let named = if name == "cholesky_solve" { ["b", "u"] } else { ["b", "A"] };
    for (argument, rank) in named.into_iter().zip([right.len(), left.len()]) {
        if rank < 2 {
            return refused(match name {
                "cholesky_solve" => format!(
                    "{argument} should have at least 2 dimensions, but has {rank} dimensions instead"
                ),
                _ => format!(
                    "{name}: Expected {argument} to have at least 2 dimensions, but it has {rank} dimensions \
                     instead"
                ),
            });
        }
    }
    same_kind(("b", b), ("A", a))?;
    let ((batch, [height, width]), (others, [rows, columns])) = (split(&right), split(&left));
    if rows != columns {
        return refused(format!(
            "A must be batches of square matrices, but they are {rows} by {columns} matrices"
        ));
    }
    if rows != height {
        return refused(format!(
            "Incompatible matrix sizes for {name}: each A matrix is {rows} by {columns} but each b matrix is \
             {height} by {width}"
        ));
    }
    broadcast(&[batch, others])
}

/// The common batch of the sides of `a x = b`, or of `x a = b`.
pub fn sides(name: &str, a: TensorHandle, b: TensorHandle, is_left: bool) -> Result<Vec<i64>> {
    squares(name, "A", a)?;
    let right = matrices(name, "B", b)?;
    same_kind(("A", a), ("B", b))?;
    let left = sizes_of(a)?;
    let ((others, [rows, columns]), (batch, [height, width])) = (split(&left), split(&right));
    if rows != if is_left { height } else { width } {
        return refused(format!(
            "{name}: Incompatible shapes of A and B for the equation {} ({rows}x{columns} and {height}x{width})",
            if is_left { "AX = B" } else { "XA = B" }
        ));
    }
    broadcast(&[others, batch])
}

/// The sizes of reflections that multiply another tensor.
pub fn reflections(
    input: TensorHandle,
    tau: TensorHandle,
    other: TensorHandle,
    is_left: bool,
) -> Result<Vec<i64>> {
    let name = "torch.ormqr";
    let (sizes, factors, others) = (sizes_of(input)?, sizes_of(tau)?, sizes_of(other)?);
    for (argument, rank) in [("input", sizes.len()), ("other", others.len())] {
        if rank < 2 {
            return refused(format!("{name}: {argument} must have at least 2 dimensions."));
        }
    }
    let side = if is_left { 2 } else { 1 };
    let (height, count) = (others[others.len() - side], factors.last().copied().unwrap_or(0));
    let (batch, [rows, columns]) = split(&sizes);
    if count > columns {
        return refused(format!(
            "{name}: tau.shape[-1] must be less than or equal to input.shape[-1], but they are {count} and {columns}"
        ));
    }
    if height != rows {
        return refused(format!("{name}: other.shape[-{side}] must be equal to input.shape[-2]"));
    }
    if count != height.min(columns) {
        return refused(format!(
            "{name}: tau.shape[-1] must be equal to min(other.shape[-{side}], input.shape[-1])"
        ));
    }
    check_factors(name, (input, &sizes), (tau, &factors))?;
    if others.len() != sizes.len() {
        return refused(format!(
            "{name}: Expected other to have the same number of dimensions as input, but got other.ndim equal to {} \
             and input.ndim is equal to {}",
            others.len(),
            sizes.len()
        ));
    }
    if split(&others).0 != batch {
        return refused(format!(
            "{name}: Expected batch dimensions of other to be equal to input.shape[:-2], but got {:?}",
            split(&others).0
        ));
    }
    same_kind(("input", input), ("other", other))?;
    Ok(sizes)
}

fn check_factors(
    name: &str,
    (input, sizes): (TensorHandle, &[i64]),
    (tau, factors): (TensorHandle, &[i64]),
) -> Result<()> {
    if factors.len() + 1 != sizes.len() {
        return refused(format!(
            "{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {} and input.ndim \
             is equal to {}",
            factors.len(),
            sizes.len()
        ));
    }
    let batch = split(sizes).0;
    if factors[..factors.len() - 1] != *batch {
        return refused(format!(
            "{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {:?}",
            &factors[..factors.len() - 1]
        ));
    }
    same_kind(("input", input), ("tau", tau))
}

/// The sizes of reflections whose product is wanted.
pub fn product_of_reflections(input: TensorHandle, tau: TensorHandle) -> Result<Vec<i64>> {
    let name = "linalg.householder_product";
    let (sizes, factors) = (sizes_of(input)?, sizes_of(tau)?);
    if sizes.len() < 2 {
        return refused(format!("{name}: input must have at least 2 dimensions."));
    }
    let (_, [rows, columns]) = split(&sizes);
    if rows < columns {
        return refused(format!(
            "{name}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        ));
    }
    if factors.last().is_some_and(|count| *count > columns) {
        return refused(format!(
            "{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        ));
    }
    check_factors(name, (input, &sizes), (tau, &factors))?;
    Ok(sizes)
}

/// The sizes of LU factors that are unpacked.
pub fn packed(lu: TensorHandle, pivots: TensorHandle, unpacks_pivots: bool) -> Result<Vec<i64>> {
    let sizes = sizes_of(lu)?;
    if sizes.len() < 2 {
        return refused(format!(
            "lu_unpack: Expected tensor with 2 or more dimensions. Got size: {sizes:?} instead"
        ));
    }
    if !unpacks_pivots {
        return Ok(sizes);
    }
    if dtype_of_tensor(pivots)? != api::SCONCE_DTYPE_I32 {
        return refused(
            "lu_unpack: LU_pivots is expected to be a contiguous tensor of int32.\nNote: this \
             function is intended to be used with the output produced by linalg.lu_factor"
                .to_owned(),
        );
    }
    check_device("LU_pivots", device_of_tensor(pivots)?, device_of_tensor(lu)?)?;
    let (batch, [rows, columns]) = split(&sizes);
    let expected = [batch, &[rows.min(columns)]].concat();
    let found = sizes_of(pivots)?;
    if found != expected {
        return refused(format!(
            "lu_unpack: LU_pivots has sizes {found:?}, but those of LU_data, {sizes:?}, need {expected:?}"
        ));
    }
    Ok(sizes)
}

/// Refuses pivots on the CPU that are no rows.
pub fn pivots(pivots: &Tensor, rows: i64) -> Result<()> {
    let all = operations::whole_numbers(pivots.handle())?;
    if all.into_iter().any(|row| !(1..=rows).contains(&i64::from(row))) {
        return refused(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result \
             of lu_factor?"
                .to_owned(),
        );
    }
    Ok(())
}

/// Fails for the first matrix of a batch that could not be factored. The host waits for a device.
pub fn factored(name: &str, info: &Tensor) -> Result<()> {
    let all = operations::whole_numbers(info.handle())?;
    let Some((entry, number)) = all.into_iter().enumerate().find(|(_, number)| *number != 0) else {
        return Ok(());
    };
    let which = match rank_of(info.handle())? {
        0 => String::new(),
        _ => format!("(Batch element {entry}): "),
    };
    let why = match name {
        "linalg.cholesky" | "linalg.cholesky_ex" => format!(
            "The factorization could not be completed because the input is not positive-definite (the leading minor \
             of order {number} is not positive-definite)."
        ),
        "linalg.inv" | "linalg.inv_ex" => format!(
            "The diagonal element {number} is zero, the inversion could not be completed because the input matrix is \
             singular."
        ),
        "linalg.lu_factor" | "linalg.lu_factor_ex" => format!(
            "U[{number},{number}] is zero and using it on lu_solve would result in a division by zero. If you still \
             want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        ),
        "linalg.ldl_factor" | "linalg.ldl_factor_ex" => format!(
            "D[{number},{number}] is zero, so that ldl_solve would divide by zero. If you want the factors all the same, \
             call linalg.ldl_factor_ex(A) without check_errors"
        ),
        _ => "The solver failed because the input matrix is singular.".to_owned(),
    };
    Err(Error::new(api::SCONCE_ERROR_INVALID_ARGUMENT, format!("{name}: {which}{why}")))
}
