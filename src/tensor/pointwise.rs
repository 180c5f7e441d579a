//! Elementwise operations.

use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::Scalar;
use sconce_tensors::tensor::Tensor;
use sconce_tensors::tensor::operations::{self, ElementOperation, TensorOperand};

use super::handle::{
    assigned, defined, defined_in, made_in_place, optional, returned, sconce_tensor, tensor_in,
};
use super::scalar::sconce_scalar;
use crate::{Out, guard, null, sconce_status};

pub use sconce_math::arithmetic::numbers::*;

/// The operation with a number, whose names begin with `prefix`.
pub(super) fn operation_of<T: Copy>(number: i32, all: &[T], prefix: &str) -> Result<T> {
    let found = usize::try_from(number).ok().and_then(|index| all.get(index).copied());
    found.ok_or_else(|| unknown(number, prefix, all.len()))
}

fn unary_of(number: i32) -> Result<ElementOperation> {
    operation_of(number, &ElementOperation::UNARY, "SCONCE_UNARY")
}

fn binary_of(number: i32) -> Result<ElementOperation> {
    operation_of(number, &ElementOperation::BINARY, "SCONCE_BINARY")
}

#[cold]
fn unknown(number: i32, prefix: &str, count: usize) -> Error {
    Error::invalid_argument(format!(
        "operation is {number}; it must be one of {prefix}_… (0 to {})",
        count - 1
    ))
}

/// The result of `calculate`: in the tensor of `into` if the caller named one, else in a new one.
fn calculated(
    into: *mut sconce_tensor,
    out_tensor: Option<Out<*mut sconce_tensor>>,
    calculate: impl FnOnce(Option<&Tensor>) -> Result<Tensor>,
) -> Result<()> {
    if optional(into).is_none() {
        let out_tensor = out_tensor.ok_or_else(|| null("out_tensor"))?;
        out_tensor.write(returned(calculate(None)?)?);
        return Ok(());
    }
    let calculate = |into: &Tensor| {
        let result = calculate(Some(into))?;
        Ok((!into.is_same_view(&result)).then_some(result))
    };
    written(into, None, out_tensor, calculate)
}

/// Writes a result to the tensor of `into`, and a second owner of its handle to `out_tensor` unless that is NULL.
/// `write` returns the tensor that the handle is to hold, if that is another one. `known` is the tensor of `into` if
/// the call has read it already.
fn written(
    into: *mut sconce_tensor,
    known: Option<&Tensor>,
    out_tensor: Option<Out<*mut sconce_tensor>>,
    write: impl FnOnce(&Tensor) -> Result<Option<Tensor>>,
) -> Result<()> {
    let write = || {
        let mut place;
        let target = match known {
            Some(known) => known,
            None => {
                place = Tensor::default();
                tensor_in(&mut place, into, "into")?
            }
        };
        match write(target)? {
            None => Ok(()),
            Some(result) => assigned(into, "into", result),
        }
    };
    write()?;
    if let Some(out_tensor) = out_tensor {
        out_tensor.write(super::handle::again(into, "into")?);
    }
    Ok(())
}

/// An operand: a tensor, or a number if there is no tensor.
pub(super) fn either(
    tensor: *mut sconce_tensor,
    number: Option<Scalar>,
    names: [&str; 2],
) -> Result<Option<(Tensor, Option<Scalar>)>> {
    match (optional(tensor), number) {
        (Some(_), None) => Ok(Some((defined(tensor, names[0])?, None))),
        (None, Some(number)) => Ok(Some((Tensor::default(), Some(number)))),
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(both(names)),
    }
}

/// As [`either`]; a tensor is written to `place`.
#[inline]
fn either_in<'a>(
    place: &'a mut Tensor,
    tensor: *mut sconce_tensor,
    number: Option<Scalar>,
    names: [&str; 2],
) -> Result<TensorOperand<'a>> {
    match (optional(tensor), number) {
        (Some(_), None) => defined_in(place, tensor, names[0]).map(TensorOperand::Tensor),
        (None, Some(number)) => Ok(TensorOperand::Number(number)),
        (None, None) => Err(null(names[0])),
        (Some(_), Some(_)) => Err(both(names)),
    }
}

#[cold]
fn both(names: [&str; 2]) -> Error {
    Error::invalid_argument(format!(
        "both {} and {} are given; one of them must be NULL",
        names[0], names[1]
    ))
}

pub(super) fn operand((tensor, number): &(Tensor, Option<Scalar>)) -> TensorOperand<'_> {
    match number {
        Some(number) => TensorOperand::Number(*number),
        None => TensorOperand::Tensor(tensor),
    }
}

/// Applies an operation to every element.
///
/// - `operation`: `SCONCE_UNARY_…`.
/// - `into`: receives the result, as in `sconce_tensor_reduce_out`. It may have any type to which the type of the
///   result can be cast. It may be the tensor itself; then it is not resized. NULL makes a new tensor.
/// - `out_tensor`: receives the new tensor; may be NULL if `into` is not.
/// - Errors: NOT_SUPPORTED: the operation is not defined for the tensor's type; the message is torch's.
///   INVALID_ARGUMENT: `into` has a type that cannot hold the result, partly overlaps the tensor in memory, is
///   read-only, has several elements in one place, or is memory of another owner that is too small. CROSS_DEVICE:
///   `into` is on another device. OUT_OF_MEMORY: for the result.
/// - Ownership: the caller releases the new tensor with `sconce_tensor_release`.
/// - Ordering: queued on the current stream of the tensor's device; done at once on the CPU.
/// - torch: the functions of the same names, such as `torch.exp`; with `into` `torch.exp(…, out=into)` and
///   `torch.Tensor.exp_`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_unary(
    operation: i32,
    tensor: *mut sconce_tensor,
    into: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let operation = unary_of(operation)?;
        let input = defined(tensor, "tensor")?;
        calculated(into, optional_out!(out_tensor), |into| {
            operations::elementwise(operation, &input, into)
        })
    })
}

