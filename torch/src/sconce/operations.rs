//! Operations of libsconce.so on tensors, as far as operations of PyTorch's ABI are made of them.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::tensor::TensorHandle;
use super::values::{integer, number, options, real};
use super::{Tensor, api, check};
use crate::abi::tensors::{device_of_tensor, sizes_of};
use crate::error::{Error, Result};

pub use super::products::{bmm, matmul, mm, mm_out};

/// A tensor without memory, type or shape.
pub fn undefined() -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_undefined(made) })
}

/// A tensor whose values are not set.
pub fn empty(sizes: &[i64], options: &api::sconce_tensor_options) -> Result<Tensor> {
    // SAFETY: the sizes have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_empty(sizes.as_ptr(), sizes.len(), options, made)
    })
}

/// A tensor of one value.
pub fn full(
    sizes: &[i64],
    value: &api::sconce_scalar,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    // SAFETY: the sizes have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_full(sizes.as_ptr(), sizes.len(), value, options, made)
    })
}

/// Sets all elements to a value.
pub fn fill(tensor: TensorHandle, value: &api::sconce_scalar) -> Result<()> {
    // SAFETY: any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_fill(tensor, value) })
}

/// The value of a tensor of one element. Waits for its device.
pub fn item(tensor: TensorHandle) -> Result<api::sconce_scalar> {
    let mut value = integer(0);
    // SAFETY: the place is valid for a write.
    check(unsafe { api::sconce_tensor_item(tensor, &mut value) })?;
    Ok(value)
}

/// A tensor with the sizes of another and its order in memory, whose values are not set.
pub fn empty_like(tensor: TensorHandle, dtype: i32) -> Result<Tensor> {
    let options = options(dtype, -1);
    // SAFETY: the options live during the call; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_empty_like(tensor, &options, made) })
}

/// A part of a dimension.
pub fn narrow(tensor: TensorHandle, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_narrow(tensor, dim, start, length, made) })
}

/// A view of other sizes, or a copy where no view has them.
pub fn reshape(tensor: TensorHandle, sizes: &[i64]) -> Result<Tensor> {
    // SAFETY: the sizes have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_reshape(tensor, sizes.as_ptr(), sizes.len(), made)
    })
}

/// A view with dimensions repeated.
pub fn expand(tensor: TensorHandle, sizes: &[i64]) -> Result<Tensor> {
    // SAFETY: as in `reshape`.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_expand(tensor, sizes.as_ptr(), sizes.len(), made)
    })
}

/// A view with two dimensions exchanged.
pub fn transpose(tensor: TensorHandle, first: i64, second: i64) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_transpose(tensor, first, second, made) })
}

/// A view with one more dimension of one element.
pub fn unsqueeze(tensor: TensorHandle, dim: i64) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_unsqueeze(tensor, dim, made) })
}

/// A view with the dimensions in another order.
pub fn permute(tensor: TensorHandle, dims: &[i64]) -> Result<Tensor> {
    // SAFETY: the dimensions have the length that is passed; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_permute(tensor, dims.as_ptr(), dims.len(), made)
    })
}

/// A view of one part of a dimension, without the dimension.
pub fn select(tensor: TensorHandle, dim: i64, at: i64) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_select(tensor, dim, at, made) })
}

/// A view of every `step`-th part of a dimension, from `start` to `end`, which is left out.
pub fn slice(
    tensor: TensorHandle,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
    let (start, end) = (start.unwrap_or(0), end.unwrap_or(i64::MAX));
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_slice(tensor, dim, start, end, step, made) })
}

/// A view without a dimension, if that has one element.
pub fn squeeze(tensor: TensorHandle, dim: i64) -> Result<Tensor> {
    // SAFETY: there is one dimension; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_squeeze(tensor, &dim, 1, made) })
}

/// A view of the same memory with other sizes and strides, from an offset of its begin; -1 is the tensor's own.
pub fn as_strided(
    tensor: TensorHandle,
    sizes: &[i64],
    strides: &[i64],
    offset: i64,
) -> Result<Tensor> {
    debug_assert_eq!(sizes.len(), strides.len());
    // SAFETY: sizes and strides have as many entries; the place is valid for a write.
    Tensor::made(|made| unsafe {
        let (sizes, rank) = (sizes.as_ptr(), sizes.len());
        api::sconce_tensor_as_strided(tensor, sizes, strides.as_ptr(), rank, offset, made)
    })
}

/// Lets `into` hold the tensor of `from`.
pub fn assign(into: TensorHandle, from: &Tensor) -> Result<()> {
    // SAFETY: any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_assign(into, from.handle()) })
}

/// The tensor itself or a copy in another type.
pub fn to_dtype(tensor: TensorHandle, dtype: i32) -> Result<Tensor> {
    let options = options(dtype, -1);
    // SAFETY: the options live during the call; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_to(tensor, &options, false, false, made) })
}

