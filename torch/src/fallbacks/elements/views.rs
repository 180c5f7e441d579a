//! Views, and tensors that are given other sizes in place.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::arguments::{NewTensor, numbers, optional};
use crate::abi::constants::{dtype_of, memory_format_of};
use crate::error::Result;
use crate::fallbacks::give;
use crate::operations::views;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::integer;
use crate::sconce::{api, operations};

/// The memory format that the caller names, if any.
///
/// # Safety
/// The pointer is NULL or valid for a read.
unsafe fn format(pointer: *const i32) -> Result<Option<i32>> {
    // SAFETY: `pointer` is an optional argument of the ABI: NULL, or the address of a value.
    unsafe { optional(pointer) }.map(memory_format_of).transpose()
}

fallbacks! {
    /// Returns the same memory as complex numbers, whose parts are the last dimension.
    aoti_torch_cpu_view_as_complex | aoti_torch_cuda_view_as_complex(
        tensor: TensorHandle,
        ret0: *mut TensorHandle,
    ) {
        give(ret0, views::as_complex(tensor)?)
    }

    /// Returns the same memory as real numbers, with a last dimension of real and imaginary part.
    aoti_torch_cpu_view_as_real | aoti_torch_cuda_view_as_real(
        tensor: TensorHandle,
        ret0: *mut TensorHandle,
    ) {
        give(ret0, views::as_real(tensor)?)
    }

    /// Returns the same memory as elements of another type.
    aoti_torch_cpu_view_dtype | aoti_torch_cuda_view_dtype(
        tensor: TensorHandle,
        dtype: i32,
        ret0: *mut TensorHandle,
    ) {
        let result = views::of_dtype(tensor, dtype_of(dtype)?)?;
        give(ret0, result)
    }

    /// Returns a view of a part of a dimension.
    aoti_torch_cpu_narrow | aoti_torch_cuda_narrow(
        tensor: TensorHandle,
        dim: i64,
        start: i64,
        length: i64,
        ret0: *mut TensorHandle,
    ) {
        give(ret0, operations::narrow(tensor, dim, start, length)?)
    }

    /// Returns the elements with other sizes, of which one may be -1: a view if there is one, else a copy.
    aoti_torch_cpu_reshape | aoti_torch_cuda_reshape(
        tensor: TensorHandle,
        shape: *const i64,
        shape_len: i64,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the ABI has the number of entries of `shape` in `shape_len`.
        let sizes = unsafe { numbers(shape, shape_len, "shape") }?;
        give(ret0, operations::reshape(tensor, sizes)?)
    }

    /// Returns a view with the dimensions in another order.
    aoti_torch_cpu_permute | aoti_torch_cuda_permute(
        tensor: TensorHandle,
        dims: *const i64,
        dims_len: i64,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: the ABI has the number of entries of `dims` in `dims_len`.
        let dims = unsafe { numbers(dims, dims_len, "dims") }?;
        give(ret0, operations::permute(tensor, dims)?)
    }

    /// Returns a view of every `step`-th part of a dimension; NULL is its begin or its end.
    aoti_torch_cpu_slice_Tensor | aoti_torch_cuda_slice_Tensor(
        tensor: TensorHandle,
        dim: i64,
        start: *const i64,
        end: *const i64,
        step: i64,
        ret0: *mut TensorHandle,
    ) {
        // SAFETY: `start` is an optional argument of the ABI: NULL, or the address of a value.
        let start = unsafe { optional(start) };
        // SAFETY: `end` is an optional argument of the ABI: NULL, or the address of a value.
        let end = unsafe { optional(end) };
        give(ret0, operations::slice(tensor, dim, start, end, step)?)
    }

    /// Returns a view without a dimension, if that has one element.
    aoti_torch_cpu_squeeze_dim | aoti_torch_cuda_squeeze_dim(
        tensor: TensorHandle,
        dim: i64,
        ret0: *mut TensorHandle,
    ) {
        give(ret0, operations::squeeze(tensor, dim)?)
    }

    /// Makes a tensor another view of the memory of `source`.
    aoti_torch_cpu_set__source_Tensor | aoti_torch_cuda_set__source_Tensor(
        tensor: TensorHandle,
        source: TensorHandle,
    ) {
        views::set_source(tensor, source)
    }

    /// Gives a tensor other sizes, and new memory where they need more.
    aoti_torch_cpu_resize_ | aoti_torch_cuda_resize_(
        tensor: TensorHandle,
        size: *const i64,
        size_len: i64,
        memory_format: *const i32,
    ) {
        // SAFETY: the ABI has the number of entries of `size` in `size_len`.
        let sizes = unsafe { numbers(size, size_len, "size") }?;
        // SAFETY: `memory_format` is an argument of the ABI that is NULL or valid for reads.
        views::resize(tensor, sizes, unsafe { format(memory_format) }?)
    }

    /// Gives a tensor the sizes of another, and new memory where they need more.
    aoti_torch_cpu_resize_as_ | aoti_torch_cuda_resize_as_(
        tensor: TensorHandle,
        template: TensorHandle,
        memory_format: *const i32,
    ) {
        // SAFETY: `memory_format` is an argument of the ABI that is NULL or valid for reads.
        views::resize_as(tensor, template, unsafe { format(memory_format) }?)
    }

    /// Returns zeros. They have memory here, where PyTorch's have none.
    aoti_torch_cpu__efficientzerotensor | aoti_torch_cuda__efficientzerotensor(
        size: *const i64,
        size_len: i64,
        dtype: *const i32,
        layout: *const i32,
        device: *const i32,
        device_index: i32,
        pin_memory: *const i32,
        ret0: *mut TensorHandle,
    ) {
        let wanted = NewTensor { dtype, layout, device, device_index, pin_memory };
        // SAFETY: the ABI has the number of entries of `size` in `size_len`.
        let sizes = unsafe { numbers(size, size_len, "size") }?;
        // SAFETY: the pointers of `wanted` are optional arguments of the ABI: NULL, or addresses of values.
        let options = unsafe { wanted.options(api::SCONCE_DTYPE_DEFAULT, api::SCONCE_DEVICE_CPU) }?;
        give(ret0, operations::full(sizes, &integer(0), &options)?)
    }
}
