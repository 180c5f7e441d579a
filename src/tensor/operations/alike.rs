//! Operations on two tensors whose elements lie alike: nothing is repeated, converted or put into another order, so most
//! of what `binary` finds out is known.

use super::binary_plan::{BinaryOperation, check};
use super::operand::TensorOperand;
use crate::element::Dtype;
use crate::error::Result;
use crate::pointwise::Scalar;
use crate::tensor::overlap::refuse_unwritable;
use crate::tensor::{Tensor, TensorOptions, launch};

/// As `binary`, for contiguous tensors of one floating-point type, shape and place, and an output that is new or lies as
/// they do; `None` for all else.
pub(super) fn binary_alike(
    operation: BinaryOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    into: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let [TensorOperand::Tensor(first), TensorOperand::Tensor(second)] = operands else {
        return Ok(None);
    };
    let common = first.dtype();
    let is_float = matches!(common, Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F64);
    if !is_float || !first.is_contiguous() || !lie_alike(first, second) {
        return Ok(None);
    }
    let into = into.filter(|into| into.is_defined());
    if let Some(into) = into
        && !(lie_alike(first, into) && is_whole(into, first) && is_whole(into, second))
    {
        return Ok(None);
    }
    check(operation, operands, alpha, common)?;
    let plan = operation.plan(common)?;
    if plan.result != common {
        return Ok(None);
    }
    let output = match into {
        Some(into) => {
            refuse_unwritable(into)?;
            into.clone()
        }
        None => {
            let options = TensorOptions { dtype: common, place: first.place(), pinned: false };
            options.empty(first.sizes())?
        }
    };
    launch::run_flat(plan.kernel, plan.compute, &output, [first, second], alpha)?;
    Ok(Some(output))
}

/// Whether two tensors have one type, place and layout.
#[inline]
fn lie_alike(one: &Tensor, other: &Tensor) -> bool {
    one.dtype() == other.dtype()
        && one.place() == other.place()
        && one.sizes() == other.sizes()
        && one.strides() == other.strides()
}

/// Whether a tensor that is written, and lies as one that is read, has all of its memory or none.
#[inline]
fn is_whole(written: &Tensor, read: &Tensor) -> bool {
    !written.storage().is(read.storage()) || written.offset() == read.offset()
}
