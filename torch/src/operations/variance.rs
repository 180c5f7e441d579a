//! Variances of dimensions, of real and complex numbers.

use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::layout::dimension;
use crate::operations::tensors::is_floating;
use crate::operations::views::{as_real, real_of};
use crate::sconce::operations::{Operand, binary, reduce, to_dtype, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// A variance, and the mean.
pub struct Variance {
    /// The mean of squared distances from the mean. It is real.
    pub variance: Tensor,
    /// The mean, in the tensor's type.
    pub mean: Tensor,
}

/// `var_mean.correction(self, dim, correction, keepdim)`. Without dimensions it is that of all. The sum of the squares
/// is divided by the number of elements, less `correction`, or by 0 if that is larger.
pub fn variance(
    tensor: TensorHandle,
    dims: &[i64],
    correction: f64,
    keep: bool,
) -> Result<Variance> {
    let dtype = dtype_of_tensor(tensor)?;
    let parts = real_of(dtype);
    if parts.is_none() && !is_floating(dtype) {
        return Err(Error::invalid_argument(
            "std and var only support floating point and complex dtypes",
        ));
    }
    let sizes = sizes_of(tensor)?;
    let mut places =
        dims.iter().map(|&dim| dimension(dim, sizes.len())).collect::<Result<Vec<_>>>()?;
    let mut sorted = places.clone();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::invalid_argument(format!(
            "dim {} appears multiple times in the list of dims",
            pair[0]
        )));
    }
    if places.is_empty() {
        places = (0..sizes.len()).collect();
    }
    let count: i64 = places.iter().filter_map(|&place| sizes.get(place)).product();
    let places: Vec<i64> = places.into_iter().map(|place| place as i64).collect();
    let same = api::SCONCE_DTYPE_DEFAULT;
    let wide = widened(tensor)?;
    // A tensor without dimensions has none to name.
    let over = |operation, tensor: &Tensor, keep| match sizes.len() {
        0 => Tensor::retained(tensor.handle()),
        _ => reduce(operation, tensor.handle(), &places, keep, same),
    };
    let center = over(api::SCONCE_REDUCE_MEAN, &wide, true)?;
    let apart = binary(api::SCONCE_BINARY_SUB, &wide, Operand::Tensor(&center))?;
    // The square of a complex number's distance is the sum of its parts' squares.
    let apart = if parts.is_some() { as_real(apart.handle())? } else { apart };
    let mut squares = binary(api::SCONCE_BINARY_MUL, &apart, Operand::Tensor(&apart))?;
    if parts.is_some() {
        squares = reduce(api::SCONCE_REDUCE_SUM, squares.handle(), &[-1], false, same)?;
    }
    let sum = over(api::SCONCE_REDUCE_SUM, &squares, keep)?;
    let divisor = Operand::Number((count as f64 - correction).max(0.0));
    let variance = binary(api::SCONCE_BINARY_DIV, &sum, divisor)?;
    let variance = to_dtype(variance.handle(), parts.unwrap_or(dtype))?;
    let mean = if keep { center } else { over(api::SCONCE_REDUCE_MEAN, &wide, false)? };
    Ok(Variance { variance, mean: to_dtype(mean.handle(), dtype)? })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::operations::views::as_complex;
    use crate::testing::{Cases, Dense};

    /// The variance of each column of parts, and the mean of each part.
    fn plainly(parts: &Dense, correction: f64) -> (Dense, Dense) {
        let [rows, columns, _] = <[i64; 3]>::try_from(parts.sizes.clone()).unwrap();
        let mean = Dense::build(&[columns, 2], |at| {
            (0..rows).map(|row| parts.at(&[row, at[0], at[1]])).sum::<f64>() / rows as f64
        });
        let variance = Dense::build(&[columns], |at| {
            let apart =
                |row, part| (parts.at(&[row, at[0], part]) - mean.at(&[at[0], part])).powi(2);
            let sum: f64 = (0..rows).map(|row| apart(row, 0) + apart(row, 1)).sum();
            sum / (rows as f64 - correction).max(0.0)
        });
        (variance, mean)
    }

    #[test]
    fn variances_are_mean_squares_of_distances() {
        let mut cases = Cases::new(23);
        for turn in 0..20 {
            let parts = Dense::quarters(&mut cases, &[4, 3, 2]);
            let correction = f64::from(turn % 5);
            let (variances, means) = plainly(&parts, correction);
            let given = as_complex(parts.tensor(api::SCONCE_DTYPE_F64).handle()).unwrap();
            let found = variance(given.handle(), &[-2], correction, false).unwrap();
            assert_eq!(dtype_of_tensor(found.variance.handle()).unwrap(), api::SCONCE_DTYPE_F64);
            variances.assert_near(found.variance.handle(), 1e-12, "complex");
            means.assert_near(as_real(found.mean.handle()).unwrap().handle(), 1e-12, "mean");
            // Of real numbers, with a second part of 0.
            let real = Dense::build(&[4, 3], |at| parts.at(&[at[0], at[1], 0]));
            let flat = Dense::build(&[4, 3, 2], |at| match at[2] {
                0 => parts.at(at),
                _ => 0.0,
            });
            let tensor = real.either(&mut cases, api::SCONCE_DTYPE_BF16);
            let found = variance(tensor.handle(), &[0], correction, false).unwrap();
            plainly(&flat, correction).0.assert_near(found.variance.handle(), 1e-2, "real");
            assert_eq!(dtype_of_tensor(found.mean.handle()).unwrap(), api::SCONCE_DTYPE_BF16);
        }
    }

    #[test]
    fn all_dimensions_count_where_none_is_named() {
        let values = Dense { sizes: vec![2, 2], values: vec![1.0, 2.0, 3.0, 6.0] };
        let tensor = values.tensor(api::SCONCE_DTYPE_F32);
        let found = variance(tensor.handle(), &[], 1.0, true).unwrap();
        let expected = Dense { sizes: vec![1, 1], values: vec![14.0 / 3.0] };
        expected.assert_near(found.variance.handle(), 1e-6, "all");
        let alone = Dense { sizes: vec![], values: vec![5.0] }.tensor(api::SCONCE_DTYPE_F32);
        let found = variance(alone.handle(), &[], 0.0, false).unwrap();
        assert_eq!(Dense::of(found.variance.handle()).values, [0.0]);
        let whole = values.tensor(api::SCONCE_DTYPE_I32);
        let why = variance(whole.handle(), &[], 0.0, false).err().unwrap().message;
        assert!(why.contains("only support floating point"), "{why}");
    }
}
