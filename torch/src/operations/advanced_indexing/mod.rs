//! Several lists of indices: `self[a, None, b]` and writes to such places.

#![allow(unsafe_code, reason = "reads and writes elements")]

#[cfg(test)]
mod tests;

use crate::abi::copies::cloned;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::{
    Access, Combine, IndexList, Indexed, StridedOperand, begin_with, is_wide,
};
use crate::operations::layout::{Layout, broadcast};
use crate::operations::selected;
use crate::operations::tensors::{empty_in_order, name_of, on_device};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// The loop over the places that indices choose of a tensor.
struct Chosen {
    table: Layout,
    /// The indices by dimension of the table, all of the same sizes and strides; none where all of it is taken.
    lists: Vec<Option<Tensor>>,
    /// The sizes of the indices.
    index_sizes: Vec<i64>,
    /// The dimensions of the table that are not indexed and stand before the indices in the result.
    before: Vec<usize>,
    /// Those that stand behind.
    after: Vec<usize>,
}

impl Chosen {
    fn new(tensor: TensorHandle, indices: &[Option<TensorHandle>]) -> Result<Chosen> {
        let table = Layout::of(tensor)?;
        let mut lists = expanded_masks(&table, indices)?;
        if lists.len() > table.rank() {
            return Err(Error::invalid_argument(format!(
                "too many indices for tensor of dimension {} (got {})",
                table.rank(),
                lists.len()
            )));
        }
        lists.resize_with(table.rank(), || None);
        let index_sizes = made_alike(&table, &mut lists)?;
        let indexed: Vec<usize> = (0..lists.len()).filter(|&dim| lists[dim].is_some()).collect();
        let is_run = indexed.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let first = indexed.first().copied().unwrap_or(0);
        // Lists that are not neighbours stand in front.
        let stands_before = |dim: usize| is_run && dim < first;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for dim in (0..lists.len()).filter(|&dim| lists[dim].is_none()) {
            if stands_before(dim) { before.push(dim) } else { after.push(dim) }
        }
        Ok(Chosen { table, lists, index_sizes, before, after })
    }

    /// The sizes of what is chosen.
    fn sizes(&self) -> Vec<i64> {
        let of = |dims: &[usize]| dims.iter().map(|&dim| self.table.sizes[dim]).collect();
        [of(&self.before), self.index_sizes.clone(), of(&self.after)].concat()
    }

    /// The table's strides along the loop, 0 along the dimensions of the indices.
    fn strides(&self) -> Vec<i64> {
        let of = |dims: &[usize]| dims.iter().map(|&dim| self.table.strides[dim]).collect();
        [of(&self.before), vec![0; self.index_sizes.len()], of(&self.after)].concat()
    }

    /// The loop beside another operand with these strides.
    fn indexed(&self, other: StridedOperand) -> Result<Indexed> {
        let mut index_strides = vec![0; self.before.len()];
        let (mut lists, mut wide) = (Vec::new(), true);
        for (dim, list) in self.lists.iter().enumerate() {
            let Some(list) = list else { continue };
            let layout = Layout::of(list.handle())?;
            wide = is_wide(&layout)?;
            lists.push(IndexList {
                data: layout.data,
                dim,
                size: self.table.sizes[dim],
                step: self.table.strides[dim],
            });
            index_strides.truncate(self.before.len());
            index_strides.extend(layout.strides);
        }
        index_strides.resize(self.sizes().len(), 0);
        Ok(Indexed {
            device: self.table.device,
            dtype: self.table.dtype,
            sizes: self.sizes(),
            table: StridedOperand { data: self.table.data, strides: self.strides() },
            other,
            lists,
            index_strides,
            wide,
            from_end: true,
        })
    }

    /// Refuses indices of a dimension without elements.
    fn check_elements(&self) -> Result<()> {
        if self.index_sizes.contains(&0) {
            return Ok(());
        }
        for (dim, list) in self.lists.iter().enumerate() {
            if list.is_some() && self.table.sizes[dim] == 0 {
                return Err(Error::invalid_argument(format!(
                    "index is out of bounds for dimension {dim} with size 0"
                )));
            }
        }
        Ok(())
    }
}

/// The indices with each mask replaced by the coordinates of its true elements, on the table's device.
fn expanded_masks(table: &Layout, indices: &[Option<TensorHandle>]) -> Result<Vec<Option<Tensor>>> {
    let mut lists = Vec::new();
    for (at, index) in indices.iter().enumerate() {
        let Some(index) = *index else {
            lists.push(None);
            continue;
        };
        match dtype_of_tensor(index)? {
            api::SCONCE_DTYPE_BOOL | api::SCONCE_DTYPE_U8 => {
                check_mask(table, index, at, lists.len())?;
                for column in selected::columns(index)? {
                    lists.push(Some(on_device(column.handle(), table.device)?));
                }
            }
            api::SCONCE_DTYPE_I64 | api::SCONCE_DTYPE_I32 => {
                lists.push(Some(on_device(index, table.device)?));
            }
            other => {
                return Err(Error::invalid_argument(format!(
                    "tensors used as indices must be long, int, byte or bool tensors, but index {at} is {}",
                    name_of(other)
                )));
            }
        }
    }
    Ok(lists)
}

