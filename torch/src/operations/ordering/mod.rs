//! Operations on sorted lines: sort, topk, kthvalue, medians, modes. libsconce.so sorts, and keeps equal elements in order;
//! the first elements of long lines of a device are found without that (`top`). On the CPU equal elements are in PyTorch's
//! order (`places`).

#![allow(unsafe_code, reason = "calls libsconce.so")]

mod extreme;
mod nan_median;
mod places;
#[cfg(test)]
mod tests;
mod top;

pub use self::extreme::extreme;
pub use self::nan_median::nanmedian_along;
use self::places::Sought;
use self::top::top_of_long_lines;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::indexed::gather;
use crate::operations::layout::dimension;
use crate::operations::running::extremes;
use crate::operations::tensors::filled;
use crate::sconce::operations::{self, Operand, binary, choose};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check};

pub use crate::operations::tensors::Sorted;

/// `sort.stable(self, stable=False, dim, descending)`: on the CPU equal elements are in the order that they have in
/// PyTorch, elsewhere in that of the line. The results have the strides of `torch.empty_like(self)`.
pub fn sort_any(tensor: TensorHandle, dim: i64, descending: bool) -> Result<Sorted> {
    if !places::is_searched(tensor, Sought::All, descending)? {
        return sort(tensor, dim, descending);
    }
    let axis = dimension(dim, sizes_of(tensor)?.len())? as i64;
    let found = places::found(tensor, axis, Sought::All, descending)?;
    let like = |found: &Tensor, dtype| -> Result<Tensor> {
        let made = operations::empty_like(tensor, dtype)?;
        operations::copy(&made, found.handle())?;
        Ok(made)
    };
    Ok(Sorted {
        values: like(&found.values, api::SCONCE_DTYPE_DEFAULT)?,
        indices: like(&found.indices, api::SCONCE_DTYPE_I64)?,
    })
}

/// `sort.stable(self, stable=True, dim, descending)`: equal elements keep their order. The results have the strides of
/// `torch.empty_like(self)`.
pub fn sort(tensor: TensorHandle, dim: i64, descending: bool) -> Result<Sorted> {
    dimension(dim, sizes_of(tensor)?.len())?;
    let values = operations::empty_like(tensor, api::SCONCE_DTYPE_DEFAULT)?;
    let indices = operations::empty_like(tensor, api::SCONCE_DTYPE_I64)?;
    check(api::sconce_tensor_sort_out(tensor, dim, descending, values.handle(), indices.handle()))?;
    Ok(Sorted { values, indices })
}

/// Refuses what PyTorch refuses: booleans have no elements in the middle or at the top.
pub fn refuse_bool(operation: &str, tensor: TensorHandle) -> Result<()> {
    if dtype_of_tensor(tensor)? == api::SCONCE_DTYPE_BOOL {
        return Err(Error::not_supported(format!(
            "{operation} does not support bool; convert the tensor to uint8"
        )));
    }
    Ok(())
}

/// The tensor with one dimension where it has none, and its sizes.
fn with_dimension(tensor: TensorHandle) -> Result<(Tensor, Vec<i64>)> {
    let sizes = sizes_of(tensor)?;
    let view = if sizes.is_empty() {
        operations::reshape(tensor, &[1])?
    } else {
        Tensor::retained(tensor)?
    };
    Ok((view, sizes))
}

/// `topk(self, k, dim, largest, sorted)`. On the CPU it has PyTorch's elements and order, also if they need not be in
/// order; elsewhere the elements are always in order, and of equal ones the first are taken.
pub fn topk(
    tensor: TensorHandle,
    k: i64,
    dim: i64,
    largest: bool,
    in_order: bool,
) -> Result<Sorted> {
    refuse_bool("topk", tensor)?;
    let (view, sizes) = with_dimension(tensor)?;
    let dim = dimension(dim, sizes.len())?;
    let length = sizes.get(dim).copied().unwrap_or(1);
    if !(0..=length).contains(&k) {
        return Err(Error::invalid_argument(format!(
            "selected index k out of range: k is {k}, and dimension {dim} has {length} elements"
        )));
    }
    let search = if in_order { Sought::SomeInOrder(k) } else { Sought::Some(k) };
    if k > 0 && places::is_searched(view.handle(), search, largest)? {
        let found = places::found(view.handle(), dim as i64, search, largest)?;
        let shaped = |tensor: &Tensor| match sizes.is_empty() {
            true => operations::reshape(tensor.handle(), &[]),
            false => operations::contiguous(tensor.handle()),
        };
        return Ok(Sorted { values: shaped(&found.values)?, indices: shaped(&found.indices)? });
    }
    if let Some(found) = top_of_long_lines(view.handle(), k, dim as i64, largest)? {
        return Ok(found);
    }
    let sorted = sort(view.handle(), dim as i64, largest)?;
    let first = |tensor: &Tensor| {
        let first = operations::narrow(tensor.handle(), dim as i64, 0, k)?;
        let copy = operations::contiguous_copy(first.handle())?;
        if sizes.is_empty() && k == 1 { operations::reshape(copy.handle(), &[]) } else { Ok(copy) }
    };
    Ok(Sorted { values: first(&sorted.values)?, indices: first(&sorted.indices)? })
}

