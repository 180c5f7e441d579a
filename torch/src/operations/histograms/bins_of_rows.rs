//! Histograms over several dimensions, each with bins of its own.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::histograms::counting::{places, range_of};
use crate::operations::indexed::scatter_reduce;
use crate::operations::layout::{count_of, sum_of};
use crate::operations::tensors::{filled, name_of, refused_type};
use crate::sconce::operations::{self, Operand, binary, choose};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// How rows are counted: `_histogramdd_from_bin_cts(self, bins, range, weight, density)`.
pub struct RowCounting<'a> {
    /// How many bins there are along each dimension.
    pub bins: &'a [i64],
    /// The first and the last edge of each dimension; the smallest and the largest element if it has no entries.
    pub range: &'a [f64],
    /// What each row counts, 1 if that is not said.
    pub weight: Option<TensorHandle>,
    /// Whether counts are divided so that their sum, times the size of the bins, is 1.
    pub is_density: bool,
}

fn refused<T>(why: String) -> Result<T> {
    Err(Error::invalid_argument(format!("histogramdd: {why}")))
}

impl RowCounting<'_> {
    /// The counts. A row that is outside of a range is not counted.
    pub fn count(&self, tensor: TensorHandle) -> Result<Tensor> {
        let (dtype, device) = (dtype_of_tensor(tensor)?, device_of_tensor(tensor)?);
        let sizes = sizes_of(tensor)?;
        self.check(tensor, &sizes)?;
        let dims = self.bins.len() as i64;
        let count: i64 = sizes[..sizes.len() - 1].iter().product();
        let rows = operations::reshape(tensor, &[count, dims])?;
        let total = count_of(self.bins, "bins")?;
        let weight = match self.weight {
            Some(weight) => operations::reshape(weight, &[count])?,
            None => operations::expand(filled(&[1], dtype, device, 1.0)?.handle(), &[count])?,
        };
        // The place of each row among all bins; one more takes what is not counted.
        let mut all: Option<(Tensor, Tensor)> = None;
        let mut widths = Vec::new();
        for (dim, &bins) in self.bins.iter().enumerate() {
            let column = operations::select(rows.handle(), 1, dim as i64)?;
            let column = operations::contiguous(column.handle())?;
            let found = places(&column, bins, self.range(dim, &column, count)?)?;
            let part = |begin| operations::narrow(found.edges.handle(), 0, begin, bins);
            widths.push(binary(api::SCONCE_BINARY_SUB, &part(1)?, Operand::Tensor(&part(0)?))?);
            let is_in = binary(api::SCONCE_BINARY_LT, &found.place, Operand::Whole(bins))?;
            all = Some(match all {
                None => (found.place, is_in),
                Some((place, others)) => {
                    let place = binary(api::SCONCE_BINARY_MUL, &place, Operand::Whole(bins))?;
                    let place =
                        binary(api::SCONCE_BINARY_ADD, &place, Operand::Tensor(&found.place))?;
                    let both = api::SCONCE_BINARY_BITWISE_AND;
                    (place, binary(both, &others, Operand::Tensor(&is_in))?)
                }
            });
        }
        let counts = filled(&[sum_of(total, 1, "bins")?], dtype, device, 0.0)?;
        if let (Some((place, is_in)), true) = (all, count != 0) {
            let place = choose(&is_in, Operand::Tensor(&place), Operand::Whole(total))?;
            let pair = [place.handle(), weight.handle()];
            scatter_reduce(counts.handle(), counts.handle(), pair, 0, "sum", true)?;
        }
        let counts = operations::narrow(counts.handle(), 0, 0, total)?;
        if !self.is_density {
            let counts = operations::contiguous_copy(counts.handle())?;
            return operations::reshape(counts.handle(), self.bins);
        }
        let sum = operations::reduce_last(api::SCONCE_REDUCE_SUM, &counts)?;
        let shares = binary(api::SCONCE_BINARY_DIV, &counts, Operand::Tensor(&sum))?;
        let mut shares = operations::reshape(shares.handle(), self.bins)?;
        for (dim, widths) in widths.iter().enumerate() {
            let mut sizes = vec![1; self.bins.len()];
            sizes[dim] = self.bins[dim];
            let widths = operations::reshape(widths.handle(), &sizes)?;
            shares = binary(api::SCONCE_BINARY_DIV, &shares, Operand::Tensor(&widths))?;
        }
        Ok(shares)
    }

    fn check(&self, tensor: TensorHandle, sizes: &[i64]) -> Result<()> {
        let dtype = dtype_of_tensor(tensor)?;
        if ![api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64].contains(&dtype) {
            return Err(refused_type(dtype));
        }
        if sizes.len() < 2 {
            return refused("input tensor should have at least 2 dimensions".to_owned());
        }
        let dims = self.bins.len();
        if sizes.last() != Some(&(dims as i64)) {
            return Err(Error::invalid_argument(
                "histogramdd: The size of bins must be equal to the innermost dimension of the input.",
            ));
        }
        if let Some((dim, bins)) = self.bins.iter().enumerate().find(|(_, bins)| **bins <= 0) {
            return Err(Error::invalid_argument(format!(
                "histogram(): bins must be > 0, but got {bins} for dimension {dim}"
            )));
        }
        if !self.range.is_empty() && self.range.len() != 2 * dims {
            return refused(format!(
                "for a {dims}-dimensional histogram range should have {} elements, but got {}",
                2 * dims,
                self.range.len()
            ));
        }
        let Some(weight) = self.weight else { return Ok(()) };
        if dtype_of_tensor(weight)? != dtype {
            return refused(format!(
                "if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got \
                 input({}), and weight({})",
                name_of(dtype),
                name_of(dtype_of_tensor(weight)?)
            ));
        }
        let own = sizes_of(weight)?;
        if own != sizes[..sizes.len() - 1] {
            return refused(format!(
                "if weight tensor is provided it should have the same shape as the input tensor excluding its \
                 innermost dimension, but got input with shape {sizes:?} and weight with shape {own:?}"
            ));
        }
        Ok(())
    }

    /// The first and the last edge of a dimension.
    fn range(&self, dim: usize, column: &Tensor, count: i64) -> Result<(f64, f64)> {
        let (min, max) = match self.range.get(2 * dim..2 * dim + 2) {
            Some(range) => (range[0], range[1]),
            None if count == 0 => (0.0, 1.0),
            None => range_of(column)?,
        };
        if !(min.is_finite() && max.is_finite()) {
            return refused(format!("dimension {dim}'s range [{min}, {max}] is not finite"));
        }
        if min > max {
            return refused(format!(
                "min should not exceed max, but got min {min} max {max} for dimension {dim}"
            ));
        }
        Ok(if min == max { (min - 0.5, max + 0.5) } else { (min, max) })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::{Cases, Dense};

    #[test]
    fn rows_are_counted_as_a_loop_counts_them() {
        let mut cases = Cases::new(77);
        for _ in 0..60 {
            let dims = cases.int(1, 3);
            let bins: Vec<i64> = (0..dims).map(|_| cases.int(1, 4)).collect();
            let rows = Dense::whole(&mut cases, &[2, 3 + dims, dims], 0, 8);
            let count = rows.sizes[0] * rows.sizes[1];
            let range: Vec<f64> = match cases.int(0, 1) {
                0 => Vec::new(),
                _ => (0..dims).flat_map(|dim| [1.0, 4.0 + dim as f64]).collect(),
            };
            let weights = Dense::whole(&mut cases, &rows.sizes[..2], 1, 5);
            let is_weighted = cases.int(0, 1) == 1;
            let (input, weight) = (
                rows.either(&mut cases, api::SCONCE_DTYPE_F64),
                weights.tensor(api::SCONCE_DTYPE_F64),
            );
            let weight = is_weighted.then(|| weight.handle());
            let how = RowCounting { bins: &bins, range: &range, weight, is_density: false };
            let found = Dense::of(how.count(input.handle()).unwrap().handle());
            let value = |row: i64, dim: i64| rows.values[(row * dims + dim) as usize];
            let limits: Vec<(f64, f64)> = (0..dims)
                .map(|dim| {
                    let all = (0..count).map(|row| value(row, dim));
                    let (min, max) = match range.get(2 * dim as usize..) {
                        Some([min, max, ..]) => (*min, *max),
                        _ => (all.clone().fold(9.0, f64::min), all.fold(0.0, f64::max)),
                    };
                    if min == max { (min - 0.5, max + 0.5) } else { (min, max) }
                })
                .collect();
            let expected = Dense::build(&bins, |at| {
                let is_in = |row: i64| {
                    (0..dims).all(|dim| {
                        let (min, max) = limits[dim as usize];
                        let width = (max - min) / bins[dim as usize] as f64;
                        let (begin, value) = (at[dim as usize] as f64, value(row, dim));
                        let bin = ((value - min) / width + 1e-9).floor();
                        let last = value == max && begin as i64 == bins[dim as usize] - 1;
                        last || (bin == begin && value < max)
                    })
                };
                let weight =
                    |row: i64| if is_weighted { weights.values[row as usize] } else { 1.0 };
                (0..count).filter(|&row| is_in(row)).map(weight).sum()
            });
            assert_eq!(found, expected, "{rows:?} {limits:?}");
        }
    }

    #[test]
    fn a_density_has_the_sum_one() {
        let rows =
            Dense { sizes: vec![4, 2], values: vec![0.0, 0.0, 1.0, 3.0, 1.5, 1.0, 2.0, 4.0] };
        let input = rows.tensor(api::SCONCE_DTYPE_F64);
        let how = RowCounting { bins: &[2, 2], range: &[], weight: None, is_density: true };
        let found = Dense::of(how.count(input.handle()).unwrap().handle());
        // A bin is 1 by 2 large.
        assert_eq!(found.values, [0.125, 0.0, 0.125, 0.25]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let input = Dense::build(&[3, 2], |at| at[0] as f64).tensor(api::SCONCE_DTYPE_F64);
        let flat = Dense::build(&[3], |_| 1.0).tensor(api::SCONCE_DTYPE_F64);
        let refused =
            |input: &Tensor, bins: &[i64], range: &[f64], weight: Option<&Tensor>, words: &str| {
                let weight = weight.map(Tensor::handle);
                let how = RowCounting { bins, range, weight, is_density: false };
                let why = how.count(input.handle()).err().unwrap().message;
                assert!(why.contains(words), "{why}");
            };
        refused(&flat, &[2, 2], &[], None, "at least 2 dimensions");
        refused(&input, &[2], &[], None, "equal to the innermost dimension");
        refused(&input, &[2, 0], &[], None, "got 0 for dimension 1");
        refused(&input, &[2, 2], &[1.0], None, "should have 4 elements, but got 1");
        refused(&input, &[2, 2], &[0.0, 1.0, 1.0, 0.0], None, "got min 1 max 0 for dimension 1");
        refused(&input, &[2, 2], &[], Some(&input), "excluding its innermost dimension");
        let single = Dense::build(&[3], |_| 1.0).tensor(api::SCONCE_DTYPE_F32);
        refused(&input, &[2, 2], &[], Some(&single), "the same dtype");
    }
}
