//! Elementwise operations of two operands, repeated to a common shape.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_compute::pointwise::{ElementOperation, Scalar};

use super::checks::{check, refuse_zero_divisor};
use super::operand::{TensorOperand, at_place, common_place, common_type};
use super::output::{Destination, InPlace, Output};
use super::unary::{Plan, plan, written_by};
use crate::tensor::iteration::{
    broadcast, result_strides, result_strides_with_number, strides_over,
};
use crate::tensor::launch::{self, Input};
use crate::tensor::overlap::refuse_unwritable;
use crate::tensor::promotion::is_complex;
use crate::tensor::{Dims, Place, Tensor, TensorOptions, dims};

/// The operation on every pair of elements, into a new tensor, which `result` becomes: a tensor is 200 bytes, which are
/// not moved about. `alpha` is the factor of the second operand of a sum or difference.
pub fn binary_new(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    result: &mut Tensor,
) -> Result<()> {
    if !flat_new(operation, operands, alpha, result)? {
        *result = binary_of_any(operation, operands, alpha, None)?;
    }
    Ok(())
}

/// As [`binary_new`], into `into`, which may be an operand. Returns the tensor with the result, if that is another view
/// than `into`.
pub fn binary_into(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    into: &Tensor,
) -> Result<Option<Tensor>> {
    if flat_into(operation, operands, alpha, into)? {
        return Ok(None);
    }
    let result = binary_of_any(operation, operands, alpha, Some(into))?;
    Ok((!into.is_same_view(&result)).then_some(result))
}

/// As [`binary_new`] or [`binary_into`], for callers that want the tensor with the result.
pub fn binary(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    match into {
        Some(into) => {
            let result = binary_into(operation, operands, alpha, into)?;
            Ok(result.unwrap_or_else(|| into.clone()))
        }
        None => {
            let mut result = Tensor::default();
            binary_new(operation, operands, alpha, &mut result)?;
            Ok(result)
        }
    }
}

/// The operands of a flat operation, and what kernels compute for them.
struct FlatOperands<'a> {
    operands: [&'a Tensor; 2],
    plan: Plan,
}

/// The operands and the plan, if the operands are contiguous tensors of one floating-point type, shape and place, and
/// the result has their type: an operation on such tensors is *flat*, and most of what other operations find out is
/// known. `None` for all other operands.
#[inline]
fn flat_operands<'a>(
    operation: ElementOperation,
    operands: [TensorOperand<'a>; 2],
    alpha: Scalar,
) -> Result<Option<FlatOperands<'a>>> {
    let [TensorOperand::Tensor(first), TensorOperand::Tensor(second)] = operands else {
        return Ok(None);
    };
    let common = first.dtype();
    let is_float = matches!(common, Dtype::F32 | Dtype::F16 | Dtype::Bf16 | Dtype::F64);
    if !is_float || !first.is_contiguous() || !have_same_layout(first, second) {
        return Ok(None);
    }
    check(operation, operands, alpha, common)?;
    let plan = plan(operation, common)?;
    Ok((plan.result == common).then_some(FlatOperands { operands: [first, second], plan }))
}

/// A flat operation into a new tensor, which `result` becomes; `false` if the operation is not flat.
#[inline]
fn flat_new(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    result: &mut Tensor,
) -> Result<bool> {
    let Some(FlatOperands { operands, plan }) = flat_operands(operation, operands, alpha)? else {
        return Ok(false);
    };
    let [first, _] = operands;
    let options = TensorOptions { dtype: plan.result, place: first.place(), pinned: false };
    options.empty_in_place(first.sizes(), result)?;
    launch::run_flat(plan.kernel, plan.compute, result, operands, alpha)?;
    Ok(true)
}

/// A flat operation into a tensor of the same layout; `false` if the operation is not flat, or the layout another.
#[inline]
fn flat_into(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    into: &Tensor,
) -> Result<bool> {
    let [TensorOperand::Tensor(first), TensorOperand::Tensor(second)] = operands else {
        return Ok(false);
    };
    if !into.is_defined()
        || !have_same_layout(first, into)
        || !is_whole(into, first)
        || !is_whole(into, second)
    {
        return Ok(false);
    }
    let Some(FlatOperands { operands, plan }) = flat_operands(operation, operands, alpha)? else {
        return Ok(false);
    };
    refuse_unwritable(into)?;
    launch::run_flat(plan.kernel, plan.compute, into, operands, alpha)?;
    Ok(true)
}

/// Whether two tensors have one type, place and layout.
#[inline]
fn have_same_layout(one: &Tensor, other: &Tensor) -> bool {
    let is_same = || {
        one.dtype() == other.dtype()
            && one.place() == other.place()
            && dims::are_equal(one.sizes(), other.sizes())
            && dims::are_equal(one.strides(), other.strides())
    };
    std::ptr::eq(one, other) || is_same()
}

