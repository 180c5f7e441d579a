//! Operations on elements.

use crate::error::Result;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, number, real};
use crate::sconce::{Tensor, api};

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
    Tensor::made(|made| {
        api::sconce_tensor_binary(
            operation,
            one,
            one_number.as_ref(),
            other,
            other_number.as_ref(),
            factor.as_ref(),
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
    Tensor::made(|made| {
        api::sconce_tensor_unary(operation, tensor.handle(), std::ptr::null_mut(), made)
    })
}

/// [`unary`], whose results replace the elements of the tensor.
pub fn unary_in_place(operation: i32, tensor: Tensor) -> Result<Tensor> {
    Tensor::made(|made| api::sconce_tensor_unary(operation, tensor.handle(), tensor.handle(), made))
}

/// [`binary`] of two tensors, whose results replace the elements of the first.
pub fn binary_in_place(operation: i32, first: Tensor, second: &Tensor) -> Result<Tensor> {
    let (handle, second) = (first.handle(), second.handle());
    Tensor::made(|made| {
        api::sconce_tensor_binary(operation, handle, None, second, None, None, handle, made)
    })
}

/// Elements of `if_true` where the condition holds, else those of `if_false`.
pub fn choose(condition: &Tensor, if_true: Operand<'_>, if_false: Operand<'_>) -> Result<Tensor> {
    let ((yes, yes_number), (no, no_number)) = (if_true.parts(), if_false.parts());
    Tensor::made(|made| {
        api::sconce_tensor_where(
            condition.handle(),
            yes,
            yes_number.as_ref(),
            no,
            no_number.as_ref(),
            made,
        )
    })
}

/// Elements below `least` become `least`.
pub fn clamped_from(tensor: &Tensor, least: f64) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_MAXIMUM, tensor, Operand::Number(least))
}