/// `kthvalue(self, k, dim, keepdim)`: the `k`-th smallest element, counted from 1.
pub fn kthvalue(tensor: TensorHandle, k: i64, dim: i64, keep: bool) -> Result<Sorted> {
    refuse_bool("kthvalue", tensor)?;
    let (view, sizes) = with_dimension(tensor)?;
    let dim = dimension(dim, sizes.len())?;
    let length = sizes.get(dim).copied().unwrap_or(1);
    if !(1..=length).contains(&k) {
        return Err(Error::invalid_argument(format!(
            "kthvalue(): selected number k out of range for dimension {dim}: k is {k}, and the dimension has \
             {length} elements"
        )));
    }
    let reduced = reduced(&sizes, dim, keep);
    if places::is_searched(view.handle(), Sought::One(k), false)? {
        let found = places::found(view.handle(), dim as i64, Sought::One(k), false)?;
        let one = |tensor: &Tensor| {
            operations::reshape(operations::contiguous(tensor.handle())?.handle(), &reduced)
        };
        return Ok(Sorted { values: one(&found.values)?, indices: one(&found.indices)? });
    }
    let sorted = match top_of_long_lines(view.handle(), k, dim as i64, false)? {
        Some(first) => first,
        None => sort(view.handle(), dim as i64, false)?,
    };
    let one = |tensor: &Tensor| {
        let one = operations::narrow(tensor.handle(), dim as i64, k - 1, 1)?;
        operations::reshape(operations::contiguous_copy(one.handle())?.handle(), &reduced)
    };
    Ok(Sorted { values: one(&sorted.values)?, indices: one(&sorted.indices)? })
}

/// `mode(self, dim, keepdim)`: the element that occurs most often, the smallest of several, and its place. On the CPU it
/// is PyTorch's place among equal elements, and lines with NaN have PyTorch's result; elsewhere it is the last place.
pub fn mode(tensor: TensorHandle, dim: i64, keep: bool) -> Result<Sorted> {
    let (view, sizes) = with_dimension(tensor)?;
    let dim = dimension(dim, sizes.len())?;
    let length = sizes.get(dim).copied().unwrap_or(1);
    if length == 0 {
        return Err(Error::invalid_argument(format!(
            "mode(): Expected reduction dim {dim} to have non-zero size."
        )));
    }
    if places::is_searched(view.handle(), Sought::Frequent, false)? {
        let found = places::found(view.handle(), dim as i64, Sought::Frequent, false)?;
        let reduced = reduced(&sizes, dim, keep);
        let one = |tensor: &Tensor| {
            operations::reshape(operations::contiguous(tensor.handle())?.handle(), &reduced)
        };
        return Ok(Sorted { values: one(&found.values)?, indices: one(&found.indices)? });
    }
    let Sorted { values, indices } = sort(view.handle(), dim as i64, false)?;
    let axis = dim as i64;
    let integers = options(api::SCONCE_DTYPE_I64, device_of_tensor(tensor)?);
    let mut shape = vec![1; sizes.len().max(1)];
    if let Some(size) = shape.get_mut(dim) {
        *size = length;
    }
    let numbers = operations::arange(0, length, 1, &integers)?;
    let numbers = operations::reshape(numbers.handle(), &shape)?;
    // Where each run of equal elements begins, and how far each element is behind that.
    let far = if length == 1 {
        numbers
    } else {
        let part = |begin| operations::narrow(values.handle(), axis, begin, length - 1);
        let differs = binary(api::SCONCE_BINARY_NE, &part(1)?, Operand::Tensor(&part(0)?))?;
        let behind = operations::narrow(numbers.handle(), axis, 1, length - 1)?;
        let begins = choose(&differs, Operand::Tensor(&behind), Operand::Whole(0))?;
        let begins = extremes(begins.handle(), axis, true)?.values;
        let far = binary(api::SCONCE_BINARY_SUB, &behind, Operand::Tensor(&begins))?;
        let first = operations::narrow(far.handle(), axis, 0, 1)?;
        let first = binary(api::SCONCE_BINARY_MUL, &first, Operand::Whole(0))?;
        operations::cat(&[first.handle(), far.handle()], axis)?
    };
    let (most, same) = (api::SCONCE_REDUCE_ARGMAX, api::SCONCE_DTYPE_DEFAULT);
    let place = operations::reduce(most, far.handle(), &[axis], true, same)?;
    // Lines of one element are counted once for all of them.
    let mut ones = sizes_of(view.handle())?;
    ones[dim] = 1;
    let place = operations::expand(place.handle(), &ones)?;
    both_chosen(&Sorted { values, indices }, axis, &place, &reduced(&sizes, dim, keep))
}

