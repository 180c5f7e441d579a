//! Gradients of distances.

use super::{MOST_AT_ONCE, Rows};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::tensors::name_of;
use crate::sconce::operations::{Operand, binary, choose, reduce, unary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options};
use crate::sconce::{Tensor, api, operations};

/// `_cdist_backward(grad, x1, x2, p, cdist)`: the gradient of the rows of `x1`.
pub fn of_between(
    gradient: TensorHandle,
    [first, second]: [TensorHandle; 2],
    p: f64,
    distances: TensorHandle,
) -> Result<Tensor> {
    let Rows { sizes: batch, rows, other_rows, width, dtype } = Rows::of(first, second, p)?;
    let of_pairs = [&batch[..], &[rows, other_rows]].concat();
    for (name, tensor) in [("grad", gradient), ("cdist", distances)] {
        if sizes_of(tensor)? != of_pairs || dtype_of_tensor(tensor)? != dtype {
            return Err(Error::invalid_argument(format!(
                "{name} has the sizes {:?} of {}; it needs {of_pairs:?} of {}",
                sizes_of(tensor)?,
                name_of(dtype_of_tensor(tensor)?),
                name_of(dtype)
            )));
        }
    }
    let sizes = [&batch[..], &[rows, width]].concat();
    if sizes.contains(&0) || other_rows == 0 || p == 0.0 {
        return operations::full(&sizes, &integer(0), &options(dtype, device_of_tensor(first)?));
    }
    let first = operations::unsqueeze(first, -2)?;
    let second = operations::unsqueeze(second, -3)?;
    let gradient = operations::unsqueeze(gradient, -1)?;
    let distances = operations::unsqueeze(distances, -1)?;
    let batches: i64 = batch.iter().product();
    let at_once = (MOST_AT_ONCE / (batches * other_rows * width)).clamp(1, rows);
    let mut parts = Vec::new();
    let mut begin = 0;
    while begin < rows {
        let count = at_once.min(rows - begin);
        let some = |tensor: &Tensor| operations::narrow(tensor.handle(), -3, begin, count);
        let difference = binary(api::SCONCE_BINARY_SUB, &some(&first)?, Operand::Tensor(&second))?;
        let shares = shares(&difference, &some(&distances)?, p)?;
        let shares = binary(api::SCONCE_BINARY_MUL, &shares, Operand::Tensor(&some(&gradient)?))?;
        let (sum, same) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_DEFAULT);
        parts.push(reduce(sum, shares.handle(), &[-2], false, same)?);
        begin += count;
    }
    let handles: Vec<TensorHandle> = parts.iter().map(Tensor::handle).collect();
    operations::cat(&handles, -2)
}

/// By how much a distance grows with each element of the difference. 0 where it has no derivative: between equal rows,
/// and of equal elements if `p` is below 1.
fn shares(difference: &Tensor, distance: &Tensor, p: f64) -> Result<Tensor> {
    let is_apart = binary(api::SCONCE_BINARY_NE, distance, Operand::Number(0.0))?;
    let or_nothing = |condition: &Tensor, shares: &Tensor| {
        choose(condition, Operand::Tensor(shares), Operand::Number(0.0))
    };
    if p == 2.0 {
        let shares = binary(api::SCONCE_BINARY_DIV, difference, Operand::Tensor(distance))?;
        return or_nothing(&is_apart, &shares);
    }
    let sign = unary(api::SCONCE_UNARY_SIGN, difference)?;
    if p == 1.0 {
        return Ok(sign);
    }
    let size = unary(api::SCONCE_UNARY_ABS, difference)?;
    if p.is_infinite() {
        let is_largest = binary(api::SCONCE_BINARY_EQ, &size, Operand::Tensor(distance))?;
        return or_nothing(&is_largest, &sign);
    }
    let power = |tensor: &Tensor| binary(api::SCONCE_BINARY_POW, tensor, Operand::Number(p - 1.0));
    let shares =
        binary(api::SCONCE_BINARY_DIV, &power(&size)?, Operand::Tensor(&power(distance)?))?;
    let shares = binary(api::SCONCE_BINARY_MUL, &shares, Operand::Tensor(&sign))?;
    let shares = or_nothing(&is_apart, &shares)?;
    if p > 1.0 {
        return Ok(shares);
    }
    // The power of 0 is an infinity here.
    let differs = binary(api::SCONCE_BINARY_NE, difference, Operand::Number(0.0))?;
    or_nothing(&differs, &shares)
}

