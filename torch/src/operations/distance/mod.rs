//! Distances between rows and their gradients, made of operations on elements and sums.

mod gradients;

pub use gradients::{of_between, of_within};

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::layout::broadcast;
use crate::operations::tensors::refused_type;
use crate::sconce::operations::{Operand, binary, reduce, unary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options};
use crate::sconce::{Tensor, api, operations};

/// Elements of differences that are in memory at once.
const MOST_AT_ONCE: i64 = 1 << 24;

/// `_cdist_forward(x1, x2, p)`: the p-norm of the difference of each row of the first and each row of the second.
/// `compute_mode` chooses how PyTorch computes it, and not what; here it is always the norm of differences.
pub fn between(first: TensorHandle, second: TensorHandle, p: f64) -> Result<Tensor> {
    let Rows { mut sizes, rows, other_rows, width, dtype } = Rows::of(first, second, p)?;
    let batches: i64 = sizes.iter().product();
    sizes.extend([rows, other_rows]);
    if sizes.contains(&0) || width == 0 {
        return operations::full(&sizes, &integer(0), &options(dtype, device_of_tensor(first)?));
    }
    let first = operations::unsqueeze(first, -2)?;
    let second = operations::unsqueeze(second, -3)?;
    let at_once = (MOST_AT_ONCE / (batches * other_rows * width)).clamp(1, rows);
    let mut parts = Vec::new();
    let mut begin = 0;
    while begin < rows {
        let count = at_once.min(rows - begin);
        let some = operations::narrow(first.handle(), -3, begin, count)?;
        let difference = binary(api::SCONCE_BINARY_SUB, &some, Operand::Tensor(&second))?;
        parts.push(norm(&difference, p, dtype)?);
        begin += count;
    }
    let handles: Vec<TensorHandle> = parts.iter().map(Tensor::handle).collect();
    operations::cat(&handles, -2)
}

/// Two tensors of rows that have as many columns.
struct Rows {
    /// The batches of both, repeated to fit each other.
    sizes: Vec<i64>,
    rows: i64,
    other_rows: i64,
    width: i64,
    dtype: i32,
}

impl Rows {
    fn of(first: TensorHandle, second: TensorHandle, p: f64) -> Result<Rows> {
        let (one, other) = (sizes_of(first)?.to_vec(), sizes_of(second)?.to_vec());
        let dtype = dtype_of_tensor(first)?;
        let is_real = [api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64].contains(&dtype);
        if !is_real || dtype != dtype_of_tensor(second)? {
            return Err(refused_type(if is_real { dtype_of_tensor(second)? } else { dtype }));
        }
        if p.is_nan() || p < 0.0 {
            return Err(Error::invalid_argument(format!("p is {p}; it must not be negative")));
        }
        let (Some((&width, rows)), Some((&other_width, other_rows))) =
            (one.split_last(), other.split_last())
        else {
            return Err(too_few());
        };
        let (Some((&rows, batch)), Some((&other_rows, other_batch))) =
            (rows.split_last(), other_rows.split_last())
        else {
            return Err(too_few());
        };
        if width != other_width {
            return Err(Error::invalid_argument(format!(
                "X1 and X2 must have the same number of columns. X1: {width} X2: {other_width}"
            )));
        }
        Ok(Rows { sizes: broadcast(&[batch, other_batch])?, rows, other_rows, width, dtype })
    }
}

fn too_few() -> Error {
    Error::invalid_argument("X1 and X2 must have at least two dimensions: rows of numbers")
}

/// The p-norm along the last dimension.
fn norm(difference: &Tensor, p: f64, dtype: i32) -> Result<Tensor> {
    let along =
        |operation, tensor: &Tensor| reduce(operation, tensor.handle(), &[-1], false, dtype);
    let sum = |tensor: &Tensor| along(api::SCONCE_REDUCE_SUM, tensor);
    if p == 2.0 {
        let squares = binary(api::SCONCE_BINARY_MUL, difference, Operand::Tensor(difference))?;
        return unary(api::SCONCE_UNARY_SQRT, &sum(&squares)?);
    }
    if p == 0.0 {
        return sum(&binary(api::SCONCE_BINARY_NE, difference, Operand::Number(0.0))?);
    }
    let size = unary(api::SCONCE_UNARY_ABS, difference)?;
    if p == 1.0 {
        return sum(&size);
    }
    if p.is_infinite() {
        return reduce(
            api::SCONCE_REDUCE_AMAX,
            size.handle(),
            &[-1],
            false,
            api::SCONCE_DTYPE_DEFAULT,
        );
    }
    let powers = sum(&binary(api::SCONCE_BINARY_POW, &size, Operand::Number(p))?)?;
    binary(api::SCONCE_BINARY_POW, &powers, Operand::Number(1.0 / p))
}

