//! Gradients of the table of embeddings, and of the factors of rows.

use super::{
    BagMode, as_columns, bags_of_indices, check_factors, combined, length_of, matrix_of, places,
};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::tensors::{check_device, filled, name_of};
use crate::sconce::operations::{Operand, binary, choose, clamped_from, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// The arguments of `_embedding_bag_dense_backward`; all but the gradient are those of `_embedding_bag`, or its results.
#[derive(Clone, Copy)]
pub struct Gradient {
    /// The gradient of the bags' rows.
    pub rows: TensorHandle,
    /// The rows of all bags, one bag after another.
    pub indices: TensorHandle,
    /// The bag of each index.
    pub bag_of_index: TensorHandle,
    /// How many indices of each bag count.
    pub counts: TensorHandle,
    /// For the mode `Max`, the index from which each element comes.
    pub chosen: TensorHandle,
    /// What became of the rows of a bag.
    pub mode: BagMode,
    /// Whether gradients are divided by how often their index occurs.
    pub by_frequency: bool,
    /// A factor for each row of each bag.
    pub factors: Option<TensorHandle>,
    /// Indices that do not count, if it is not negative.
    pub padding: i64,
}

impl Gradient {
    /// The gradient of a table of `size` rows.
    pub fn of_table(&self, size: i64) -> Result<Tensor> {
        let (device, dtype) = (device_of_tensor(self.rows)?, dtype_of_tensor(self.rows)?);
        let [bags, columns] = matrix_of(self.rows, "grad")?;
        let count = length_of(self.indices, "indices")?;
        length_of(self.counts, "bag_size")?;
        for (name, tensor) in [
            ("indices", self.indices),
            ("offset2bag", self.bag_of_index),
            ("bag_size", self.counts),
        ] {
            check_device(name, device_of_tensor(tensor)?, device)?;
        }
        if size < 0 {
            return Err(Error::invalid_argument(format!(
                "num_weights is {size}; it must not be negative"
            )));
        }
        if let Some(factors) = self.factors {
            check_factors(factors, self.mode, dtype, count)?;
        }
        if count == 0 || bags == 0 || columns == 0 {
            return filled(&[size, columns], dtype, device, 0.0);
        }
        let made = match self.mode {
            BagMode::Max => self.of_largest([bags, columns], size)?,
            _ => self.of_rows(columns, size)?,
        };
        operations::to_dtype(operations::contiguous(made.handle())?.handle(), dtype)
    }

    /// Of sums and means.
    fn of_rows(&self, columns: i64, size: i64) -> Result<Tensor> {
        let wide = api::SCONCE_DTYPE_I64;
        let count = length_of(self.indices, "indices")?;
        if length_of(self.bag_of_index, "offset2bag")? != count {
            return Err(Error::invalid_argument(format!(
                "offset2bag has the sizes {:?}; it needs an entry for each of {count} indices",
                sizes_of(self.bag_of_index)?
            )));
        }
        let indices = operations::to_dtype(self.indices, wide)?;
        let bag_of_index = operations::to_dtype(self.bag_of_index, wide)?;
        let gradient = widened(self.rows)?;
        let mut values = operations::index_select(gradient.handle(), 0, bag_of_index.handle())?;
        if let Some(factors) = self.factors {
            let factors = as_columns(&widened(factors)?, columns)?;
            values = binary(api::SCONCE_BINARY_MUL, &values, Operand::Tensor(&factors))?;
        }
        let divided = |values: &Tensor, by: &Tensor| -> Result<Tensor> {
            let by = operations::to_dtype(by.handle(), dtype_of_tensor(values.handle())?)?;
            let by = as_columns(&clamped_from(&by, 1.0)?, columns)?;
            binary(api::SCONCE_BINARY_DIV, values, Operand::Tensor(&by))
        };
        if self.mode == BagMode::Mean {
            let counts = operations::index_select(self.counts, 0, bag_of_index.handle())?;
            values = divided(&values, &counts)?;
        }
        if self.by_frequency {
            let ones = filled(&[count], wide, device_of_tensor(self.indices)?, 1.0)?;
            let often = combined(size, [&indices, &ones], "sum", 0.0)?;
            let often = operations::index_select(often.handle(), 0, indices.handle())?;
            values = divided(&values, &often)?;
        }
        let places = as_columns(&places(&indices, &indices, self.padding, size)?, columns)?;
        combined(size, [&places, &values], "sum", 0.0)
    }

    /// Of the largest elements.
    fn of_largest(&self, [bags, columns]: [i64; 2], size: i64) -> Result<Tensor> {
        if sizes_of(self.chosen)?[..] != [bags, columns] {
            return Err(Error::invalid_argument(format!(
                "maximum_indices has the sizes {:?}, but grad {:?}",
                sizes_of(self.chosen)?,
                [bags, columns]
            )));
        }
        // Empty bags go behind all rows.
        let counts = operations::narrow(self.counts, 0, 0, bags)?;
        let is_empty = binary(api::SCONCE_BINARY_EQ, &counts, Operand::Whole(0))?;
        let is_empty = as_columns(&is_empty, columns)?;
        let chosen = operations::to_dtype(self.chosen, api::SCONCE_DTYPE_I64)?;
        let places = choose(&is_empty, Operand::Whole(size), Operand::Tensor(&chosen))?;
        combined(size, [&places, &widened(self.rows)?], "sum", 0.0)
    }
}

/// `_embedding_bag_per_sample_weights_backward`: the gradient of each factor, the product of the bag's gradient and the
/// index's row.
pub fn of_factors(
    gradient: TensorHandle,
    table: TensorHandle,
    [indices, offsets, bag_of_index]: [TensorHandle; 3],
    mode: BagMode,
    padding: i64,
) -> Result<Tensor> {
    if mode != BagMode::Sum {
        return Err(Error::invalid_argument(
            "embedding_bag_backward: per_sample_weights only supported for mode='sum'",
        ));
    }
    let ([bags, columns], [_, width]) = (matrix_of(gradient, "grad")?, matrix_of(table, "weight")?);
    let count = length_of(indices, "indices")?;
    let (dtype, device) = (dtype_of_tensor(gradient)?, device_of_tensor(gradient)?);
    check_device("weight", device_of_tensor(table)?, device)?;
    check_device("indices", device_of_tensor(indices)?, device)?;
    if columns != width || dtype != dtype_of_tensor(table)? {
        return Err(Error::invalid_argument(format!(
            "grad has {columns} columns of {}, but weight {width} of {}",
            name_of(dtype),
            name_of(dtype_of_tensor(table)?)
        )));
    }
    if count == 0 || bags == 0 {
        return filled(&[count], dtype, device, 0.0);
    }
    let wide = api::SCONCE_DTYPE_I64;
    let indices = operations::to_dtype(indices, wide)?;
    // PyTorch leaves out the bag of each index where its kernel for sums does.
    let bag_of_index = match length_of(bag_of_index, "offset2bag")? {
        0 => bags_of_indices(offsets, bags, count)?,
        _ => operations::to_dtype(bag_of_index, wide)?,
    };
    let of_bags = operations::index_select(widened(gradient)?.handle(), 0, bag_of_index.handle())?;
    let rows = operations::index_select(widened(table)?.handle(), 0, indices.handle())?;
    let products = binary(api::SCONCE_BINARY_MUL, &of_bags, Operand::Tensor(&rows))?;
    let (sum, same) = (api::SCONCE_REDUCE_SUM, api::SCONCE_DTYPE_DEFAULT);
    let made = operations::reduce(sum, products.handle(), &[1], false, same)?;
    let made = if padding < 0 {
        made
    } else {
        let is_padding = binary(api::SCONCE_BINARY_EQ, &indices, Operand::Whole(padding))?;
        choose(&is_padding, Operand::Number(0.0), Operand::Tensor(&made))?
    };
    operations::to_dtype(made.handle(), dtype)
}
