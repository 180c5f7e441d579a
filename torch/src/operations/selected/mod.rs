//! Where a mask is true: nonzero, masked_select, masked_scatter.
//!
//! `selection` finds the true elements in order. `nonzero` and `masked_select` read how many there are, which the host
//! waits for, as their results' sizes depend on it; the others do not wait. `masked_scatter` and its gradient read
//! running sums of the mask instead, since every element asks how many are true before it.

#![allow(unsafe_code, reason = "reads and writes elements")]

mod selection;
#[cfg(test)]
mod tests;

use self::selection::Selection;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::{Access, IndexList, Indexed, StridedOperand};
use crate::operations::layout::{Layout, broadcast, count_of, sum_of};
use crate::operations::tensors::{check_device, empty, filled, name_of};
use crate::sconce::operations::{self, Operand as Value};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Truth values in order.
struct Mask {
    flat: Tensor,
    sizes: Vec<i64>,
    device: i32,
}

impl Mask {
    /// Which elements of a tensor are not 0.
    fn of(tensor: TensorHandle) -> Result<Mask> {
        let sizes = sizes_of(tensor)?;
        let truth = match dtype_of_tensor(tensor)? {
            api::SCONCE_DTYPE_BOOL => Tensor::retained(tensor)?,
            _ => operations::binary(
                api::SCONCE_BINARY_NE,
                &Tensor::retained(tensor)?,
                Value::Number(0.0),
            )?,
        };
        let flat = operations::contiguous(
            operations::reshape(truth.handle(), &[numel_of(tensor)?])?.handle(),
        )?;
        Ok(Mask { flat, sizes, device: device_of_tensor(tensor)? })
    }

