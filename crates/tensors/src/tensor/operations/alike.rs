//! Operations on two tensors whose elements lie alike: nothing is repeated, converted or put into another order, so most
//! of what `binary` finds out is known.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_compute::pointwise::{ElementOperation, Scalar};

use super::checks::check;
use super::operand::TensorOperand;
use super::unary::{Plan, plan};
use crate::tensor::overlap::refuse_unwritable;
use crate::tensor::{Tensor, TensorOptions, dims, launch};

/// Two tensors that lie alike, and what kernels compute for them.
struct Alike<'a> {
    operands: [&'a Tensor; 2],
    plan: Plan,
}

/// The operands and the plan, if the operands are contiguous tensors of one floating-point type, shape and place, and the
/// result has their type; `None` for all else.
#[inline]
fn alike<'a>(
    operation: ElementOperation,
    operands: [TensorOperand<'a>; 2],
    alpha: Scalar,
) -> Result<Option<Alike<'a>>> {
    let [TensorOperand::Tensor(first), TensorOperand::Tensor(second)] = operands else {
        return Ok(None);
    };
    let common = first.dtype();
    let is_float = matches!(common, Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F64);
    if !is_float || !first.is_contiguous() || !lie_alike(first, second) {
        return Ok(None);
    }
    check(operation, operands, alpha, common)?;
    let plan = plan(operation, common)?;
    Ok((plan.result == common).then_some(Alike { operands: [first, second], plan }))
}

/// Calculates into a new tensor, which `result` becomes; `false` if the operands do not lie alike.
#[inline]
pub(super) fn new_alike(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    result: &mut Tensor,
) -> Result<bool> {
    let Some(Alike { operands, plan }) = alike(operation, operands, alpha)? else {
        return Ok(false);
    };
    let [first, _] = operands;
    let options = TensorOptions { dtype: plan.result, place: first.place(), pinned: false };
    options.empty_in_place(first.sizes(), result)?;
    launch::run_flat(plan.kernel, plan.compute, result, operands, alpha)?;
    Ok(true)
}

/// Calculates into a tensor that lies as the operands do; `false` if it does not, or they do not lie alike.
#[inline]
pub(super) fn written_alike(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    into: &Tensor,
) -> Result<bool> {
    let [TensorOperand::Tensor(first), TensorOperand::Tensor(second)] = operands else {
        return Ok(false);
    };
    if !into.is_defined()
        || !lie_alike(first, into)
        || !is_whole(into, first)
        || !is_whole(into, second)
    {
        return Ok(false);
    }
    let Some(Alike { operands, plan }) = alike(operation, operands, alpha)? else {
        return Ok(false);
    };
    refuse_unwritable(into)?;
    launch::run_flat(plan.kernel, plan.compute, into, operands, alpha)?;
    Ok(true)
}

/// Whether two tensors have one type, place and layout.
#[inline]
fn lie_alike(one: &Tensor, other: &Tensor) -> bool {
    let is_same = || {
        one.dtype() == other.dtype()
            && one.place() == other.place()
            && dims::are_equal(one.sizes(), other.sizes())
            && dims::are_equal(one.strides(), other.strides())
    };
    std::ptr::eq(one, other) || is_same()
}

/// Whether a tensor that is written, and lies as one that is read, has all of its memory or none.
#[inline]
fn is_whole(written: &Tensor, read: &Tensor) -> bool {
    !written.storage().is(read.storage()) || written.offset() == read.offset()
}