/// Applies an operation to every pair of elements of two operands, which are broadcast to a common shape. An operand
/// is a tensor or a number. The type of the result follows torch's promotion rules: numbers and tensors without
/// dimensions affect it only by their kind.
///
/// - `operation`: `SCONCE_BINARY_…`.
/// - `first`, `second`: tensors; NULL for an operand that is a number.
/// - `first_number`, `second_number`: numbers; NULL for an operand that is a tensor.
/// - `alpha`: for sums and differences, the factor of the second operand; NULL means 1.
/// - `into`: receives the result, as in `sconce_tensor_unary`; it may be an operand, and then is
///   not resized. NULL makes a new tensor.
/// - `out_tensor`: receives the new tensor; may be NULL if `into` is not.
/// - Errors: INVALID_ARGUMENT: the shapes cannot be broadcast, an operand has both or neither of a tensor and a
///   number, `into` cannot hold the result, or integers of the CPU are divided by 0. CROSS_DEVICE: the tensors are on
///   different devices; tensors of the CPU without dimensions may be combined with those of a device. NOT_SUPPORTED:
///   the operation is not defined for the type.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_unary`. The value of a tensor of the CPU is read during the call.
/// - torch: the functions of the same names, such as `torch.add`; with `into` `torch.add(…, out=into)` and
///   `torch.Tensor.add_`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_binary(
    operation: i32,
    first: *mut sconce_tensor,
    first_number: *const sconce_scalar,
    second: *mut sconce_tensor,
    second_number: *const sconce_scalar,
    alpha: *const sconce_scalar,
    into: *mut sconce_tensor,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let operation = binary_of(operation)?;
        let (mut one, mut other) = (Tensor::default(), Tensor::default());
        let names = [["first", "first_number"], ["second", "second_number"]];
        let operands = [
            either_in(&mut one, first, optional_scalar!(first_number), names[0])?,
            either_in(&mut other, second, optional_scalar!(second_number), names[1])?,
        ];
        let alpha = optional_scalar!(alpha).unwrap_or(Scalar::Int(1));
        if let [TensorOperand::Number(_), TensorOperand::Number(_)] = operands {
            return Err(Error::invalid_argument("neither first nor second is a tensor"));
        }
        if optional(into).is_none() {
            let out_tensor = out!(out_tensor);
            out_tensor.write(made_in_place(|result| {
                operations::binary_new(operation, operands, alpha, result)
            })?);
            return Ok(());
        }
        // Of `x += y` the handle has been read.
        let known = match operands {
            [TensorOperand::Tensor(tensor), _] if into == first => Some(tensor),
            [_, TensorOperand::Tensor(tensor)] if into == second => Some(tensor),
            _ => None,
        };
        written(into, known, optional_out!(out_tensor), |into| {
            operations::binary_into(operation, operands, alpha, into)
        })
    })
}

/// Clamps every element to bounds.
///
/// - `least`, `most`: the bounds as tensors; NULL for a bound that is a number or absent.
/// - `least_number`, `most_number`: the bounds as numbers; NULL for a bound that is a tensor or
///   absent.
/// - `out_tensor`: receives the new tensor.
/// - Errors: INVALID_ARGUMENT: both bounds are absent. Otherwise as `sconce_tensor_binary`.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_binary`.
/// - torch: `torch.clamp`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_clamp(
    tensor: *mut sconce_tensor,
    least: *mut sconce_tensor,
    least_number: *const sconce_scalar,
    most: *mut sconce_tensor,
    most_number: *const sconce_scalar,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let input = defined(tensor, "tensor")?;
        let low = either(least, optional_scalar!(least_number), ["least", "least_number"])?;
        let high = either(most, optional_scalar!(most_number), ["most", "most_number"])?;
        operations::clamp(&input, low.as_ref().map(operand), high.as_ref().map(operand), None)?
    })
}

/// Selects elements of one operand where a condition is true, else those of another.
///
/// - `condition`: a tensor of BOOL.
/// - `if_true`, `if_false`: tensors; NULL for an operand that is a number.
/// - `true_number`, `false_number`: numbers; NULL for an operand that is a tensor.
/// - `out_tensor`: receives the new tensor.
/// - Errors: as `sconce_tensor_binary`.
/// - Ownership: as `sconce_tensor_unary`.
/// - Ordering: as `sconce_tensor_binary`.
/// - torch: `torch.where`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_where(
    condition: *mut sconce_tensor,
    if_true: *mut sconce_tensor,
    true_number: *const sconce_scalar,
    if_false: *mut sconce_tensor,
    false_number: *const sconce_scalar,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    new_tensor!(out_tensor, {
        let condition = defined(condition, "condition")?;
        let one = either(if_true, optional_scalar!(true_number), ["if_true", "true_number"])?;
        let other = either(if_false, optional_scalar!(false_number), ["if_false", "false_number"])?;
        let one = one.ok_or_else(|| null("if_true"))?;
        let other = other.ok_or_else(|| null("if_false"))?;
        operations::select_where(&condition, operand(&one), operand(&other), None)?
    })
}
