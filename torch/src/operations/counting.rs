//! Histograms.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of};
use crate::error::{Error, Result};
use crate::operations::indexed::scatter_reduce;
use crate::operations::tensors::filled;
use crate::sconce::operations::{self, Operand};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// The smallest and the largest element, which the host waits for.
fn range_of(flat: &Tensor) -> Result<(f64, f64)> {
    let value = |operation| {
        let reduced = operations::reduce_last(operation, flat)?;
        operations::item(operations::to_dtype(reduced.handle(), api::SCONCE_DTYPE_F64)?.handle())
    };
    Ok((value(api::SCONCE_REDUCE_AMIN)?.real, value(api::SCONCE_REDUCE_AMAX)?.real))
}

/// `histc(self, bins, min, max)`: how many elements are in each of the bins; the range is that of the elements if
/// `min` and `max` are equal. What is outside of it, and NaN, is not counted.
pub fn histc(tensor: TensorHandle, bins: i64, min: f64, max: f64) -> Result<Tensor> {
    let (dtype, device) = (dtype_of_tensor(tensor)?, device_of_tensor(tensor)?);
    if bins <= 0 {
        return Err(Error::invalid_argument("bins must be > 0"));
    }
    let count = numel_of(tensor)?;
    let flat = operations::reshape(tensor, &[count])?;
    let (mut min, mut max) = (min, max);
    if min == max && count != 0 {
        (min, max) = range_of(&flat)?;
    }
    if min == max {
        (min, max) = (min - 1.0, max + 1.0);
    }
    if !(min.is_finite() && max.is_finite()) {
        return Err(Error::invalid_argument(format!("range of [{min}, {max}] is not finite")));
    }
    if min > max {
        return Err(Error::invalid_argument("max must be larger than min"));
    }
    // One bin more takes what is not counted.
    let counts = filled(&[bins + 1], dtype, device, 0.0)?;
    if count != 0 {
        let is_double =
            matches!(dtype, api::SCONCE_DTYPE_F64 | api::SCONCE_DTYPE_I64 | api::SCONCE_DTYPE_I32);
        let wide = if is_double { api::SCONCE_DTYPE_F64 } else { api::SCONCE_DTYPE_F32 };
        let index = bins_of(&operations::to_dtype(flat.handle(), wide)?, bins, min, max)?;
        let ones = operations::expand(filled(&[1], dtype, device, 1.0)?.handle(), &[count])?;
        let pair = [index.handle(), ones.handle()];
        scatter_reduce(counts.handle(), counts.handle(), pair, 0, "sum", true)?;
    }
    operations::contiguous_copy(operations::narrow(counts.handle(), 0, 0, bins)?.handle())
}

/// The bin of each element; `bins` for those outside of the range.
fn bins_of(values: &Tensor, bins: i64, min: f64, max: f64) -> Result<Tensor> {
    let number = |operation, tensor: &Tensor, number| {
        operations::binary(operation, tensor, Operand::Number(number))
    };
    let is_in = operations::binary(
        api::SCONCE_BINARY_BITWISE_AND,
        &number(api::SCONCE_BINARY_GE, values, min)?,
        Operand::Tensor(&number(api::SCONCE_BINARY_LE, values, max)?),
    )?;
    let above = number(api::SCONCE_BINARY_SUB, values, min)?;
    let scaled = number(api::SCONCE_BINARY_MUL, &above, bins as f64)?;
    let place = number(api::SCONCE_BINARY_DIV, &scaled, max - min)?;
    // The largest element belongs to the last bin.
    let place = number(api::SCONCE_BINARY_MINIMUM, &place, (bins - 1) as f64)?;
    let place = operations::choose(&is_in, Operand::Tensor(&place), Operand::Number(bins as f64))?;
    operations::to_dtype(place.handle(), api::SCONCE_DTYPE_I64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::operations::testing::{Random, content, scattered_tensor, tensor};

    #[test]
    fn elements_are_counted_in_their_bins() {
        let random = &mut Random(7);
        for round in 0..40 {
            let sizes = random.sizes(2, 8);
            let all = random.values(sizes.iter().product(), 40);
            let dtype = [api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64][round % 2];
            let own = scattered_tensor(&sizes, dtype, &all, random);
            let found = histc(own.handle(), 5, 5.0, 30.0).unwrap();
            let mut expected = vec![0.0; 5];
            for value in all.iter().filter(|value| (5.0..=30.0).contains(*value)) {
                expected[(((value - 5.0) / 5.0) as usize).min(4)] += 1.0;
            }
            assert_eq!(content(&found), (vec![5], expected), "round {round}");
        }
    }

    #[test]
    fn equal_limits_are_those_of_the_elements_and_nan_is_not_counted() {
        let counts = |all: &[f64], min, max| {
            let own = tensor(&[all.len() as i64], 0, all);
            content(&histc(own.handle(), 2, min, max).unwrap()).1
        };
        assert_eq!(counts(&[1.0, 2.0, 5.0], 0.0, 0.0), [2.0, 1.0]);
        assert_eq!(counts(&[3.0, 3.0], 0.0, 0.0), [0.0, 2.0]);
        assert_eq!(counts(&[], 0.0, 0.0), [0.0, 0.0]);
        assert_eq!(counts(&[f64::NAN, 0.5, 9.0], 0.0, 1.0), [0.0, 1.0]);
    }

    #[test]
    fn wrong_limits_are_refused_with_words() {
        let own = tensor(&[1], 0, &[f64::NAN]);
        let refusal = |bins, min, max| histc(own.handle(), bins, min, max).unwrap_err().message;
        assert_eq!(refusal(0, 0.0, 1.0), "bins must be > 0");
        assert_eq!(refusal(2, 1.0, 0.0), "max must be larger than min");
        assert!(refusal(2, 0.0, 0.0).contains("is not finite"));
    }
}