/// The sizes of a result with one element of each line, whose dimension stays with size 1 if it is kept. A tensor without
/// dimensions has a result like it.
fn reduced(sizes: &[i64], dim: usize, keep: bool) -> Vec<i64> {
    let mut reduced = sizes.to_vec();
    if dim < reduced.len() && keep {
        reduced[dim] = 1;
    } else if dim < reduced.len() {
        reduced.remove(dim);
    }
    reduced
}

/// The element of each line at a place, as a tensor of these sizes.
fn chosen(of: &Tensor, axis: i64, place: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let one = gather(of.handle(), axis, place.handle())?;
    operations::reshape(one.handle(), sizes)
}

/// The element of each line at a place, and its index, as tensors of these sizes.
fn both_chosen(of: &Sorted, axis: i64, place: &Tensor, sizes: &[i64]) -> Result<Sorted> {
    let one = |tensor: &Tensor| chosen(tensor, axis, place, sizes);
    Ok(Sorted { values: one(&of.values)?, indices: one(&of.indices)? })
}

/// All elements in order, with NaN last. `None` if there are none.
fn all_sorted(tensor: TensorHandle) -> Result<Option<Tensor>> {
    if numel_of(tensor)? == 0 {
        return Ok(None);
    }
    let flat = operations::reshape(tensor, &[-1])?;
    Ok(Some(sort(flat.handle(), 0, false)?.values))
}

/// The median of no elements: NaN, or the smallest integer, as PyTorch's.
fn of_nothing(tensor: TensorHandle) -> Result<Tensor> {
    let dtype = dtype_of_tensor(tensor)?;
    let value = match dtype {
        api::SCONCE_DTYPE_F16
        | api::SCONCE_DTYPE_BF16
        | api::SCONCE_DTYPE_F32
        | api::SCONCE_DTYPE_F64 => f64::NAN,
        _ => f64::NEG_INFINITY,
    };
    filled(&[], dtype, device_of_tensor(tensor)?, value)
}

fn element(flat: &Tensor, at: i64) -> Result<Tensor> {
    let one = operations::narrow(flat.handle(), 0, at, 1)?;
    operations::contiguous_copy(operations::reshape(one.handle(), &[])?.handle())
}

fn is_nan(tensor: &Tensor) -> Result<Tensor> {
    operations::binary(api::SCONCE_BINARY_NE, tensor, Operand::Tensor(tensor))
}

/// `median(self)`: the lower one of two in the middle; NaN if there is one.
pub fn median(tensor: TensorHandle) -> Result<Tensor> {
    refuse_bool("median", tensor)?;
    let Some(sorted) = all_sorted(tensor)? else { return of_nothing(tensor) };
    let count = numel_of(tensor)?;
    let (middle, last) = (element(&sorted, (count - 1) / 2)?, element(&sorted, count - 1)?);
    operations::choose(&is_nan(&last)?, Operand::Tensor(&last), Operand::Tensor(&middle))
}

/// `nanmedian(self)`: of the elements that are no NaN.
pub fn nanmedian(tensor: TensorHandle) -> Result<Tensor> {
    refuse_bool("nanmedian", tensor)?;
    let Some(sorted) = all_sorted(tensor)? else { return of_nothing(tensor) };
    // How many are numbers is known on the device alone.
    let is_number = operations::binary(api::SCONCE_BINARY_EQ, &sorted, Operand::Tensor(&sorted))?;
    let counts =
        operations::along(api::SCONCE_LINE_CUMSUM, is_number.handle(), 0, api::SCONCE_DTYPE_I64)?;
    let count = operations::narrow(counts.handle(), 0, numel_of(tensor)? - 1, 1)?;
    let behind = operations::binary(api::SCONCE_BINARY_SUB, &count, Operand::Number(1.0))?;
    let middle =
        operations::binary(api::SCONCE_BINARY_FLOOR_DIVIDE, &behind, Operand::Number(2.0))?;
    let middle = operations::to_dtype(
        operations::clamped_from(&middle, 0.0)?.handle(),
        api::SCONCE_DTYPE_I64,
    )?;
    let found = operations::index_select(sorted.handle(), 0, middle.handle())?;
    operations::reshape(found.handle(), &[])
}
