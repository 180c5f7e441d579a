//! Histograms.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::scatter_reduce;
use crate::operations::layout::sum_of;
use crate::operations::search::{Search, search_sorted};
use crate::operations::tensors::{filled, name_of, refused_type};
use crate::sconce::operations::{self, Operand, binary, choose};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// The smallest and the largest element, which the host waits for.
pub fn range_of(flat: &Tensor) -> Result<(f64, f64)> {
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
    let counts = filled(&[sum_of(bins, 1, "bins")?], dtype, device, 0.0)?;
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

/// The edges and how the elements are counted between them: `histogram.bin_ct(self, bins, range, weight, density)`.
pub struct Bins<'a> {
    /// How many bins there are.
    pub bins: i64,
    /// The first and the last edge; the smallest and the largest element if it has no entries.
    pub range: &'a [f64],
    /// What each element counts, 1 if that is not said.
    pub weight: Option<TensorHandle>,
    /// Whether counts are divided so that their sum, times the width of the bins, is 1.
    pub is_density: bool,
}

impl Bins<'_> {
    /// The counts and the edges. A value at an edge belongs to the bin behind it, at the last edge to the last bin;
    /// values outside of the range are not counted.
    pub fn count(&self, tensor: TensorHandle) -> Result<(Tensor, Tensor)> {
        let (dtype, device) = (dtype_of_tensor(tensor)?, device_of_tensor(tensor)?);
        if ![api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64].contains(&dtype) {
            return Err(refused_type(dtype));
        }
        let bins = self.bins;
        if bins <= 0 {
            return Err(Error::invalid_argument(format!(
                "histogram(): bins must be > 0, but got {bins} for dimension 0"
            )));
        }
        let count = numel_of(tensor)?;
        let values = operations::reshape(tensor, &[count])?;
        let weight = match self.weight {
            Some(weight) => self.flat_weight(weight, tensor)?,
            None => operations::expand(filled(&[1], dtype, device, 1.0)?.handle(), &[count])?,
        };
        let (min, max) = self.range(&values)?;
        let Places { place, edges } = places(&values, bins, (min, max))?;
        // One bin more takes what is not counted.
        let counts = filled(&[sum_of(bins, 1, "bins")?], dtype, device, 0.0)?;
        if count != 0 {
            let pair = [place.handle(), weight.handle()];
            scatter_reduce(counts.handle(), counts.handle(), pair, 0, "sum", true)?;
        }
        let counts = operations::narrow(counts.handle(), 0, 0, bins)?;
        if !self.is_density {
            return Ok((operations::contiguous_copy(counts.handle())?, edges));
        }
        let sum = operations::reduce_last(api::SCONCE_REDUCE_SUM, &counts)?;
        let shares = binary(api::SCONCE_BINARY_DIV, &counts, Operand::Tensor(&sum))?;
        let part = |begin| operations::narrow(edges.handle(), 0, begin, bins);
        let widths = binary(api::SCONCE_BINARY_SUB, &part(1)?, Operand::Tensor(&part(0)?))?;
        Ok((binary(api::SCONCE_BINARY_DIV, &shares, Operand::Tensor(&widths))?, edges))
    }

    fn flat_weight(&self, weight: TensorHandle, tensor: TensorHandle) -> Result<Tensor> {
        if dtype_of_tensor(weight)? != dtype_of_tensor(tensor)? {
            return Err(Error::invalid_argument(format!(
                "histogram: input tensor and weight tensor should have the same dtype, but got input {} and \
                 weight {}",
                name_of(dtype_of_tensor(tensor)?),
                name_of(dtype_of_tensor(weight)?)
            )));
        }
        if sizes_of(weight)? != sizes_of(tensor)? {
            return Err(Error::invalid_argument(format!(
                "histogram: if weight tensor is provided it should have the same shape as the input tensor, but \
                 got input with shape {:?} and weight with shape {:?}",
                sizes_of(tensor)?,
                sizes_of(weight)?
            )));
        }
        operations::reshape(weight, &[numel_of(weight)?])
    }

    fn range(&self, values: &Tensor) -> Result<(f64, f64)> {
        let (min, max) = match *self.range {
            [] if numel_of(values.handle())? == 0 => (0.0, 1.0),
            [] => range_of(values)?,
            [min, max] => (min, max),
            ref other => {
                return Err(Error::invalid_argument(format!(
                    "histogram: range should have 2 elements, but got {}",
                    other.len()
                )));
            }
        };
        if !(min.is_finite() && max.is_finite()) {
            return Err(Error::invalid_argument(format!(
                "histogram: dimension 0's range [{min}, {max}] is not finite"
            )));
        }
        if min > max {
            return Err(Error::invalid_argument(format!(
                "histogram: min should not exceed max, but got min {min} max {max} for dimension 0"
            )));
        }
        Ok(if min == max { (min - 0.5, max + 0.5) } else { (min, max) })
    }
}