/// `_pdist_forward(self, p)`: the distances of each row to those behind it, one after the other.
pub fn within(tensor: TensorHandle, p: f64) -> Result<Tensor> {
    let sizes = sizes_of(tensor)?.to_vec();
    let [rows, _] = sizes[..] else {
        return Err(Error::invalid_argument(format!(
            "pdist only supports 2D tensors, got: {}D",
            sizes.len()
        )));
    };
    let all = between(tensor, tensor, p)?;
    let places: Vec<i64> =
        (0..rows).flat_map(|row| (row + 1..rows).map(move |other| row * rows + other)).collect();
    let integers = options(api::SCONCE_DTYPE_I64, device_of_tensor(tensor)?);
    let places = operations::from_values(&places, &integers)?;
    let flat = operations::reshape(all.handle(), &[rows * rows])?;
    operations::index_select(flat.handle(), 0, places.handle())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::testing::{Cases, Dense};

    /// The distance of two rows in the plainest terms.
    fn plain(a: &[f64], b: &[f64], p: f64) -> f64 {
        let sizes = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        if p == 0.0 {
            sizes.filter(|size| *size != 0.0).count() as f64
        } else if p.is_infinite() {
            sizes.fold(0.0, f64::max)
        } else {
            sizes.map(|size| size.powf(p)).sum::<f64>().powf(1.0 / p)
        }
    }

    #[test]
    fn distances_agree_with_a_loop() {
        let mut cases = Cases::new(5);
        for _ in 0..40 {
            let (rows, others, width) = (cases.int(1, 5), cases.int(1, 5), cases.int(0, 4));
            let p = cases.one(&[0.0, 0.5, 1.0, 2.0, 3.0, f64::INFINITY]);
            let a = Dense::quarters(&mut cases, &[2, rows, width]);
            let b = Dense::quarters(&mut cases, &[others, width]);
            let (x, y) = (a.tensor(api::SCONCE_DTYPE_F64), b.tensor(api::SCONCE_DTYPE_F64));
            let row = |of: &Dense, index: &[i64]| -> Vec<f64> {
                (0..width).map(|at| of.at(&[index, &[at]].concat())).collect()
            };
            let found = between(x.handle(), y.handle(), p).unwrap();
            let expected = Dense::build(&[2, rows, others], |at| {
                if width == 0 { 0.0 } else { plain(&row(&a, &at[..2]), &row(&b, &at[2..]), p) }
            });
            expected.assert_near(found.handle(), 1e-12, "cdist");
            let found = within(y.handle(), p).unwrap();
            let mut pairs = Vec::new();
            for i in 0..others {
                for j in i + 1..others {
                    pairs.push(if width == 0 {
                        0.0
                    } else {
                        plain(&row(&b, &[i]), &row(&b, &[j]), p)
                    });
                }
            }
            let expected = Dense { sizes: vec![pairs.len() as i64], values: pairs };
            expected.assert_near(found.handle(), 1e-12, "pdist");
        }
    }

    #[test]
    fn what_has_no_distances_is_refused() {
        let rows = |sizes: &[i64], dtype| Dense::build(sizes, |_| 1.0).tensor(dtype);
        let (double, whole) = (api::SCONCE_DTYPE_F64, api::SCONCE_DTYPE_I64);
        let (x, y) = (rows(&[2, 3], double), rows(&[2, 4], double));
        let refused = |one: &Tensor, other: &Tensor, p: f64, words: &str| {
            let error = between(one.handle(), other.handle(), p).unwrap_err();
            assert!(error.message.contains(words), "{}", error.message);
        };
        refused(&x, &y, 2.0, "same number of columns");
        refused(&x, &x, -1.0, "p is -1");
        refused(&rows(&[3], double), &x, 2.0, "two dimensions");
        refused(&rows(&[2, 3], whole), &x, 2.0, "int64");
        assert!(within(rows(&[3], double).handle(), 2.0).unwrap_err().message.contains("2D"));
    }
}
