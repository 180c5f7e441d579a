//! Values that differ: each once, in order or as they come, with the place of each element among them and how often they
//! are there; and counts of whole numbers. The host waits, as values decide sizes.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::{gather, scatter, scatter_reduce};
use crate::operations::layout::{dimension, sum_of};
use crate::operations::ordering;
use crate::operations::selected::{masked_select, nonzero};
use crate::operations::tensors::{empty, filled};
use crate::sconce::operations::{self, Operand, binary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// What the functions of this file return.
#[derive(Debug)]
pub struct Unique {
    /// The values, each once.
    pub values: Tensor,
    /// The place of each element among the values.
    pub inverse: Tensor,
    /// How often each value is there.
    pub counts: Tensor,
}

/// What is wanted beside the values.
#[derive(Clone, Copy, Debug)]
pub struct UniqueOutputs {
    /// The place of each element.
    pub inverse: bool,
    /// How often each value is there.
    pub counts: bool,
}

/// A type that has an order, of the same values.
fn ordered(tensor: TensorHandle) -> Result<Tensor> {
    match dtype_of_tensor(tensor)? {
        api::SCONCE_DTYPE_BOOL => operations::to_dtype(tensor, api::SCONCE_DTYPE_U8),
        _ => Tensor::retained(tensor),
    }
}

/// `_unique2(self, sorted, return_inverse, return_counts)`: values are always sorted.
pub fn unique(tensor: TensorHandle, mut wanted: UniqueOutputs) -> Result<Unique> {
    // On devices PyTorch counts truth values whether counts are wanted or not.
    wanted.counts |= is_on_device(tensor)? && dtype_of_tensor(tensor)? == api::SCONCE_DTYPE_BOOL;
    let flat = operations::reshape(ordered(tensor)?.handle(), &[-1])?;
    let sorted = ordering::sort(flat.handle(), 0, false)?;
    let starts = starts(&sorted.values)?;
    let found = runs(&sorted.values, &starts, Some(&sorted.indices), wanted)?;
    as_given(found, tensor, wanted)
}

/// `unique_consecutive(self, return_inverse, return_counts)` of all elements.
pub fn unique_consecutive(tensor: TensorHandle, wanted: UniqueOutputs) -> Result<Unique> {
    let flat = operations::contiguous(operations::reshape(tensor, &[-1])?.handle())?;
    let starts = starts(&flat)?;
    as_given(runs(&flat, &starts, None, wanted)?, tensor, wanted)
}

fn is_on_device(tensor: TensorHandle) -> Result<bool> {
    Ok(device_of_tensor(tensor)? != api::SCONCE_DEVICE_CPU)
}

/// Values in the tensor's type, and places in its sizes.
fn as_given(mut found: Unique, tensor: TensorHandle, wanted: UniqueOutputs) -> Result<Unique> {
    found.values = operations::to_dtype(found.values.handle(), dtype_of_tensor(tensor)?)?;
    // On devices PyTorch returns the places of no elements whether they are wanted or not.
    if wanted.inverse || (is_on_device(tensor)? && numel_of(tensor)? == 0) {
        found.inverse = operations::reshape(found.inverse.handle(), &sizes_of(tensor)?)?;
    }
    Ok(found)
}

/// `unique_dim(self, dim, …)`, or `unique_dim_consecutive`: parts of a dimension as values.
pub fn unique_dim(
    tensor: TensorHandle,
    dim: i64,
    is_sorted: bool,
    wanted: UniqueOutputs,
) -> Result<Unique> {
    let sizes = sizes_of(tensor)?;
    let place = dimension(dim, sizes.len())? as i64;
    let count = sizes.get(place as usize).copied().unwrap_or(1);
    if numel_of(tensor)? == 0 {
        if count != 0 {
            return Err(Error::invalid_argument(
                "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied",
            ));
        }
        let device = device_of_tensor(tensor)?;
        let nothing = || empty(&[0], api::SCONCE_DTYPE_I64, device);
        let values = operations::contiguous_copy(tensor)?;
        return Ok(Unique { values, inverse: nothing()?, counts: nothing()? });
    }
    // The dimension comes first, and the others stay in their order, which decides the order of parts.
    let rank = sizes.len() as i64;
    let mut dims: Vec<i64> = (0..rank).filter(|dim| *dim != place).collect();
    dims.insert(0, place);
    let front = match rank {
        0 => operations::reshape(ordered(tensor)?.handle(), &[1])?,
        _ => operations::permute(ordered(tensor)?.handle(), &dims)?,
    };
    let rows = operations::contiguous(operations::reshape(front.handle(), &[count, -1])?.handle())?;
    let order = if is_sorted { Some(order_of_rows(&rows)?) } else { None };
    let rows = match &order {
        Some(order) => operations::index_select(rows.handle(), 0, order.handle())?,
        None => rows,
    };
    let starts = starts(&rows)?;
    let found = runs(&rows, &starts, order.as_ref(), wanted)?;
    let mut shape = sizes_of(front.handle())?;
    shape[0] = sizes_of(found.values.handle())?[0];
    let values = operations::reshape(found.values.handle(), &shape)?;
    let mut back: Vec<i64> = (1..shape.len() as i64).collect();
    back.insert(place as usize, 0);
    let values = operations::to_dtype(values.handle(), dtype_of_tensor(tensor)?)?;
    let mut values = operations::permute(values.handle(), &back)?;
    // PyTorch selects the values from the tensor on devices, and joins them along the first dimension on the CPU.
    if is_on_device(tensor)? {
        values = operations::contiguous(values.handle())?;
    }
    Ok(Unique { values, ..found })
}

/// The order of rows, by their first elements, then by the next ones: a stable sort by each column, the last one first.
fn order_of_rows(rows: &Tensor) -> Result<Tensor> {
    let sizes = sizes_of(rows.handle())?;
    let options =
        crate::sconce::values::options(api::SCONCE_DTYPE_I64, device_of_tensor(rows.handle())?);
    let mut order = operations::arange(0, sizes[0], 1, &options)?;
    for column in (0..sizes[1]).rev() {
        let keys = operations::select(rows.handle(), 1, column)?;
        let keys = gather(keys.handle(), 0, order.handle())?;
        let sorted = ordering::sort(keys.handle(), 0, false)?;
        order = gather(order.handle(), 0, sorted.indices.handle())?;
    }
    Ok(order)
}

/// Whether each element, or row, differs from the one before; the first one does.
fn starts(values: &Tensor) -> Result<Tensor> {
    let sizes = sizes_of(values.handle())?;
    let (count, device) = (sizes[0], device_of_tensor(values.handle())?);
    let first = filled(&[count.min(1)], api::SCONCE_DTYPE_BOOL, device, 1.0)?;
    if count < 2 {
        return Ok(first);
    }
    let part = |begin| operations::narrow(values.handle(), 0, begin, count - 1);
    let mut differs = binary(api::SCONCE_BINARY_NE, &part(1)?, Operand::Tensor(&part(0)?))?;
    if sizes.len() > 1 {
        let (any, same) = (api::SCONCE_REDUCE_ANY, api::SCONCE_DTYPE_DEFAULT);
        differs = operations::reduce(any, differs.handle(), &[1], false, same)?;
    }
    operations::cat(&[first.handle(), differs.handle()], 0)
}

/// The values that begin runs. `order` says where the elements were before they were sorted.
fn runs(
    values: &Tensor,
    starts: &Tensor,
    order: Option<&Tensor>,
    wanted: UniqueOutputs,
) -> Result<Unique> {
    let (long, device) = (api::SCONCE_DTYPE_I64, device_of_tensor(values.handle())?);
    let sizes = sizes_of(values.handle())?;
    let count = sizes[0];
    let nothing = || empty(&[0], long, device);
    let found = nonzero(starts.handle())?;
    let begins = operations::reshape(found.handle(), &[-1])?;
    let chosen = match sizes.len() {
        1 => masked_select(values.handle(), starts.handle())?,
        _ => operations::index_select(values.handle(), 0, begins.handle())?,
    };
    let inverse = if wanted.inverse && count > 0 {
        let sums = operations::along(api::SCONCE_LINE_CUMSUM, starts.handle(), 0, long)?;
        let places = binary(api::SCONCE_BINARY_SUB, &sums, Operand::Whole(1))?;
        match order {
            None => places,
            Some(order) => {
                let inverse = empty(&[count], long, device)?;
                let (out, index) = (inverse.handle(), order.handle());
                scatter(out, out, 0, index, places.handle())?;
                inverse
            }
        }
    } else {
        nothing()?
    };
    let counts = if wanted.counts && count > 0 {
        let end = filled(&[1], long, device, count as f64)?;
        let number = numel_of(begins.handle())?;
        let tail = operations::narrow(begins.handle(), 0, 1, number - 1)?;
        let ends = operations::cat(&[tail.handle(), end.handle()], 0)?;
        binary(api::SCONCE_BINARY_SUB, &ends, Operand::Tensor(&begins))?
    } else {
        nothing()?
    };
    Ok(Unique { values: chosen, inverse, counts })
}

/// `bincount(self, weights, minlength)`: how often each number is there, or the sum of its weights.
pub fn bincount(tensor: TensorHandle, weights: Option<TensorHandle>, least: i64) -> Result<Tensor> {
    let (sizes, device) = (sizes_of(tensor)?, device_of_tensor(tensor)?);
    let is_integer = matches!(
        dtype_of_tensor(tensor)?,
        api::SCONCE_DTYPE_U8
            | api::SCONCE_DTYPE_I8
            | api::SCONCE_DTYPE_I16
            | api::SCONCE_DTYPE_I32
            | api::SCONCE_DTYPE_I64
    );
    let refused =
        || Err(Error::invalid_argument("bincount only supports 1-d non-negative integral inputs."));
    if least < 0 {
        return Err(Error::invalid_argument("minlength should be >= 0"));
    }
    if sizes == [0] {
        return filled(&[least], api::SCONCE_DTYPE_I64, device, 0.0);
    }
    if sizes.len() != 1 || !is_integer {
        return refused();
    }
    let index = operations::to_dtype(tensor, api::SCONCE_DTYPE_I64)?;
    let extreme = |operation| -> Result<i64> {
        let same = api::SCONCE_DTYPE_DEFAULT;
        let found = operations::reduce(operation, index.handle(), &[], false, same)?;
        Ok(operations::item(found.handle())?.integer)
    };
    if extreme(api::SCONCE_REDUCE_AMIN)? < 0 {
        return refused();
    }
    let dtype = match weights.map(dtype_of_tensor).transpose()? {
        None => api::SCONCE_DTYPE_I64,
        Some(api::SCONCE_DTYPE_F32) => api::SCONCE_DTYPE_F32,
        Some(_) => api::SCONCE_DTYPE_F64,
    };
    let source = match weights {
        None => filled(&sizes, dtype, device, 1.0)?,
        Some(weights) if sizes_of(weights)? == sizes => operations::to_dtype(weights, dtype)?,
        Some(_) => {
            return Err(Error::invalid_argument(
                "weights should be 1-d and have the same length as input",
            ));
        }
    };
    let length = least.max(sum_of(extreme(api::SCONCE_REDUCE_AMAX)?, 1, "the largest value")?);
    let counts = filled(&[length], dtype, device, 0.0)?;
    let out = counts.handle();
    scatter_reduce(out, out, [index.handle(), source.handle()], 0, "sum", true)?;
    Ok(counts)
}