/// The tensor in float32 if its type has 16 bits, else the tensor itself: what is calculated is then rounded once.
pub fn widened(tensor: TensorHandle) -> Result<Tensor> {
    let mut dtype = 0;
    // SAFETY: the place is valid for a write.
    check(unsafe { api::sconce_tensor_get_dtype(tensor, &mut dtype) })?;
    match dtype {
        api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => to_dtype(tensor, api::SCONCE_DTYPE_F32),
        _ => Tensor::retained(tensor),
    }
}

/// An operand of [`combine`], [`binary`] and [`choose`].
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A tensor of the caller.
    Handle(TensorHandle),
    /// A real number, also if it is whole.
    Number(f64),
    /// A whole number.
    Whole(i64),
    /// A number of any kind.
    Scalar(api::sconce_scalar),
}

impl Operand<'_> {
    fn parts(self) -> (TensorHandle, Option<api::sconce_scalar>) {
        match self {
            Operand::Tensor(tensor) => (tensor.handle(), None),
            Operand::Handle(tensor) => (tensor, None),
            Operand::Number(number) => (std::ptr::null_mut(), Some(real(number))),
            Operand::Whole(number) => (std::ptr::null_mut(), Some(integer(number))),
            Operand::Scalar(number) => (std::ptr::null_mut(), Some(number)),
        }
    }
}

fn address(number: Option<&api::sconce_scalar>) -> *const api::sconce_scalar {
    number.map_or(std::ptr::null(), std::ptr::from_ref)
}

/// `SCONCE_BINARY_…` of two operands, of which one is a tensor, in a new tensor. Sums and differences have a factor of
/// the second one, which is 1 for all others.
pub fn combine(
    operation: i32,
    first: Operand<'_>,
    second: Operand<'_>,
    alpha: f64,
) -> Result<Tensor> {
    let ((one, one_number), (other, other_number)) = (first.parts(), second.parts());
    let factor = (alpha != 1.0).then(|| number(alpha));
    // SAFETY: the numbers live during the call, or are NULL beside a tensor; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_binary(
            operation,
            one,
            address(one_number.as_ref()),
            other,
            address(other_number.as_ref()),
            address(factor.as_ref()),
            std::ptr::null_mut(),
            made,
        )
    })
}

/// `SCONCE_BINARY_…` of a tensor and another operand, in a new tensor.
pub fn binary(operation: i32, first: &Tensor, second: Operand<'_>) -> Result<Tensor> {
    combine(operation, Operand::Tensor(first), second, 1.0)
}

/// `SCONCE_UNARY_…`, in a new tensor.
pub fn unary(operation: i32, tensor: &Tensor) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_unary(operation, tensor.handle(), std::ptr::null_mut(), made)
    })
}

/// Elements of `if_true` where the condition holds, else those of `if_false`.
pub fn choose(condition: &Tensor, if_true: Operand<'_>, if_false: Operand<'_>) -> Result<Tensor> {
    let ((yes, yes_number), (no, no_number)) = (if_true.parts(), if_false.parts());
    // SAFETY: as in `binary`.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_where(
            condition.handle(),
            yes,
            address(yes_number.as_ref()),
            no,
            address(no_number.as_ref()),
            made,
        )
    })
}

/// Elements below `least` become `least`.
pub fn clamped_from(tensor: &Tensor, least: f64) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_MAXIMUM, tensor, Operand::Number(least))
}

/// Gives a tensor other sizes, and new memory where they need more.
pub fn resize(tensor: TensorHandle, sizes: &[i64]) -> Result<()> {
    // SAFETY: the sizes have the length that is passed; any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_resize(tensor, sizes.as_ptr(), sizes.len()) })
}

/// `SCONCE_LINE_…` along a dimension.
pub fn along(operation: i32, tensor: TensorHandle, dim: i64, dtype: i32) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_along(operation, tensor, dim, dtype, made) })
}

/// `SCONCE_REDUCE_…` of dimensions, or of all if none is named. They stay with one element if `keep` is set.
pub fn reduce(
    operation: i32,
    tensor: TensorHandle,
    dims: &[i64],
    keep: bool,
    dtype: i32,
) -> Result<Tensor> {
    let pointer = if dims.is_empty() { std::ptr::null() } else { dims.as_ptr() };
    // SAFETY: there are as many dimensions; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_reduce(operation, tensor, pointer, dims.len(), keep, dtype, made)
    })
}

/// `SCONCE_REDUCE_…` of the last dimension, which stays with one element.
pub fn reduce_last(operation: i32, tensor: &Tensor) -> Result<Tensor> {
    reduce(operation, tensor.handle(), &[-1], true, api::SCONCE_DTYPE_DEFAULT)
}

