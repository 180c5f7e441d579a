//! Copies, products, sums, sorting, and operations on elements.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::arguments::Arguments;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of};
use crate::error::{Error, Result};
use crate::registry::value::Value;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::integer;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check, operations};

type Results = Result<Vec<Value>>;

fn one(tensor: Result<Tensor>) -> Results {
    tensor.map(|tensor| vec![Value::Tensor(tensor)])
}

fn made(make: impl FnOnce(*mut TensorHandle) -> i32) -> Results {
    one(Tensor::made(make))
}

/// The first argument itself, which the call has changed.
fn changed(arguments: &mut Arguments) -> Results {
    one(arguments.take(0))
}

/// `copy_(self, src, non_blocking)`
pub fn copy_(arguments: &mut Arguments) -> Results {
    let (tensor, source) = (arguments.tensor(0)?, arguments.tensor(1)?);
    // SAFETY: any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_copy(tensor, source, arguments.flag(2)?) })?;
    changed(arguments)
}

/// `zero_(self)`
pub fn zero_(arguments: &mut Arguments) -> Results {
    // SAFETY: as above; the number is valid.
    check(unsafe { api::sconce_tensor_fill(arguments.tensor(0)?, &integer(0)) })?;
    changed(arguments)
}

/// `contiguous(self, memory_format)`
pub fn contiguous(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    let format = arguments.memory_format(1, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)?;
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_contiguous(tensor, format, made) })
}

/// `clone(self, memory_format)`
pub fn clone(arguments: &mut Arguments) -> Results {
    let tensor = arguments.tensor(0)?;
    let format = arguments.memory_format(1, api::SCONCE_MEMORY_FORMAT_PRESERVE)?;
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_clone(tensor, format, made) })
}

/// A tensor with another type, device or order; `at` is where `non_blocking` is.
fn to(arguments: &Arguments, dtype: i32, device: i32, at: usize) -> Results {
    let tensor = arguments.tensor(0)?;
    let mut options = options(dtype, device);
    options.memory_format = arguments.memory_format(at + 2, api::SCONCE_MEMORY_FORMAT_PRESERVE)?;
    let (non_blocking, copy) = (arguments.flag(at)?, arguments.flag(at + 1)?);
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_to(tensor, &options, non_blocking, copy, made) })
}

/// `to.dtype(self, dtype, non_blocking, copy, memory_format)`
pub fn to_dtype(arguments: &mut Arguments) -> Results {
    to(arguments, arguments.dtype(1)?, device_of_tensor(arguments.tensor(0)?)?, 2)
}

/// `to.device(self, device, dtype, non_blocking, copy, memory_format)`
pub fn to_device(arguments: &mut Arguments) -> Results {
    let device = arguments.device(1, device_of_tensor(arguments.tensor(0)?)?)?;
    to(arguments, arguments.dtype(2)?, device, 3)
}

/// `to.dtype_layout(self, dtype, layout, device, pin_memory, non_blocking, copy, memory_format)`
pub fn to_dtype_layout(arguments: &mut Arguments) -> Results {
    let wanted = arguments.options(1, device_of_tensor(arguments.tensor(0)?)?)?;
    if wanted.pinned {
        return Err(Error::not_supported("pin_memory is not offered here; call aten::pin_memory"));
    }
    to(arguments, wanted.dtype, wanted.device, 5)
}

/// `is_pinned(self, device)`
pub fn is_pinned(arguments: &mut Arguments) -> Results {
    let mut pinned = false;
    // SAFETY: the place is valid for a write.
    check(unsafe { api::sconce_tensor_is_pinned(arguments.tensor(0)?, &mut pinned) })?;
    Ok(vec![Value::Bool(pinned)])
}

/// `matmul(self, other)`
pub fn matmul(arguments: &mut Arguments) -> Results {
    one(operations::matmul(arguments.tensor(0)?, arguments.tensor(1)?))
}

/// `mm(self, mat2)`
pub fn mm(arguments: &mut Arguments) -> Results {
    one(operations::mm(arguments.tensor(0)?, arguments.tensor(1)?))
}

/// `mm.out(self, mat2, out)`
pub fn mm_out(arguments: &mut Arguments) -> Results {
    operations::mm_out(arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(2)?)?;
    one(arguments.take(2))
}

fn reduced(operation: i32, tensor: TensorHandle, dims: &[i64], keep: bool, dtype: i32) -> Results {
    // No dimensions are all of them, as in torch.
    let pointer = if dims.is_empty() { std::ptr::null() } else { dims.as_ptr() };
    // SAFETY: there are as many dimensions; the place is valid for a write.
    made(|made| unsafe {
        api::sconce_tensor_reduce(operation, tensor, pointer, dims.len(), keep, dtype, made)
    })
}

/// `sum(self, dtype)`
pub fn sum(arguments: &mut Arguments) -> Results {
    reduced(api::SCONCE_REDUCE_SUM, arguments.tensor(0)?, &[], false, arguments.dtype(1)?)
}

/// `sum.dim_IntList(self, dim, keepdim, dtype)`
pub fn sum_dims(arguments: &mut Arguments) -> Results {
    let dims = arguments.optional_ints(1)?.unwrap_or_default();
    let (keep, dtype) = (arguments.flag(2)?, arguments.dtype(3)?);
    reduced(api::SCONCE_REDUCE_SUM, arguments.tensor(0)?, &dims, keep, dtype)
}

