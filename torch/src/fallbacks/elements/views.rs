//! Views, and tensors that are given other sizes in place.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use crate::abi::constants::{dtype_of, memory_format_of};
use crate::fallbacks::{Place, give};
use crate::operations::views;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::integer;
use crate::sconce::{api, operations};

abi_functions! {
    /// Returns the same memory as complex numbers, whose parts are the last dimension.
    aoti_torch_cpu_view_as_complex | aoti_torch_cuda_view_as_complex(
        tensor as self: TensorHandle, ret0: Place,
    ) {
        give(ret0, views::as_complex(tensor)?)
    }

    /// Returns the same memory as real numbers, with a last dimension of real and imaginary part.
    aoti_torch_cpu_view_as_real | aoti_torch_cuda_view_as_real(
        tensor as self: TensorHandle, ret0: Place,
    ) {
        give(ret0, views::as_real(tensor)?)
    }

    /// Returns the same memory as elements of another type.
    aoti_torch_cpu_view_dtype | aoti_torch_cuda_view_dtype(
        tensor as self: TensorHandle, dtype: i32, ret0: Place,
    ) {
        let result = views::of_dtype(tensor, dtype_of(dtype)?)?;
        give(ret0, result)
    }

    /// Returns a view of a part of a dimension.
    aoti_torch_cpu_narrow | aoti_torch_cuda_narrow(
        tensor as self: TensorHandle, dim: i64, start: i64, length: i64, ret0: Place,
    ) {
        give(ret0, operations::narrow(tensor, dim, start, length)?)
    }

    /// Returns the elements with other sizes, of which one may be -1: a view if there is one, else a copy.
    aoti_torch_cpu_reshape | aoti_torch_cuda_reshape(
        tensor as self: TensorHandle, shape: &[i64], ret0: Place,
    ) {
        give(ret0, operations::reshape(tensor, shape)?)
    }

    /// Returns a view with the dimensions in another order.
    aoti_torch_cpu_permute | aoti_torch_cuda_permute(
        tensor as self: TensorHandle, dims: &[i64], ret0: Place,
    ) {
        give(ret0, operations::permute(tensor, dims)?)
    }

    /// Returns a view of every `step`-th part of a dimension; NULL is its begin or its end.
    aoti_torch_cpu_slice_Tensor | aoti_torch_cuda_slice_Tensor(
        tensor as self: TensorHandle, dim: i64, start: Option<i64>, end: Option<i64>, step: i64, ret0: Place,
    ) {
        give(ret0, operations::slice(tensor, dim, start, end, step)?)
    }

    /// Returns a view without a dimension, if that has one element.
    aoti_torch_cpu_squeeze_dim | aoti_torch_cuda_squeeze_dim(
        tensor as self: TensorHandle, dim: i64, ret0: Place,
    ) {
        give(ret0, operations::squeeze(tensor, dim)?)
    }

    /// Makes a tensor another view of the memory of `source`.
    aoti_torch_cpu_set__source_Tensor | aoti_torch_cuda_set__source_Tensor(
        tensor as self: TensorHandle, source: TensorHandle,
    ) {
        views::set_source(tensor, source)
    }

    /// Gives a tensor other sizes, and new memory where they need more.
    aoti_torch_cpu_resize_ | aoti_torch_cuda_resize_(
        tensor as self: TensorHandle, size: &[i64], memory_format: Option<i32>,
    ) {
        views::resize(tensor, size, memory_format.map(memory_format_of).transpose()?)
    }

    /// Gives a tensor the sizes of another, and new memory where they need more.
    aoti_torch_cpu_resize_as_ | aoti_torch_cuda_resize_as_(
        tensor as self: TensorHandle, template as the_template: TensorHandle, memory_format: Option<i32>,
    ) {
        views::resize_as(tensor, template, memory_format.map(memory_format_of).transpose()?)
    }

    /// Returns zeros. They have memory here, where PyTorch's have none.
    aoti_torch_cpu__efficientzerotensor | aoti_torch_cuda__efficientzerotensor(
        size: &[i64], wanted: NewTensor, ret0: Place,
    ) {
        let options = wanted.options(api::SCONCE_DTYPE_DEFAULT, api::SCONCE_DEVICE_CPU)?;
        give(ret0, operations::full(size, &integer(0), &options)?)
    }
}
