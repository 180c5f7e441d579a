//! `_scaled_grouped_mm`: products of groups of matrices of 8-bit floating-point numbers, each line of which has a scale.

use super::grouped::Grouped;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, rank_of, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::operations::tensors::{check_device, name_of};
use crate::sconce::operations::{Operand, binary, copy, narrow, select, to_dtype, unsqueeze};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// The factors and the scales of their lines: rows of the first, columns of the second.
#[derive(Clone, Copy)]
pub struct ScaledGroups {
    /// The factors.
    pub factors: [TensorHandle; 2],
    /// The scales.
    pub scales: [TensorHandle; 2],
    /// Where groups end in a factor that is one matrix.
    pub offsets: Option<TensorHandle>,
}

const NAMES: [&str; 2] = ["mat_a", "mat_b"];
const SCALES: [&str; 2] = ["scale_a", "scale_b"];

fn refused<T>(why: String) -> Result<T> {
    Err(Error::invalid_argument(why))
}

impl ScaledGroups {
    /// The products in float32, times their scales, rounded once to BF16. The host reads the offsets.
    pub fn multiply(&self) -> Result<Tensor> {
        for (side, tensor) in self.factors.into_iter().enumerate() {
            check_factor(side, tensor)?;
        }
        // Numbers of 8 bits are numbers of float32.
        let [first, second] = self.factors.map(|factor| to_dtype(factor, api::SCONCE_DTYPE_F32));
        let (first, second) = (first?, second?);
        let groups = Grouped::new(first.handle(), second.handle(), self.offsets)?;
        for side in [0, 1] {
            self.check_scale(side)?;
        }
        let products = groups.result(api::SCONCE_DTYPE_F32)?;
        groups.multiply(&products)?;
        let mut begin = 0;
        for (group, part) in groups.parts(&products)?.iter().enumerate() {
            let sizes = sizes_of(part.handle())?;
            let mut scaled = Tensor::retained(part.handle())?;
            for (side, &length) in sizes.iter().enumerate() {
                let scale = self.scale_of(side, group as i64, begin, length)?;
                // The scales of rows stand beside each other in a column.
                let scale = unsqueeze(scale.handle(), if side == 0 { 1 } else { 0 })?;
                scaled = binary(api::SCONCE_BINARY_MUL, &scaled, Operand::Tensor(&scale))?;
            }
            copy(part, scaled.handle())?;
            begin += self.divided_length(&sizes)?;
        }
        let result = groups.result(api::SCONCE_DTYPE_BF16)?;
        copy(&result, products.handle())?;
        Ok(result)
    }

    fn is_batch(&self, side: usize) -> Result<bool> {
        Ok(rank_of(self.factors[side])? == 3)
    }

    /// How far a group reaches along what the offsets divide, if that is a side of the result.
    fn divided_length(&self, sizes: &[i64]) -> Result<i64> {
        Ok(match [self.is_batch(0)?, self.is_batch(1)?] {
            [false, true] => sizes[0],
            [true, false] => sizes[1],
            _ => 0,
        })
    }

    /// The scales of a group's lines.
    fn scale_of(&self, side: usize, group: i64, begin: i64, length: i64) -> Result<Tensor> {
        let scale = self.scales[side];
        match (self.is_batch(side)?, self.is_batch(1 - side)?) {
            (true, _) => select(scale, 0, group),
            (false, true) => narrow(scale, 0, begin, length),
            (false, false) => narrow(scale, 0, group * length, length),
        }
    }

