//! A tensor or a number, and the place where the operands of an operation meet.

use sconce_base::error::{Error, Result, Status};
use sconce_compute::pointwise::Scalar;

use crate::tensor::promotion::ResultType;
use crate::tensor::transfer::item;
use crate::tensor::{Place, Tensor};

/// An operand of an elementwise operation.
#[derive(Clone, Copy)]
pub enum TensorOperand<'a> {
    Tensor(&'a Tensor),
    Number(Scalar),
}

impl<'a> TensorOperand<'a> {
    /// The tensor, if it is one.
    pub(super) fn tensor(self) -> Option<&'a Tensor> {
        match self {
            TensorOperand::Tensor(tensor) => Some(tensor),
            TensorOperand::Number(_) => None,
        }
    }
}

/// The type that the operands have in common.
pub(super) fn common_type(operands: &[TensorOperand<'_>]) -> Result<sconce_base::element::Dtype> {
    let mut result = ResultType::default();
    for operand in operands {
        result = match operand {
            TensorOperand::Tensor(tensor) => result.tensor(tensor)?,
            TensorOperand::Number(number) => result.number(*number)?,
        };
    }
    result.get()
}

/// The place where the operands meet: that of all tensors. Tensors of the CPU without dimensions may meet
/// tensors of a device.
pub(super) fn common_place(operands: &[TensorOperand<'_>]) -> Result<Place> {
    let tensors = || operands.iter().filter_map(|operand| operand.tensor());
    let mut found: Option<&Tensor> = None;
    for tensor in tensors() {
        match found {
            None => found = Some(tensor),
            Some(known) if known.place() == tensor.place() => {}
            Some(known) if moves(tensor) && known.place() != Place::Cpu => {}
            Some(known) if moves(known) && tensor.place() != Place::Cpu => found = Some(tensor),
            Some(known) => return Err(apart(known.place(), tensor.place())),
        }
    }
    Ok(found.map_or(Place::Cpu, Tensor::place))
}

/// Whether the tensor's one value may be used on a device.
fn moves(tensor: &Tensor) -> bool {
    tensor.rank() == 0 && tensor.place() == Place::Cpu
}

#[cold]
pub(super) fn apart(first: Place, second: Place) -> Error {
    Error::new(
        Status::CrossDevice,
        format!(
            "Expected all tensors to be on the same device, but found at least two devices, {first} and \
             {second}! Copy one of them with to()"
        ),
    )
}

/// Refuses tensors of several places.
pub(super) fn same_place<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<Place> {
    let mut found = None;
    for tensor in tensors {
        match found {
            None => found = Some(tensor.place()),
            Some(place) if place == tensor.place() => {}
            Some(place) => return Err(apart(place, tensor.place())),
        }
    }
    Ok(found.unwrap_or(Place::Cpu))
}

/// An operand that work at `place` can use: the value of a tensor of the CPU becomes a number.
pub(super) fn at_place<'a>(operand: TensorOperand<'a>, place: Place) -> Result<TensorOperand<'a>> {
    match operand {
        TensorOperand::Tensor(tensor) if tensor.place() != place => {
            item(tensor).map(TensorOperand::Number)
        }
        operand => Ok(operand),
    }
}
