//! The rows of bags.

use super::{
    BagMode, as_columns, bags_of_indices, check_factors, combined, length_of, matrix_of, places,
};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::operations::tensors::{check_device, filled};
use crate::sconce::operations::{Operand, binary, choose, clamped_from, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

/// The arguments of `_embedding_bag`.
#[derive(Clone, Copy)]
pub struct Bags {
    /// The table, of which `indices` name rows.
    pub table: TensorHandle,
    /// The rows of all bags, one bag after another.
    pub indices: TensorHandle,
    /// Where each bag begins.
    pub offsets: TensorHandle,
    /// What becomes of the rows of a bag.
    pub mode: BagMode,
    /// A factor for each row of each bag.
    pub factors: Option<TensorHandle>,
    /// Whether the last offset is the end of the last bag, and no bag of its own.
    pub has_last_offset: bool,
    /// Indices that do not count, if it is not negative.
    pub padding: i64,
}

/// The results of `_embedding_bag`, of which all but the first are for its gradient.
pub struct Bagged {
    /// A row for each bag.
    pub rows: Tensor,
    /// The bag of each index.
    pub bag_of_index: Tensor,
    /// How many indices of each bag count.
    pub counts: Tensor,
    /// For the mode `Max`, the index from which each element of `rows` comes.
    pub chosen: Tensor,
}

impl Bags {
    /// The device of all operands.
    fn device(&self) -> Result<i32> {
        let device = device_of_tensor(self.table)?;
        check_device("indices", device_of_tensor(self.indices)?, device)?;
        check_device("offsets", device_of_tensor(self.offsets)?, device)?;
        if let Some(factors) = self.factors {
            check_device("per_sample_weights", device_of_tensor(factors)?, device)?;
        }
        Ok(device)
    }

    /// Fails if offsets on the CPU do not fit. On a device the host cannot know them without waiting.
    fn check_offsets(&self, offsets: i64, indices: i64) -> Result<()> {
        if offsets == 0 || device_of_tensor(self.offsets)? != api::SCONCE_DEVICE_CPU {
            return Ok(());
        }
        let element = |at: i64| -> Result<i64> {
            let one = operations::narrow(self.offsets, 0, at, 1)?;
            Ok(operations::item(one.handle())?.integer)
        };
        if element(0)? != 0 {
            return Err(Error::invalid_argument(format!(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. \
                 However, got {}",
                element(0)?
            )));
        }
        if element(offsets - 1)? > indices {
            return Err(Error::invalid_argument(format!(
                "offsets[-1] can not be greater than input's length({indices}) but got offsets[-1] of {}",
                element(offsets - 1)?
            )));
        }
        Ok(())
    }

    /// Whether PyTorch's kernel for sums on the CPU does not make the bag of each index.
    fn is_plain_sum(&self) -> Result<bool> {
        let has_unit_steps =
            |tensor| -> Result<bool> { Ok(strides_of(tensor)?.last() == Some(&1)) };
        Ok(self.mode == BagMode::Sum
            && dtype_of_tensor(self.table)? != api::SCONCE_DTYPE_F64
            && self.padding < 0
            && has_unit_steps(self.table)?
            && self.factors.map_or(Ok(true), has_unit_steps)?)
    }

    /// `_embedding_bag`. Sizes of the results for the gradient are PyTorch's, which differ by device; those without
    /// a meaning are zeros.
    pub fn embed(&self, for_gradient: bool) -> Result<Bagged> {
        let device = self.device()?;
        let on_cpu = device == api::SCONCE_DEVICE_CPU;
        let dtype = dtype_of_tensor(self.table)?;
        let [_, columns] = matrix_of(self.table, "weight")?;
        let (count, offsets) =
            (length_of(self.indices, "indices")?, length_of(self.offsets, "offsets")?);
        if let Some(factors) = self.factors {
            check_factors(factors, self.mode, dtype, count)?;
        }
        if self.has_last_offset && offsets == 0 {
            return Err(Error::invalid_argument(
                "include_last_offset: number of offsets should be at least 1",
            ));
        }
        self.check_offsets(offsets, count)?;
        let bags = offsets - i64::from(self.has_last_offset);

        let wide = api::SCONCE_DTYPE_I64;
        let indices = operations::to_dtype(self.indices, wide)?;
        let bag_of_index = bags_of_indices(self.offsets, bags, count)?;
        let places = places(&bag_of_index, &indices, self.padding, bags)?;
        let rows = widened(operations::index_select(self.table, 0, indices.handle())?.handle())?;
        let rows = match self.factors {
            None => rows,
            Some(factors) => {
                let factors = as_columns(&widened(factors)?, columns)?;
                binary(api::SCONCE_BINARY_MUL, &rows, Operand::Tensor(&factors))?
            }
        };
        let ones = filled(&[count], wide, device, 1.0)?;
        let counts = combined(bags, [&places, &ones], "sum", 0.0)?;
        let columns_of_places = as_columns(&places, columns)?;
        let how = if self.mode == BagMode::Max { "amax" } else { "sum" };
        let mut made = combined(bags, [&columns_of_places, &rows], how, 0.0)?;
        if self.mode == BagMode::Mean {
            let counts = operations::to_dtype(counts.handle(), dtype_of_tensor(made.handle())?)?;
            let counts = as_columns(&clamped_from(&counts, 1.0)?, columns)?;
            made = binary(api::SCONCE_BINARY_DIV, &made, Operand::Tensor(&counts))?;
        }

        let narrow = match (dtype_of_tensor(self.indices)?, dtype_of_tensor(self.offsets)?) {
            (one, other) if one == other => one,
            _ => wide,
        };
        let zeros = |sizes: &[i64]| filled(sizes, narrow, device, 0.0);
        let counts_have_meaning = !on_cpu || for_gradient || self.mode != BagMode::Sum;
        let shown_counts = match on_cpu {
            true if counts_have_meaning => bags,
            _ => offsets,
        };
        let chosen = match self.mode {
            BagMode::Max => {
                let chosen = self.chosen([&rows, &made], [&columns_of_places, &indices], on_cpu)?;
                operations::to_dtype(chosen.handle(), narrow)?
            }
            _ => zeros(&[if on_cpu { shown_counts } else { 0 }])?,
        };
        let counts = match counts_have_meaning {
            true if shown_counts > bags => {
                let last = filled(&[shown_counts - bags], wide, device, 0.0)?;
                operations::cat(&[counts.handle(), last.handle()], 0)?
            }
            true => counts,
            false => filled(&[shown_counts], wide, device, 0.0)?,
        };
        Ok(Bagged {
            rows: operations::to_dtype(operations::contiguous(made.handle())?.handle(), dtype)?,
            bag_of_index: match on_cpu && self.is_plain_sum()? {
                true => zeros(&[0])?,
                false => operations::to_dtype(bag_of_index.handle(), narrow)?,
            },
            counts: operations::to_dtype(counts.handle(), narrow)?,
            chosen,
        })
    }

    /// The first index of each bag that has the bag's largest element of a column. Empty bags have 0 on the CPU and -1
    /// on a device, as in PyTorch.
    fn chosen(
        &self,
        [rows, largest]: [&Tensor; 2],
        [places, indices]: [&Tensor; 2],
        on_cpu: bool,
    ) -> Result<Tensor> {
        let sizes = sizes_of(rows.handle())?.to_vec();
        let (count, columns) = (sizes[0], sizes[1]);
        let bags = sizes_of(largest.handle())?[0];
        let (wide, device) = (api::SCONCE_DTYPE_I64, device_of_tensor(rows.handle())?);
        let nothing = if on_cpu { 0.0 } else { -1.0 };
        if count == 0 || bags == 0 {
            return filled(&[bags, columns], wide, device, nothing);
        }
        // What does not count compares with a row behind all.
        let behind = filled(&[1, columns], dtype_of_tensor(rows.handle())?, device, 0.0)?;
        let largest = operations::cat(&[largest.handle(), behind.handle()], 0)?;
        let place = operations::narrow(places.handle(), 1, 0, 1)?;
        let place = operations::reshape(place.handle(), &[count])?;
        let own = operations::index_select(largest.handle(), 0, place.handle())?;
        let is_largest = binary(api::SCONCE_BINARY_EQ, rows, Operand::Tensor(&own))?;
        let numbers = operations::arange(0, count, 1, &options(wide, device))?;
        let numbers = as_columns(&numbers, columns)?;
        let numbers = choose(&is_largest, Operand::Tensor(&numbers), Operand::Whole(count - 1))?;
        let first = combined(bags, [places, &numbers], "amin", -1.0)?;
        let first = operations::reshape(first.handle(), &[bags * columns])?;
        let is_empty = binary(api::SCONCE_BINARY_LT, &first, Operand::Whole(0))?;
        let first = choose(&is_empty, Operand::Whole(0), Operand::Tensor(&first))?;
        let found = operations::index_select(indices.handle(), 0, first.handle())?;
        let found = choose(&is_empty, Operand::Whole(nothing as i64), Operand::Tensor(&found))?;
        operations::reshape(found.handle(), &[bags, columns])
    }
}