/// Bins of elements, and the edges of the bins.
pub struct Places {
    /// The bin of each element; the number of bins for those outside of the range.
    pub place: Tensor,
    /// The edges.
    pub edges: Tensor,
}

/// Where the elements of a vector are among so many bins of a range.
pub fn places(values: &Tensor, bins: i64, (min, max): (f64, f64)) -> Result<Places> {
    let (dtype, device) = (dtype_of_tensor(values.handle())?, device_of_tensor(values.handle())?);
    let edges = operations::linspace(min, max, sum_of(bins, 1, "bins")?, &options(dtype, device))?;
    let search = Search { right: true, narrow: false };
    let place = search_sorted(edges.handle(), values.handle(), None, search)?;
    let place = binary(api::SCONCE_BINARY_SUB, &place, Operand::Whole(1))?;
    let last = binary(api::SCONCE_BINARY_EQ, values, Operand::Number(max))?;
    let place = choose(&last, Operand::Whole(bins - 1), Operand::Tensor(&place))?;
    let is_in = binary(api::SCONCE_BINARY_GE, values, Operand::Number(min))?;
    let place = choose(&is_in, Operand::Tensor(&place), Operand::Whole(bins))?;
    Ok(Places { place, edges })
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

    #[test]
    fn bins_between_edges_agree_with_a_loop() {
        let mut random = Random(31);
        for _ in 0..100 {
            let (count, bins) = (random.size(0, 20), random.size(1, 6));
            let values = random.values(count, 9);
            let weights = random.values(count, 5);
            let range = [vec![], vec![2.0, 6.5], vec![3.0, 3.0]][random.below(3) as usize].clone();
            let is_weighted = random.below(2) == 1;
            let input = tensor(&[count], api::SCONCE_DTYPE_F64, &values);
            let weight = tensor(&[count], api::SCONCE_DTYPE_F64, &weights);
            let how = Bins {
                bins,
                range: &range,
                weight: is_weighted.then(|| weight.handle()),
                is_density: false,
            };
            let (found, edges) = how.count(input.handle()).unwrap();
            let edges = content(&edges).1;
            let mut expected = vec![0.0; bins as usize];
            for (value, weight) in values.iter().zip(&weights) {
                let mut bin = (0..bins as usize).rfind(|&bin| edges[bin] <= *value);
                if *value > edges[bins as usize] {
                    bin = None;
                }
                if let Some(bin) = bin {
                    expected[bin] += if is_weighted { *weight } else { 1.0 };
                }
            }
            assert_eq!(content(&found), (vec![bins], expected.clone()), "{values:?} {edges:?}");
            let density = Bins { is_density: true, ..how }.count(input.handle()).unwrap().0;
            let total: f64 = expected.iter().sum();
            for (bin, density) in content(&density).1.iter().enumerate() {
                let share = expected[bin] / total / (edges[bin + 1] - edges[bin]);
                assert!((share - density).abs() < 1e-9 || total == 0.0, "{share} {density}");
            }
        }
    }

    #[test]
    fn bins_that_make_no_sense_are_refused() {
        let input = tensor(&[2], api::SCONCE_DTYPE_F32, &[1.0, f64::INFINITY]);
        let short = tensor(&[1], api::SCONCE_DTYPE_F32, &[1.0]);
        let double = tensor(&[2], api::SCONCE_DTYPE_F64, &[1.0, 1.0]);
        let refused = |bins: i64, range: &[f64], weight: Option<&Tensor>, words: &str| {
            let weight = weight.map(Tensor::handle);
            let how = Bins { bins, range, weight, is_density: false };
            let error = how.count(input.handle()).err().unwrap();
            assert!(error.message.contains(words), "{}", error.message);
        };
        refused(0, &[], None, "bins must be > 0");
        refused(2, &[], None, "is not finite");
        refused(2, &[2.0, 1.0], None, "min should not exceed max");
        refused(2, &[1.0], None, "2 elements");
        refused(2, &[0.0, 1.0], Some(&short), "the same shape");
        refused(2, &[0.0, 1.0], Some(&double), "the same dtype");
    }
}