    fn check_scale(&self, side: usize) -> Result<()> {
        let (name, scale) = (SCALES[side], self.scales[side]);
        let dtype = dtype_of_tensor(scale)?;
        if dtype == api::SCONCE_DTYPE_F8_E8M0FNU {
            return Err(Error::not_supported(format!(
                "{name} has powers of two for blocks (float8_e8m0fnu), which are not offered for groups; scale lines \
                 with float32"
            )));
        }
        if dtype != api::SCONCE_DTYPE_F32 {
            return refused(format!("{name} must be of float32, but is of {}", name_of(dtype)));
        }
        check_device(name, device_of_tensor(scale)?, device_of_tensor(self.factors[0])?)?;
        let (sizes, factor) = (sizes_of(scale)?, sizes_of(self.factors[side])?);
        let lines = factor[factor.len() - 2 + side];
        let expected = match (self.is_batch(side)?, self.offsets) {
            (true, _) => vec![factor[0], lines],
            (false, Some(offsets)) if !self.is_batch(1 - side)? => {
                vec![lines * sizes_of(offsets)?.first().copied().unwrap_or(0)]
            }
            (false, _) => vec![lines],
        };
        if sizes != expected || strides_of(scale)?.last().is_some_and(|stride| *stride != 1) {
            return refused(format!(
                "{name} must have sizes {expected:?}, one number after another for each line of {}, but has sizes \
                 {sizes:?} and strides {:?}",
                NAMES[side],
                strides_of(scale)?
            ));
        }
        Ok(())
    }
}