fn check_mask(table: &Layout, mask: TensorHandle, at: usize, dim: usize) -> Result<()> {
    let sizes = sizes_of(mask)?;
    for (of_mask, &size) in sizes.iter().enumerate() {
        if table.sizes.get(dim + of_mask) != Some(&size) {
            return Err(Error::invalid_argument(format!(
                "The shape of the mask {sizes:?} at index {at} does not match the shape of the indexed tensor {:?} \
                 at dimension {}",
                table.sizes,
                dim + of_mask
            )));
        }
    }
    Ok(())
}

/// Gives all lists the same type, sizes and strides. Returns the sizes.
fn made_alike(table: &Layout, lists: &mut [Option<Tensor>]) -> Result<Vec<i64>> {
    let mut layouts = Vec::new();
    for list in lists.iter().flatten() {
        layouts.push(Layout::of(list.handle())?);
    }
    let sizes: Vec<&[i64]> = layouts.iter().map(|layout| layout.sizes.as_slice()).collect();
    let common = broadcast(&sizes).map_err(|_| {
        Error::invalid_argument(format!(
            "shape mismatch: indexing tensors could not be broadcast together with shapes {sizes:?} (self has {:?})",
            table.sizes
        ))
    })?;
    let is_mixed = layouts.iter().any(|layout| layout.dtype != layouts[0].dtype);
    let mut strides: Option<Vec<i64>> = None;
    let mut differ = false;
    for list in lists.iter_mut().flatten() {
        if is_mixed {
            *list = operations::to_dtype(list.handle(), api::SCONCE_DTYPE_I64)?;
        }
        *list = operations::expand(list.handle(), &common)?;
        let own = Layout::of(list.handle())?.strides;
        differ |= strides.get_or_insert_with(|| own.clone()) != &own;
    }
    if differ {
        for list in lists.iter_mut().flatten() {
            *list = operations::contiguous(list.handle())?;
        }
    }
    Ok(common)
}

/// `index.Tensor(self, indices)`: the elements at the indices, in memory whose order is that of `self`.
pub fn index(tensor: TensorHandle, indices: &[Option<TensorHandle>]) -> Result<Tensor> {
    let chosen = Chosen::new(tensor, indices)?;
    chosen.check_elements()?;
    let sizes = chosen.sizes();
    let restrided = if chosen.table.numel() == 0 { vec![0; sizes.len()] } else { chosen.strides() };
    let result = empty_in_order(&sizes, &restrided, chosen.table.dtype, chosen.table.device)?;
    let to = Layout::of(result.handle())?;
    let indexed = chosen.indexed(StridedOperand { data: to.data, strides: to.strides })?;
    // SAFETY: the result has the sizes of what is chosen; indices are checked where they are read.
    unsafe { indexed.run(Access::Get) }?;
    Ok(result)
}

/// Writes values to the places of `tensor` that indices choose, or adds them there.
fn index_put_in(
    tensor: TensorHandle,
    indices: &[Option<TensorHandle>],
    values: TensorHandle,
    accumulate: bool,
) -> Result<()> {
    let chosen = Chosen::new(tensor, indices)?;
    let sizes = chosen.sizes();
    if dtype_of_tensor(values)? != chosen.table.dtype {
        return Err(Error::invalid_argument(format!(
            "Index put requires the source and destination dtypes match, got {} for the destination and {} for the \
             source.",
            name_of(chosen.table.dtype),
            name_of(dtype_of_tensor(values)?)
        )));
    }
    if !sizes_of(values)?.is_empty() && device_of_tensor(values)? != chosen.table.device {
        return Err(Error::invalid_argument("expected values to be on the device of self"));
    }
    let values = on_device(values, chosen.table.device)?;
    let values = operations::expand(values.handle(), &sizes).map_err(|_| {
        Error::invalid_argument(format!(
            "shape mismatch: value tensor of shape {:?} cannot be broadcast to indexing result of shape {sizes:?}",
            sizes_of(values.handle()).unwrap_or_default()
        ))
    })?;
    if sizes.contains(&0) {
        return Ok(());
    }
    chosen.check_elements()?;
    let from = Layout::of(values.handle())?;
    let indexed = chosen.indexed(StridedOperand { data: from.data, strides: from.strides })?;
    let access = if accumulate { Access::Combine(Combine::Sum) } else { Access::Put };
    // SAFETY: the values have the sizes of what is chosen; indices are checked where they are read.
    unsafe { indexed.run(access) }
}

/// As [`index_put`], into `out`, which may be `tensor` itself.
pub fn index_put_out(
    out: TensorHandle,
    tensor: TensorHandle,
    indices: &[Option<TensorHandle>],
    values: TensorHandle,
    accumulate: bool,
) -> Result<()> {
    begin_with(out, tensor)?;
    index_put_in(out, indices, values, accumulate)
}

/// `index_put(self, indices, values, accumulate)`
pub fn index_put(
    tensor: TensorHandle,
    indices: &[Option<TensorHandle>],
    values: TensorHandle,
    accumulate: bool,
) -> Result<Tensor> {
    let result = cloned(tensor)?;
    index_put_in(result.handle(), indices, values, accumulate)?;
    Ok(result)
}
