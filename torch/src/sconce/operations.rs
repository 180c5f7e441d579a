//! Operations of libsconce.so on tensors, as far as operations of PyTorch's ABI are made of them.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use super::tensor::TensorHandle;
use super::{Tensor, api, check};
use crate::error::Result;

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

/// The tensor itself or a copy in another type.
pub fn to_dtype(tensor: TensorHandle, dtype: i32) -> Result<Tensor> {
    let options = api::sconce_tensor_options {
        struct_size: size_of::<api::sconce_tensor_options>() as u32,
        dtype,
        device: -1,
        memory_format: api::SCONCE_MEMORY_FORMAT_PRESERVE,
        pinned: false,
        reserved: [0; 7],
    };
    // SAFETY: the options live during the call; the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_to(tensor, &options, false, false, made) })
}

/// An operand of [`binary`].
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A number.
    Number(f64),
}

impl Operand<'_> {
    fn parts(self) -> (TensorHandle, Option<api::sconce_scalar>) {
        match self {
            Operand::Tensor(tensor) => (tensor.handle(), None),
            Operand::Number(real) => {
                let kind = api::SCONCE_SCALAR_REAL;
                let number =
                    api::sconce_scalar { kind, reserved: 0, integer: 0, real, imaginary: 0.0 };
                (std::ptr::null_mut(), Some(number))
            }
        }
    }
}

fn address(number: Option<&api::sconce_scalar>) -> *const api::sconce_scalar {
    number.map_or(std::ptr::null(), std::ptr::from_ref)
}

/// `SCONCE_BINARY_…` of two operands, in a new tensor.
pub fn binary(operation: i32, first: &Tensor, second: Operand<'_>) -> Result<Tensor> {
    let (tensor, number) = second.parts();
    // SAFETY: the numbers live during the call, or are NULL beside a tensor; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_binary(
            operation,
            first.handle(),
            std::ptr::null(),
            tensor,
            address(number.as_ref()),
            std::ptr::null(),
            std::ptr::null_mut(),
            made,
        )
    })
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

/// `SCONCE_LINE_…` along a dimension.
pub fn along(operation: i32, tensor: TensorHandle, dim: i64, dtype: i32) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_along(operation, tensor, dim, dtype, made) })
}

/// `SCONCE_REDUCE_…` of the last dimension, which stays with one element.
pub fn reduce_last(operation: i32, tensor: &Tensor) -> Result<Tensor> {
    let last = [-1];
    // SAFETY: there is one dimension; the place is valid for a write.
    Tensor::made(|made| unsafe {
        api::sconce_tensor_reduce(
            operation,
            tensor.handle(),
            last.as_ptr(),
            last.len(),
            true,
            api::SCONCE_DTYPE_DEFAULT,
            made,
        )
    })
}

/// The products of two batches of matrices.
pub fn bmm(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    // SAFETY: the place is valid for a write.
    Tensor::made(|made| unsafe { api::sconce_tensor_bmm(first.handle(), second.handle(), made) })
}

/// Copies elements, converted and repeated as needed.
pub fn copy(into: &Tensor, from: TensorHandle) -> Result<()> {
    // SAFETY: any number may be passed as a handle.
    check(unsafe { api::sconce_tensor_copy(into.handle(), from, true) })
}
