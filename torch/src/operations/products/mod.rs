//! Products of matrices that are made of conversions, products and operations on elements of libsconce.so, so that they
//! run wherever these do.
//!
//! | file | idea |
//! |---|---|
//! | `added` | products that are added to a tensor, with any factors |
//! | `whole` | products of 8-bit integers on the CPU |
//! | `widened` | products of integers, and of 16-bit numbers into float32, without a rounding in between |
//! | `scaled` | products of 8-bit floating-point numbers with scales |
//! | `blocks` | products of small blocks of matrices in memory |
//! | `grouped` | products of groups of matrices |
//! | `experts` | products of groups of rows, as transformers calls them |
//! | `scaled_grouped` | the same of 8-bit floating-point numbers with scales |
//! | `weights` | products with weights of 8 bits |
//! | `few_bytes` | the same for few rows on the CPU, without converted weights in memory |

pub mod added;
pub mod blocks;
pub mod experts;
pub mod few_bytes;
pub mod grouped;
pub mod scaled;
pub mod scaled_grouped;
pub mod weights;
pub mod whole;
pub mod widened;

use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, operations};

/// The two sizes of a matrix, whose name begins the text if it is none.
fn matrix_sizes(name: &str, tensor: TensorHandle) -> Result<[i64; 2]> {
    <[i64; 2]>::try_from(sizes_of(tensor)?)
        .map_err(|_| Error::invalid_argument(format!("{name} must be a matrix")))
}

/// The sizes of a product: rows, the inner size, columns.
fn product_sizes(first: TensorHandle, second: TensorHandle) -> Result<[i64; 3]> {
    let [rows, inner] = matrix_sizes("mat1", first)?;
    let [depth, columns] = matrix_sizes("mat2", second)?;
    if inner != depth {
        return Err(Error::invalid_argument(format!(
            "mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {depth}x{columns})"
        )));
    }
    Ok([rows, inner, columns])
}

/// Writes a result to a tensor of the caller, which gets its sizes first.
fn write_result(out: TensorHandle, result: &Tensor) -> Result<()> {
    let sizes = sizes_of(result.handle())?;
    if sizes_of(out)? != sizes {
        operations::resize(out, &sizes)?;
    }
    operations::copy(&Tensor::retained(out)?, result.handle())
}

/// Refuses another type than the wanted one.
pub fn check_type(name: &str, tensor: TensorHandle, wanted: i32) -> Result<()> {
    let dtype = dtype_of_tensor(tensor)?;
    if dtype == wanted {
        return Ok(());
    }
    let name_of = crate::operations::tensors::name_of;
    Err(Error::invalid_argument(format!(
        "Expected {name} dtype to be of type {} but got {}",
        name_of(wanted),
        name_of(dtype)
    )))
}