/// Refuses a factor that is no matrix or batch of E4M3 whose inner dimension lies in memory one after another.
fn check_factor(side: usize, tensor: TensorHandle) -> Result<()> {
    let (name, dtype, sizes) = (NAMES[side], dtype_of_tensor(tensor)?, sizes_of(tensor)?);
    if dtype != api::SCONCE_DTYPE_F8_E4M3FN {
        return refused(format!("Expected {name} to be Float8_e4m3 matrix got {}", name_of(dtype)));
    }
    if !matches!(sizes.len(), 2 | 3) {
        return refused(format!("{name} has to be 2 or 3d"));
    }
    let (inner, strides) = (sizes.len() - 1 - side, strides_of(tensor)?);
    if strides[inner] != 1 && sizes[inner] > 1 {
        return refused(format!(
            "Expected {name} to be {}, but its strides are {strides:?}",
            if side == 0 {
                "row-major: rows one after another"
            } else {
                "column-major (transposed)"
            }
        ));
    }
    if sizes[inner] % 16 != 0 {
        return refused(format!(
            "Expected {name}.size({inner}) to be divisible by 16, but it is {}",
            sizes[inner]
        ));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::sconce::operations::transpose;
    use crate::testing::{Cases, Dense, live};

    const F8: i32 = api::SCONCE_DTYPE_F8_E4M3FN;
    const F32: i32 = api::SCONCE_DTYPE_F32;

    /// A factor of which columns lie one after another.
    fn by_columns(dense: &Dense) -> Tensor {
        let rank = dense.sizes.len();
        let mut sizes = dense.sizes.clone();
        sizes.swap(rank - 2, rank - 1);
        let turned = Dense::build(&sizes, |at| {
            let mut own = at.to_vec();
            own.swap(rank - 2, rank - 1);
            dense.at(&own)
        });
        transpose(turned.tensor(F8).handle(), -2, -1).unwrap()
    }

    #[test]
    fn lines_of_groups_are_scaled() {
        let before = live();
        let mut cases = Cases::new(19);
        for _ in 0..80 {
            let (groups, rows, inner, columns) =
                (cases.int(1, 3), cases.int(1, 5), 16 * cases.int(1, 2), cases.int(1, 5));
            let [first_is_batch, second_is_batch] = [0; 2].map(|_| cases.int(0, 1) == 1);
            let ends: Vec<i64> = match (first_is_batch, second_is_batch) {
                (true, true) => Vec::new(),
                (false, false) => (1..=groups).map(|group| group * 16).collect(),
                (false, true) => (1..=groups).map(|group| group * rows).collect(),
                (true, false) => (1..=groups).map(|group| group * columns).collect(),
            };
            // What the offsets divide is as long as all groups together.
            let [all_rows, all_columns, all_inner] = match (first_is_batch, second_is_batch) {
                (true, true) => [rows, columns, inner],
                (false, false) => [rows, columns, groups * 16],
                (false, true) => [groups * rows, columns, inner],
                (true, false) => [rows, groups * columns, inner],
            };
            let sizes = |is_batch: bool, matrix: [i64; 2]| match is_batch {
                true => vec![groups, matrix[0], matrix[1]],
                false => matrix.to_vec(),
            };
            let a = Dense::quarters(&mut cases, &sizes(first_is_batch, [all_rows, all_inner]));
            let b = Dense::quarters(&mut cases, &sizes(second_is_batch, [all_inner, all_columns]));
            let both = !first_is_batch && !second_is_batch;
            let mut scale = |is_batch: bool, lines: i64| match (is_batch, both) {
                (true, _) => Dense::quarters(&mut cases, &[groups, lines]),
                (false, true) => Dense::quarters(&mut cases, &[groups * lines]),
                (false, false) => Dense::quarters(&mut cases, &[lines]),
            };
            let (down, across) =
                (scale(first_is_batch, all_rows), scale(second_is_batch, all_columns));
            let offsets = Dense {
                sizes: vec![ends.len() as i64],
                values: ends.iter().map(|end| *end as f64).collect(),
            }
            .tensor(api::SCONCE_DTYPE_I32);
            let (first, second) = (a.tensor(F8), by_columns(&b));
            let (of_rows, of_columns) = (down.tensor(F32), across.tensor(F32));
            let groups_of = ScaledGroups {
                factors: [first.handle(), second.handle()],
                scales: [of_rows.handle(), of_columns.handle()],
                offsets: (!ends.is_empty()).then(|| offsets.handle()),
            };
            let found = groups_of.multiply().unwrap();
            assert_eq!(dtype_of_tensor(found.handle()).unwrap(), api::SCONCE_DTYPE_BF16);
            let is_batch = first_is_batch == second_is_batch;
            let expected = Dense::build(&sizes(is_batch, [all_rows, all_columns]), |at| {
                let (row, column) = (at[at.len() - 2], at[at.len() - 1]);
                let group = match (first_is_batch, second_is_batch) {
                    (false, true) => row / rows,
                    (true, false) => column / columns,
                    _ => at[0],
                };
                let value = |values: &Dense, row, column| match values.sizes.len() {
                    3 => values.at(&[group, row, column]),
                    _ => values.at(&[row, column]),
                };
                let own = |values: &Dense, is_batch: bool, line: i64| match (is_batch, both) {
                    (true, _) => values.at(&[group, line]),
                    (false, true) => values.at(&[group * values.sizes[0] / groups + line]),
                    (false, false) => values.at(&[line]),
                };
                let inner = if both { 16 * group..16 * group + 16 } else { 0..all_inner };
                let sum: f64 = inner.map(|k| value(&a, row, k) * value(&b, k, column)).sum();
                sum * own(&down, first_is_batch, row) * own(&across, second_is_batch, column)
            });
            expected.assert_near(found.handle(), 1e-2, "products");
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let dense = |sizes: &[i64]| Dense::build(sizes, |_| 1.0);
        let (a, b) = (dense(&[2, 3, 16]).tensor(F8), by_columns(&dense(&[2, 16, 4])));
        let (down, across) = (dense(&[2, 3]).tensor(F32), dense(&[2, 4]).tensor(F32));
        let refused = |a: &Tensor, b: &Tensor, down: &Tensor, words: &str| {
            let groups = ScaledGroups {
                factors: [a.handle(), b.handle()],
                scales: [down.handle(), across.handle()],
                offsets: None,
            };
            let why = groups.multiply().err().unwrap().message;
            assert!(why.contains(words), "{why}");
        };
        refused(&dense(&[2, 3, 16]).tensor(F32), &b, &down, "Expected mat_a to be Float8_e4m3");
        refused(&a, &dense(&[2, 16, 4]).tensor(F8), &down, "column-major");
        refused(&dense(&[2, 3, 15]).tensor(F8), &b, &down, "divisible by 16");
        refused(&dense(&[16]).tensor(F8), &b, &down, "2 or 3d");
        refused(&a, &b, &across, "scale_a must have sizes [2, 3]");
        refused(&a, &b, &dense(&[2, 3]).tensor(api::SCONCE_DTYPE_F64), "must be of float32");
        let powers = dense(&[2, 3]).tensor(api::SCONCE_DTYPE_F8_E8M0FNU);
        refused(&a, &b, &powers, "not offered for groups");
        refused(&a, &by_columns(&dense(&[3, 16, 4])), &down, "batched dimension");
    }
}