    /// As many values as the mask has, each once.
    fn numel(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// How many are true up to and including each one.
    fn sums(&self) -> Result<Tensor> {
        operations::along(api::SCONCE_LINE_CUMSUM, self.flat.handle(), 0, api::SCONCE_DTYPE_I64)
    }
}

/// `nonzero(self)`: a row of coordinates for each element that is not 0, with the strides that PyTorch's has.
pub fn nonzero(tensor: TensorHandle) -> Result<Tensor> {
    let mask = Mask::of(tensor)?;
    let selection = Selection::of(&mask)?;
    let (count, rank) = (selection.count()?, mask.sizes.len() as i64);
    let columns = empty(&[rank, count], api::SCONCE_DTYPE_I64, mask.device)?;
    if count != 0 && rank != 0 {
        selection.coordinates(&mask.sizes, &Layout::of(columns.handle())?, count, [1, count])?;
    }
    operations::transpose(columns.handle(), 0, 1)
}

/// `nonzero_static(self, size, fill_value)`: the first `size` rows of `nonzero`, and others of the fill value.
pub fn nonzero_static(tensor: TensorHandle, size: i64, fill_value: i64) -> Result<Tensor> {
    if size < 0 {
        return Err(Error::invalid_argument(format!(
            "nonzero_static: 'size' must be an non-negative integer, but is {size}"
        )));
    }
    let mask = Mask::of(tensor)?;
    let rank = mask.sizes.len() as i64;
    let rows = filled(&[size, rank], api::SCONCE_DTYPE_I64, mask.device, fill_value as f64)?;
    if size != 0 && rank != 0 && mask.numel() != 0 {
        let rows = Layout::of(rows.handle())?;
        Selection::of(&mask)?.coordinates(&mask.sizes, &rows, size, [rank, 1])?;
    }
    Ok(rows)
}

fn check_mask(name: &str, mask: TensorHandle, device: i32) -> Result<()> {
    let dtype = dtype_of_tensor(mask)?;
    if dtype != api::SCONCE_DTYPE_BOOL {
        return Err(Error::invalid_argument(format!(
            "{name}: expected BoolTensor for mask, but got {}",
            name_of(dtype)
        )));
    }
    check_device("mask", device_of_tensor(mask)?, device)
}

/// The loop over flat indices of a flat tensor, beside a flat operand.
fn flat(table: &Layout, index: &Layout, other: &Layout) -> Indexed {
    let list = IndexList { data: index.data, dim: 0, size: table.sizes[0], step: table.strides[0] };
    Indexed {
        device: table.device,
        dtype: table.dtype,
        sizes: index.sizes.clone(),
        table: StridedOperand { data: table.data, strides: vec![0] },
        other: StridedOperand { data: other.data, strides: other.strides.clone() },
        lists: vec![list],
        index_strides: index.strides.clone(),
        wide: true,
        from_end: false,
    }
}

/// Elements of a flat tensor at flat indices.
fn taken(table: &Tensor, index: &Tensor) -> Result<Tensor> {
    let (from, at) = (Layout::of(table.handle())?, Layout::of(index.handle())?);
    let result = empty(&at.sizes, from.dtype, from.device)?;
    let indexed = flat(&from, &at, &Layout::of(result.handle())?);
    // SAFETY: the operands were made for this loop; indices are checked where they are read.
    unsafe { indexed.run(Access::Get) }?;
    Ok(result)
}

/// `masked_select(self, mask)`: the host waits for the number of elements.
pub fn masked_select(tensor: TensorHandle, mask: TensorHandle) -> Result<Tensor> {
    check_mask("masked_select", mask, device_of_tensor(tensor)?)?;
    let sizes = broadcast(&[&sizes_of(tensor)?, &sizes_of(mask)?])?;
    let mask = Mask::of(operations::expand(mask, &sizes)?.handle())?;
    let all = operations::reshape(
        operations::expand(tensor, &sizes)?.handle(),
        &[sizes.iter().product()],
    )?;
    Selection::of(&mask)?.take(&all)
}

/// The place of each element among those for which the mask is true; nonsense, but in range, for the others.
fn ranks(mask: &Mask) -> Result<Tensor> {
    let ranks = operations::binary(api::SCONCE_BINARY_SUB, &mask.sums()?, Value::Number(1.0))?;
    let ranks = operations::clamped_from(&ranks, 0.0)?;
    operations::to_dtype(ranks.handle(), api::SCONCE_DTYPE_I64)
}

/// `masked_scatter(self, mask, source)`: where the mask is true, the source's elements in order.
pub fn masked_scatter(
    tensor: TensorHandle,
    mask: TensorHandle,
    source: TensorHandle,
) -> Result<Tensor> {
    let device = device_of_tensor(tensor)?;
    check_mask("masked_scatter", mask, device)?;
    check_device("source", device_of_tensor(source)?, device)?;
    if dtype_of_tensor(source)? != dtype_of_tensor(tensor)? {
        return Err(Error::invalid_argument(format!(
            "masked_scatter: expected self and source to have same dtypes but got {} and {}",
            name_of(dtype_of_tensor(tensor)?),
            name_of(dtype_of_tensor(source)?)
        )));
    }
    let sizes = broadcast(&[&sizes_of(tensor)?, &sizes_of(mask)?])?;
    let (tensor, mask) = (operations::expand(tensor, &sizes)?, operations::expand(mask, &sizes)?);
    let counted = Mask::of(mask.handle())?;
    if counted.numel() == 0 {
        return operations::contiguous_copy(tensor.handle());
    }
    if device == api::SCONCE_DEVICE_CPU && Selection::of(&counted)?.count()? > numel_of(source)? {
        return Err(Error::invalid_argument(
            "Number of elements of source < number of ones in mask",
        ));
    }
    let mut flat_source = operations::reshape(source, &[numel_of(source)?])?;
    if numel_of(source)? == 0 {
        // Nothing is taken of it if the mask is false everywhere; each index needs an element to be in range.
        flat_source = filled(&[1], dtype_of_tensor(source)?, device, 0.0)?;
    }
    let taken = taken(&flat_source, &ranks(&counted)?)?;
    let taken = operations::reshape(taken.handle(), &sizes)?;
    let mixed = operations::choose(&mask, Value::Tensor(&taken), Value::Tensor(&tensor))?;
    operations::contiguous(mixed.handle())
}

/// `masked_scatter_backward(grad_output, mask, sizes)`: the gradient of the source, whose sizes are given.
pub fn masked_scatter_backward(
    grad: TensorHandle,
    mask: TensorHandle,
    sizes: &[i64],
) -> Result<Tensor> {
    let device = device_of_tensor(grad)?;
    check_mask("masked_scatter_backward", mask, device)?;
    let numel = count_of(sizes, "sizes")?;
    // One element more takes what no element of the source was copied to.
    let places = filled(&[sum_of(numel, 1, "sizes")?], dtype_of_tensor(grad)?, device, 0.0)?;
    let mask = operations::expand(mask, &sizes_of(grad)?)?;
    let counted = Mask::of(mask.handle())?;
    if counted.numel() != 0 {
        let surplus = filled(&[1], api::SCONCE_DTYPE_I64, device, numel as f64)?;
        let index = operations::choose(
            &counted.flat,
            Value::Tensor(&ranks(&counted)?),
            Value::Tensor(&surplus),
        )?;
        let from = operations::contiguous(operations::reshape(grad, &[numel_of(grad)?])?.handle())?;
        let indexed = flat(
            &Layout::of(places.handle())?,
            &Layout::of(index.handle())?,
            &Layout::of(from.handle())?,
        );
        // SAFETY: the operands were made for this loop; indices are checked where they are read.
        unsafe { indexed.run(Access::Put) }?;
    }
    let used = operations::narrow(places.handle(), 0, 0, numel)?;
    operations::reshape(used.handle(), sizes)
}

/// The coordinates of true elements, a tensor for each dimension: what a mask stands for among indices.
pub fn columns(mask: TensorHandle) -> Result<Vec<Tensor>> {
    let rows = nonzero(mask)?;
    let rank = rank_of(mask)? as i64;
    let count = sizes_of(rows.handle())?[0];
    (0..rank)
        .map(|dim| {
            let column = operations::narrow(rows.handle(), 1, dim, 1)?;
            operations::reshape(column.handle(), &[count])
        })
        .collect()
}