/// Whether all elements are true. Waits for the tensor's device.
pub fn all_true(tensor: &Tensor) -> Result<bool> {
    let (operation, dtype) = (api::SCONCE_REDUCE_ALL, api::SCONCE_DTYPE_DEFAULT);
    let all = reduce(operation, tensor.handle(), &[], false, dtype)?;
    Ok(item(all.handle())?.integer != 0)
}

/// Copies elements, converted and repeated as needed.
pub fn copy(into: &Tensor, from: TensorHandle) -> Result<()> {
    // SAFETY: any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_copy(into.handle(), from, true) })
}

/// Tensors joined along a dimension.
pub fn cat(tensors: &[TensorHandle], dim: i64) -> Result<Tensor> {
    // SAFETY: there are as many tensors; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_cat(tensors.as_ptr(), tensors.len(), dim, made)
    })
}

/// The parts of a dimension that a vector of integers names.
pub fn index_select(tensor: TensorHandle, dim: i64, index: TensorHandle) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_index_select(tensor, dim, index, made) })
}

/// A copy with the parts of a dimension in reverse order.
pub fn flip(tensor: TensorHandle, dim: i64) -> Result<Tensor> {
    let size =
        match usize::try_from(dim).ok().and_then(|dim| Some(*sizes_of(tensor).ok()?.get(dim)?)) {
            Some(size) if size > 1 => size,
            _ => return contiguous_copy(tensor),
        };
    let options = options(api::SCONCE_DTYPE_I64, device_of_tensor(tensor)?);
    let index = arange(size - 1, -1, -1, &options)?;
    index_select(tensor, dim, index.handle())
}

/// Whole numbers from `start` up or down to `end`, which is left out.
pub fn arange(
    start: i64,
    end: i64,
    step: i64,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    let (start, end, step) = (integer(start), integer(end), integer(step));
    // SAFETY: the numbers are valid; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_arange(&start, &end, &step, options, made) })
}

/// So many numbers at equal distances, from `first` to `last`.
pub fn linspace(
    first: f64,
    last: f64,
    count: i64,
    options: &api::sconce_tensor_options,
) -> Result<Tensor> {
    let (first, last) = (real(first), real(last));
    // SAFETY: the numbers and options live during the call; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_linspace(&first, &last, count, options, made) })
}

/// A vector of values of the host, whose type has their size.
pub fn from_values<T: Copy>(values: &[T], options: &api::sconce_tensor_options) -> Result<Tensor> {
    let length = values.len() as i64;
    // SAFETY: the values have that many bytes, and there is one size; the place is valid for a write.
    Tensor::made(|made| unsafe {
        let (pointer, bytes) = (values.as_ptr().cast(), size_of_val(values));
        api::sconce_tensor_from_values(pointer, bytes, &length, 1, options, made)
    })
}

/// The elements of a tensor of I32, in the order of its dimensions. The host waits for a device.
pub fn whole_numbers(tensor: TensorHandle) -> Result<Vec<i32>> {
    let mut count = 0;
    // SAFETY: the place is valid for a write.
    check(unsafe { api::sconce_tensor_get_numel(tensor, &mut count) })?;
    let mut numbers = vec![0_i32; count as usize];
    let (place, bytes) = (numbers.as_mut_ptr().cast(), size_of_val(numbers.as_slice()));
    // SAFETY: there is room for that many bytes.
    check(unsafe { api::sconce_tensor_to_values(tensor, place, bytes) })?;
    Ok(numbers)
}

/// A copy whose elements lie one after another.
pub fn contiguous_copy(tensor: TensorHandle) -> Result<Tensor> {
    let format = api::SCONCE_MEMORY_FORMAT_CONTIGUOUS;
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_clone(tensor, format, made) })
}

/// The tensor itself if its elements lie one after another, else a copy in which they do.
pub fn contiguous(tensor: TensorHandle) -> Result<Tensor> {
    let format = api::SCONCE_MEMORY_FORMAT_CONTIGUOUS;
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_contiguous(tensor, format, made) })
}

/// The place of a dimension, whose number may count from the end; `None` if there is no such dimension. A tensor without
/// dimensions has one here, as in torch.
pub fn dimension_place(dim: i64, rank: usize) -> Option<usize> {
    let count = rank.max(1) as i64;
    let place = if dim < 0 { dim.saturating_add(count) } else { dim };
    usize::try_from(place).ok().filter(|_| place < count)
}

/// As [`dimension_place`]; an error if there is no such dimension.
pub fn dim_in(dim: i64, rank: usize) -> Result<i64> {
    let count = rank.max(1) as i64;
    dimension_place(dim, rank).map(|place| place as i64).ok_or_else(|| {
        Error::invalid_argument(format!(
            "dim is {dim}, but must be from {} to {}",
            -count,
            count - 1
        ))
    })
}
