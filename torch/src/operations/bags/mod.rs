//! Embeddings of bags: the sum, the mean or the largest elements of rows of a table, bag by bag. Made of reads of rows
//! and of elements that are combined at the index of their bag.
//!
//! | file | idea |
//! |---|---|
//! | `embed` | the rows of the bags |
//! | `gradients` | gradients of the table and of the factors |

mod embed;
mod gradients;
#[cfg(test)]
mod tests;

pub use embed::{Bagged, Bags};
pub use gradients::{Gradient, of_factors};

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::scatter_reduce;
use crate::operations::layout::sum_of;
use crate::operations::search::{Search, search_sorted};
use crate::operations::tensors::{check_floating, filled, name_of};
use crate::sconce::operations::{Operand, binary, choose};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

/// What becomes of the rows of a bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BagMode {
    /// Their sum.
    Sum,
    /// Their mean, 0 if there are none.
    Mean,
    /// The largest element of each column, 0 if there are no rows.
    Max,
}

impl BagMode {
    /// The mode of a number of PyTorch's.
    pub fn new(number: i64) -> Result<BagMode> {
        match number {
            0 => Ok(BagMode::Sum),
            1 => Ok(BagMode::Mean),
            2 => Ok(BagMode::Max),
            other => Err(Error::invalid_argument(format!(
                "mode is {other}; the modes are 0 (sum), 1 (mean) and 2 (max)"
            ))),
        }
    }
}

/// The sizes of a vector of indices, whose name is for messages.
fn length_of(tensor: TensorHandle, name: &str) -> Result<i64> {
    let dtype = dtype_of_tensor(tensor)?;
    if ![api::SCONCE_DTYPE_I64, api::SCONCE_DTYPE_I32].contains(&dtype) {
        return Err(Error::invalid_argument(format!(
            "expected {name} to be of int64 or int32, got {}",
            name_of(dtype)
        )));
    }
    match sizes_of(tensor)?[..] {
        [length] => Ok(length),
        ref sizes => Err(Error::invalid_argument(format!(
            "{name} has to be a 1D tensor, but got one with the sizes {sizes:?}"
        ))),
    }
}

/// The rows and columns of a table, or of gradients of rows.
fn matrix_of(tensor: TensorHandle, name: &str) -> Result<[i64; 2]> {
    check_floating(dtype_of_tensor(tensor)?)?;
    match sizes_of(tensor)?[..] {
        [rows, columns] => Ok([rows, columns]),
        ref sizes => Err(Error::invalid_argument(format!(
            "{name} has to be a 2D tensor, but got one with the sizes {sizes:?}"
        ))),
    }
}

fn check_factors(factors: TensorHandle, mode: BagMode, dtype: i32, count: i64) -> Result<()> {
    if mode != BagMode::Sum {
        return Err(Error::invalid_argument(
            "embedding_bag: per_sample_weights only supported with mode='sum'",
        ));
    }
    if dtype_of_tensor(factors)? != dtype {
        return Err(Error::invalid_argument(format!(
            "expected per_sample_weights to be of {} as the weight, got {}",
            name_of(dtype),
            name_of(dtype_of_tensor(factors)?)
        )));
    }
    if sizes_of(factors)?[..] != [count] {
        return Err(Error::invalid_argument(format!(
            "expected per_sample_weights to have the sizes of the indices, [{count}], but got {:?}",
            sizes_of(factors)?
        )));
    }
    Ok(())
}

/// A vector as a column that is repeated.
fn as_columns(vector: &Tensor, columns: i64) -> Result<Tensor> {
    let length = sizes_of(vector.handle())?.iter().product();
    let column = operations::reshape(vector.handle(), &[length, 1])?;
    operations::expand(column.handle(), &[length, columns])
}

/// Where each index goes: its bag, or a place behind all bags if it does not count.
fn places(bag_of_index: &Tensor, indices: &Tensor, padding: i64, bags: i64) -> Result<Tensor> {
    if padding < 0 {
        return Tensor::retained(bag_of_index.handle());
    }
    let is_padding = binary(api::SCONCE_BINARY_EQ, indices, Operand::Whole(padding))?;
    choose(&is_padding, Operand::Whole(bags), Operand::Tensor(bag_of_index))
}

/// `values` combined at places of a new tensor with one row more than `rows`, which is left out.
fn combined(rows: i64, [places, values]: [&Tensor; 2], how: &str, nothing: f64) -> Result<Tensor> {
    let (dtype, device) = (dtype_of_tensor(values.handle())?, device_of_tensor(values.handle())?);
    let mut sizes = sizes_of(values.handle())?.to_vec();
    sizes[0] = sum_of(rows, 1, "the number of rows")?;
    let all = filled(&sizes, dtype, device, nothing)?;
    let at = all.handle();
    let is_sum = how == "sum";
    scatter_reduce(at, at, [places.handle(), values.handle()], 0, how, is_sum)?;
    operations::narrow(at, 0, 0, rows)
}

/// The bag of each of `count` indices, in int64: the last that begins no later.
fn bags_of_indices(offsets: TensorHandle, bags: i64, count: i64) -> Result<Tensor> {
    let (wide, device) = (api::SCONCE_DTYPE_I64, device_of_tensor(offsets)?);
    if bags == 0 || count == 0 {
        // Without bags every index is behind all of them.
        return filled(&[count], wide, device, 0.0);
    }
    let begins = operations::to_dtype(operations::narrow(offsets, 0, 0, bags)?.handle(), wide)?;
    let numbers = operations::arange(0, count, 1, &options(wide, device))?;
    let search = Search { right: true, narrow: false };
    let found = search_sorted(begins.handle(), numbers.handle(), None, search)?;
    binary(api::SCONCE_BINARY_SUB, &found, Operand::Whole(1))
}