/// Whether a tensor that is written shares with one of the same layout that is read all of its memory or none.
#[inline]
fn is_whole(written: &Tensor, read: &Tensor) -> bool {
    !written.storage().is(read.storage()) || written.offset() == read.offset()
}

/// The operation on operands of any types and layouts.
#[inline(never)]
fn binary_of_any(
    operation: ElementOperation,
    operands: [TensorOperand<'_>; 2],
    alpha: Scalar,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    let common = common_type(&operands)?;
    check(operation, operands, alpha, common)?;
    let plan = match (operation, operands[1]) {
        // torch takes powers of truth values to numbers only: x to the power of 1 is x, to that of 0 it is 1.
        (ElementOperation::Pow, TensorOperand::Number(_)) if common == Dtype::Bool => {
            Plan { kernel: ElementOperation::Ge, compute: common, result: common }
        }
        _ => plan(operation, common)?,
    };
    let place = common_place(&operands)?;
    let shape = |operand: TensorOperand<'_>| match operand {
        TensorOperand::Tensor(tensor) => Dims::from_slice(tensor.sizes()),
        TensorOperand::Number(_) => Dims::new(),
    };
    let sizes = broadcast(&shape(operands[0]), &shape(operands[1]))?;
    let operands = [at_place(operands[0], place)?, at_place(operands[1], place)?];
    let strides = operands.map(|operand| match operand {
        TensorOperand::Tensor(tensor) => strides_over(tensor, &sizes),
        TensorOperand::Number(_) => Dims::new(),
    });
    let tensors: smallvec::SmallVec<[(&Tensor, &Dims); 2]> = operands
        .iter()
        .zip(&strides)
        .filter_map(|(operand, strides)| Some((operand.tensor()?, strides)))
        .collect();
    if place == Place::Cpu && !sizes.contains(&0) {
        refuse_zero_divisor(plan.kernel, plan.compute, operands[1])?;
    }
    let options = TensorOptions { dtype: plan.result, place, pinned: false };
    let order = || match (operation, tensors.len()) {
        (ElementOperation::Pow, _) | (_, 2) => result_strides(&sizes, &tensors, Some(plan.compute)),
        _ => result_strides_with_number(&sizes, &tensors, Some(plan.compute)),
    };
    let output = match into {
        None => Output::new(options.empty_in_order(&sizes, order())?),
        Some(_) => {
            let mut destination = Destination::at(place, into)?.castable(plan.result)?;
            for (tensor, _) in &tensors {
                destination = destination.reads(tensor, InPlace::Works)?;
            }
            let output = destination.output(options, &sizes, order())?;
            written_by(plan.compute, plan.result, output)?
        }
    };
    let inputs = [0, 1].map(|index| match operands[index] {
        TensorOperand::Tensor(tensor) => Input::Tensor(tensor, &strides[index]),
        TensorOperand::Number(number) => Input::Number(number),
    });
    let (kernel, inputs) = match (plan.kernel, inputs) {
        (ElementOperation::Div, [dividend @ Input::Tensor(..), Input::Number(divisor)]) => {
            match reciprocal(divisor, plan.compute) {
                Some(factor) => (ElementOperation::Mul, [dividend, Input::Number(factor)]),
                None => (ElementOperation::Div, inputs),
            }
        }
        // Numbers to the power of 0 are 1, also where 0 is the base: the logarithm of 0 would give NaN.
        (ElementOperation::Pow, [base @ Input::Tensor(..), Input::Number(exponent)])
            if is_complex(plan.compute) && is_zero(exponent) =>
        {
            (ElementOperation::LogicalOr, [base, Input::Number(Scalar::Int(1))])
        }
        (kernel, inputs) => (kernel, inputs),
    };
    launch::run(kernel, plan.compute, output.tensor(), &inputs, &[alpha])?;
    output.finish()
}

/// What torch multiplies by on CUDA instead of dividing by a number: its reciprocal, rounded to the type in
/// which elements are calculated. `None` for complex numbers.
fn reciprocal(divisor: Scalar, compute: Dtype) -> Option<Scalar> {
    let divisor = match divisor {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) => value,
        Scalar::Complex(..) => return None,
    };
    match compute {
        Dtype::F64 => Some(Scalar::Float(1.0 / divisor)),
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 => {
            Some(Scalar::Float(f64::from(1.0_f32 / divisor as f32)))
        }
        _ => None,
    }
}

fn is_zero(number: Scalar) -> bool {
    match number {
        Scalar::Bool(value) => !value,
        Scalar::Int(value) => value == 0,
        Scalar::Float(value) => value == 0.0,
        Scalar::Complex(re, im) => re == 0.0 && im == 0.0,
    }
}