/// `_pdist_backward(grad, self, p, pdist)`: that of the distances of all pairs, of which each counts for both rows.
pub fn of_within(
    gradient: TensorHandle,
    tensor: TensorHandle,
    p: f64,
    distances: TensorHandle,
) -> Result<Tensor> {
    let sizes = sizes_of(tensor)?;
    let [rows, _] = sizes[..] else {
        return Err(Error::invalid_argument(format!(
            "pdist only supports 2D tensors, got: {}D",
            sizes.len()
        )));
    };
    let pairs = rows * (rows - 1) / 2;
    for (name, tensor) in [("grad", gradient), ("pdist", distances)] {
        if sizes_of(tensor)? != [pairs] {
            return Err(Error::invalid_argument(format!(
                "{name} has the sizes {:?}; it needs an entry for each of {pairs} pairs",
                sizes_of(tensor)?
            )));
        }
    }
    // The place of a pair in the list, and behind the list that of a row and itself.
    let place = |row: i64, other: i64| match row == other {
        true => pairs,
        false => {
            let (low, high) = (row.min(other), row.max(other));
            low * (2 * rows - low - 1) / 2 + high - low - 1
        }
    };
    let places: Vec<i64> = (0..rows)
        .flat_map(|row| (0..rows).map(move |other| (row, other)))
        .map(|(row, other)| place(row, other))
        .collect();
    let device = device_of_tensor(tensor)?;
    let places = operations::from_values(&places, &options(api::SCONCE_DTYPE_I64, device))?;
    let of_all = |list: TensorHandle| -> Result<Tensor> {
        let own = operations::full(&[1], &integer(0), &options(dtype_of_tensor(list)?, device))?;
        let list = operations::cat(&[list, own.handle()], 0)?;
        let all = operations::index_select(list.handle(), 0, places.handle())?;
        operations::reshape(all.handle(), &[rows, rows])
    };
    let (gradient, distances) = (of_all(gradient)?, of_all(distances)?);
    of_between(gradient.handle(), [tensor, tensor], p, distances.handle())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::{between, within};
    use super::*;
    use crate::testing::{Cases, Dense};

    const F64: i32 = api::SCONCE_DTYPE_F64;

    /// The sum of products of two tensors, after a small step of one element of the rows.
    fn change(rows: &Dense, at: usize, value: impl Fn(&Dense) -> f64) -> f64 {
        const STEP: f64 = 1e-6;
        let moved = |by: f64| {
            let mut moved = Dense { sizes: rows.sizes.clone(), values: rows.values.clone() };
            moved.values[at] += by;
            value(&moved)
        };
        (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
    }

    fn dot(one: &Tensor, other: &Tensor) -> f64 {
        let product = binary(api::SCONCE_BINARY_MUL, one, Operand::Tensor(other)).unwrap();
        let sum = reduce(api::SCONCE_REDUCE_SUM, product.handle(), &[], false, F64).unwrap();
        operations::item(sum.handle()).unwrap().real
    }

    #[test]
    fn gradients_are_the_slopes_of_the_distances() {
        let mut cases = Cases::new(23);
        for round in 0..30 {
            let (rows, others, width) = (cases.int(2, 4), cases.int(1, 4), cases.int(1, 3));
            let p = [1.0, 1.5, 2.0, 3.0, f64::INFINITY][round % 5];
            // Without equal differences, at which a distance has no slope.
            let mut odd = |sizes: &[i64]| {
                let mut number = 0.0;
                Dense::build(sizes, |_| {
                    number += 1.0;
                    cases.int(-8, 8) as f64 + 0.013 * number * number
                })
            };
            let (a, b) = (odd(&[rows, width]), odd(&[others, width]));
            let (weights, of_pairs) = (odd(&[rows, others]), odd(&[rows * (rows - 1) / 2]));
            let (x, y) = (a.tensor(F64), b.tensor(F64));
            let (weights, of_pairs) = (weights.tensor(F64), of_pairs.tensor(F64));
            let distances = between(x.handle(), y.handle(), p).unwrap();
            let found =
                of_between(weights.handle(), [x.handle(), y.handle()], p, distances.handle());
            let slope = |at| {
                change(&a, at, |rows| {
                    dot(&between(rows.tensor(F64).handle(), y.handle(), p).unwrap(), &weights)
                })
            };
            let values = (0..a.values.len()).map(slope).collect();
            Dense { sizes: a.sizes.clone(), values }.assert_near(
                found.unwrap().handle(),
                1e-5,
                "of cdist",
            );
            let distances = within(x.handle(), p).unwrap();
            let found = of_within(of_pairs.handle(), x.handle(), p, distances.handle());
            let slope = |at| {
                change(&a, at, |rows| {
                    dot(&within(rows.tensor(F64).handle(), p).unwrap(), &of_pairs)
                })
            };
            let values = (0..a.values.len()).map(slope).collect();
            Dense { sizes: a.sizes.clone(), values }.assert_near(
                found.unwrap().handle(),
                1e-5,
                "of pdist",
            );
        }
    }

    #[test]
    fn equal_rows_have_no_gradient() {
        for p in [0.0, 0.5, 1.0, 2.0, 3.0, f64::INFINITY] {
            let x = Dense::build(&[2, 3], |_| 1.0).tensor(F64);
            let ones = Dense::build(&[2, 2], |_| 1.0).tensor(F64);
            let distances = between(x.handle(), x.handle(), p).unwrap();
            let found = of_between(ones.handle(), [x.handle(), x.handle()], p, distances.handle());
            Dense::build(&[2, 3], |_| 0.0).assert_near(
                found.unwrap().handle(),
                0.0,
                "of equal rows",
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let x = Dense::build(&[3, 2], |_| 1.0).tensor(F64);
        let refused = |made: Result<Tensor>, words: &str| {
            let error = made.err().unwrap();
            assert!(error.message.contains(words), "{}", error.message);
        };
        let both = [x.handle(), x.handle()];
        refused(of_between(x.handle(), both, 2.0, x.handle()), "it needs [3, 3] of float64");
        refused(of_within(x.handle(), x.handle(), 2.0, x.handle()), "each of 3 pairs");
    }
}