/// `amax(self, dim, keepdim)`
pub fn amax(arguments: &mut Arguments) -> Results {
    let (dims, keep) = (arguments.ints(1)?, arguments.flag(2)?);
    let dtype = api::SCONCE_DTYPE_DEFAULT;
    reduced(api::SCONCE_REDUCE_AMAX, arguments.tensor(0)?, &dims, keep, dtype)
}

/// `all(self)`
pub fn all(arguments: &mut Arguments) -> Results {
    let dtype = api::SCONCE_DTYPE_DEFAULT;
    reduced(api::SCONCE_REDUCE_ALL, arguments.tensor(0)?, &[], false, dtype)
}

fn sorted(tensor: TensorHandle, dim: i64, descending: bool) -> Results {
    let mut indices = std::ptr::null_mut();
    // SAFETY: the places are valid for writes.
    let values = Tensor::made(|made| unsafe {
        api::sconce_tensor_sort(tensor, dim, descending, made, &mut indices)
    })?;
    Ok(vec![Value::Tensor(values), Value::Tensor(Tensor::from_handle(indices))])
}

/// `sort(self, dim, descending)`
pub fn sort(arguments: &mut Arguments) -> Results {
    sorted(arguments.tensor(0)?, arguments.int(1)?, arguments.flag(2)?)
}

/// `sort.stable(self, stable, dim, descending)`: sorting is stable always.
pub fn sort_stable(arguments: &mut Arguments) -> Results {
    sorted(arguments.tensor(0)?, arguments.int(2)?, arguments.flag(3)?)
}

/// `index_select(self, dim, index)`
pub fn index_select(arguments: &mut Arguments) -> Results {
    let (tensor, dim, index) = (arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?);
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_index_select(tensor, dim, index, made) })
}

/// `masked_select(self, mask)`: the host waits for the mask, as in torch, since it decides the result's size.
pub fn masked_select(arguments: &mut Arguments) -> Results {
    let (tensor, mask) = (arguments.tensor(0)?, arguments.tensor(1)?);
    if dtype_of_tensor(mask)? != api::SCONCE_DTYPE_BOOL {
        return Err(Error::invalid_argument("masked_select: expected BoolTensor for mask"));
    }
    let sizes = crate::abi::tensors::sizes_of(tensor)?;
    let mask_sizes = crate::abi::tensors::sizes_of(mask)?;
    let target = if mask_sizes.len() > sizes.len() || numel_of(mask)? > numel_of(tensor)? {
        mask_sizes
    } else {
        sizes
    };
    let (tensor, mask) = (operations::expand(tensor, &target)?, operations::expand(mask, &target)?);
    let count = usize::try_from(numel_of(mask.handle())?).unwrap_or_default();
    let mut bytes = vec![0_u8; count];
    // SAFETY: there is room for the bytes.
    check(unsafe {
        api::sconce_tensor_to_values(mask.handle(), bytes.as_mut_ptr().cast(), bytes.len())
    })?;
    let chosen: Vec<i64> =
        (0..).zip(&bytes).filter(|(_, byte)| **byte != 0).map(|(at, _)| at).collect();
    let of_device = options(api::SCONCE_DTYPE_I64, device_of_tensor(tensor.handle())?);
    let length = chosen.len() as i64;
    // SAFETY: there are as many numbers and one size; the place is valid for a write.
    let index = Tensor::made(|made| unsafe {
        let (values, bytes) = (chosen.as_ptr().cast(), size_of_val(chosen.as_slice()));
        api::sconce_tensor_from_values(values, bytes, &length, 1, &of_device, made)
    })?;
    let all = operations::reshape(tensor.handle(), &[-1])?;
    // SAFETY: the place is valid for a write.
    made(|made| unsafe { api::sconce_tensor_index_select(all.handle(), 0, index.handle(), made) })
}

/// `equal(self, other)`
pub fn equal(arguments: &mut Arguments) -> Results {
    let mut equal = false;
    let (first, second) = (arguments.tensor(0)?, arguments.tensor(1)?);
    // SAFETY: the place is valid for a write.
    check(unsafe { api::sconce_tensor_equal(first, second, &mut equal) })?;
    Ok(vec![Value::Bool(equal)])
}

fn binary(arguments: &Arguments, operation: i32) -> Results {
    let (first, second, null) = (arguments.tensor(0)?, arguments.tensor(1)?, std::ptr::null());
    let into = std::ptr::null_mut();
    // SAFETY: two tensors and no numbers are given; the place is valid for a write.
    made(|made| unsafe {
        api::sconce_tensor_binary(operation, first, null, second, null, null, into, made)
    })
}

/// Operations on pairs of elements: `(self, other)`.
macro_rules! binaries {
    ($($name:ident = $operation:ident;)*) => {
        $(
            /// As the function of this name of torch, of two tensors.
            pub fn $name(arguments: &mut Arguments) -> Results {
                binary(arguments, api::$operation)
            }
        )*
    };
}

binaries! {
    mul = SCONCE_BINARY_MUL;
    div = SCONCE_BINARY_DIV;
    floor_divide = SCONCE_BINARY_FLOOR_DIVIDE;
    remainder = SCONCE_BINARY_REMAINDER;
    eq = SCONCE_BINARY_EQ;
    ge = SCONCE_BINARY_GE;
    gt = SCONCE_BINARY_GT;
    bitwise_and = SCONCE_BINARY_BITWISE_AND;
    bitwise_or = SCONCE_BINARY_BITWISE_OR;
}
