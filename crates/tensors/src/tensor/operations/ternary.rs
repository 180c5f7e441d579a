//! Elementwise operations of three operands.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::ElementOperation;

use super::operand::{TensorOperand, at_place, common_place, common_type};
use super::output::{Destination, InPlace};
use super::unary::{not_implemented, written_by};
use crate::tensor::iteration::{
    broadcast, result_strides, result_strides_with_number, strides_over,
};
use crate::tensor::launch::{self, Input};
use crate::tensor::promotion::is_complex;
use crate::tensor::transfer::{Conversion, to};
use crate::tensor::{Dims, MemoryFormat, Tensor, TensorOptions};

/// Elements of the second operand where the condition is true, else those of the third (`torch.where`), in a new tensor
/// or in `into`.
pub fn select_where(
    condition: &Tensor,
    if_true: TensorOperand<'_>,
    if_false: TensorOperand<'_>,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    if !matches!(condition.dtype(), Dtype::Bool | Dtype::U8) {
        return Err(Error::invalid_argument(format!(
            "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
            condition.dtype().c10_name()
        )));
    }
    let dtype = common_type(&[if_true, if_false])?;
    // Converted first, as in torch: an operand that repeats its elements then lies densely, which decides the
    // order of the result's dimensions.
    let converted = [converted(if_true, dtype)?, converted(if_false, dtype)?];
    let of = |index: usize, given| converted[index].as_ref().map_or(given, TensorOperand::Tensor);
    let operands = [TensorOperand::Tensor(condition), of(0, if_true), of(1, if_false)];
    elementwise(ElementOperation::Where, dtype, operands, into)
}

fn converted(operand: TensorOperand<'_>, dtype: Dtype) -> Result<Option<Tensor>> {
    let Some(tensor) = operand.tensor().filter(|tensor| tensor.dtype() != dtype) else {
        return Ok(None);
    };
    let conversion = Conversion {
        dtype: Some(dtype),
        place: None,
        non_blocking: true,
        copy: false,
        format: MemoryFormat::Preserve,
    };
    to(tensor, conversion)
}

/// Elements moved into bounds, of which one may be absent (`torch.clamp`), in a new tensor or in `into`.
pub fn clamp(
    input: &Tensor,
    least: Option<TensorOperand<'_>>,
    most: Option<TensorOperand<'_>>,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    let own = TensorOperand::Tensor(input);
    let present: smallvec::SmallVec<[TensorOperand<'_>; 3]> =
        [Some(own), least, most].into_iter().flatten().collect();
    let dtype = common_type(&present)?;
    if is_complex(dtype) {
        return Err(Error::not_supported("clamp is not supported for complex types"));
    }
    if dtype == Dtype::Bool {
        return Err(not_implemented("clamp", dtype));
    }
    match (least, most) {
        (None, None) => {
            Err(Error::invalid_argument("clamp: At least one of 'min' and 'max' must be given"))
        }
        (Some(least), Some(most)) => {
            elementwise(ElementOperation::Clamp, dtype, [own, least, most], into)
        }
        (Some(bound), None) => elementwise(ElementOperation::Maximum, dtype, [own, bound], into),
        (None, Some(bound)) => elementwise(ElementOperation::Minimum, dtype, [own, bound], into),
    }
}

/// An operation that computes in the type of its result, into a new tensor or `into`.
fn elementwise<const N: usize>(
    operation: ElementOperation,
    dtype: Dtype,
    operands: [TensorOperand<'_>; N],
    into: Option<&Tensor>,
) -> Result<Tensor> {
    let place = common_place(&operands)?;
    let mut sizes = Dims::new();
    for tensor in operands.iter().filter_map(|operand| operand.tensor()) {
        sizes = broadcast(&sizes, tensor.sizes())?;
    }
    let mut placed = operands;
    for operand in &mut placed {
        *operand = at_place(*operand, place)?;
    }
    let strides = placed.map(|operand| match operand {
        TensorOperand::Tensor(tensor) => strides_over(tensor, &sizes),
        TensorOperand::Number(_) => Dims::new(),
    });
    let tensors: smallvec::SmallVec<[(&Tensor, &Dims); 3]> = placed
        .iter()
        .zip(&strides)
        .filter_map(|(operand, strides)| Some((operand.tensor()?, strides)))
        .collect();
    let options = TensorOptions { dtype, place, pinned: false };
    let mut destination = Destination::at(place, into)?.castable(dtype)?;
    for (tensor, _) in &tensors {
        destination = destination.reads(tensor, InPlace::Works)?;
    }
    let order = || match operation {
        ElementOperation::Where if tensors.len() < N => {
            result_strides_with_number(&sizes, &tensors, None)
        }
        ElementOperation::Where => result_strides(&sizes, &tensors, None),
        _ => result_strides(&sizes, &tensors, Some(dtype)),
    };
    let output = destination.output(options, &sizes, order())?;
    let output = written_by(dtype, dtype, output)?;
    let inputs: smallvec::SmallVec<[Input<'_>; 3]> = placed
        .iter()
        .zip(&strides)
        .map(|(operand, strides)| match operand {
            TensorOperand::Tensor(tensor) => Input::Tensor(tensor, strides),
            TensorOperand::Number(number) => Input::Number(*number),
        })
        .collect();
    launch::run(operation, dtype, output.tensor(), &inputs, &[])?;
    output.finish()
}
