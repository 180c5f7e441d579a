//! What kernels compute for a type, and what is refused; elementwise operations of one operand.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::{ElementOperation, ResultType};

use super::output::{Destination, InPlace, Output};
use crate::tensor::iteration::result_strides;
use crate::tensor::launch::{self, Input};
use crate::tensor::promotion::{DEFAULT_FLOAT, is_complex, is_integral};
use crate::tensor::{Dims, Tensor, TensorOptions};

/// What kernels compute.
pub(super) struct Plan {
    pub(super) kernel: ElementOperation,
    pub(super) compute: Dtype,
    pub(super) result: Dtype,
}

/// The plan for elements of a type: that of the input, or the common one of two. An error if torch does not define the
/// operation on it.
#[inline]
pub(super) fn plan(operation: ElementOperation, given: Dtype) -> Result<Plan> {
    use ElementOperation::{Add, LogicalAnd, LogicalOr, Mul};
    if !operation.takes(given) {
        return Err(refused(operation, given));
    }
    let kernel = match operation {
        // The sum of truth values is whether one of them is true.
        Add if given == Dtype::Bool => LogicalOr,
        Mul if given == Dtype::Bool => LogicalAnd,
        _ => operation,
    };
    let (compute, result) = match operation.result() {
        ResultType::Fraction if is_integral(given) => (DEFAULT_FLOAT, DEFAULT_FLOAT),
        ResultType::Same | ResultType::Fraction => (given, given),
        ResultType::Truth => (given, Dtype::Bool),
        ResultType::Size => (given, given.real().0),
    };
    Ok(Plan { kernel, compute, result })
}

/// Why an operation of one type is refused, in torch's words.
#[cold]
fn refused(operation: ElementOperation, given: Dtype) -> Error {
    Error::not_supported(match operation {
        ElementOperation::Neg => {
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a \
             mask, use the `~` or `logical_not()` operator instead."
        }
        ElementOperation::Sign => {
            "Unlike NumPy, sign doesn't allow complex tensors; divide by abs() instead"
        }
        ElementOperation::Relu if given == Dtype::Bool => "Boolean inputs not supported for relu",
        _ => return not_implemented(operation.torch_name(), given),
    })
}

#[cold]
pub(crate) fn not_implemented(name: &str, dtype: Dtype) -> Error {
    Error::not_supported(format!(
        "\"{name}\" not implemented for '{}'; convert the tensor first",
        dtype.c10_name()
    ))
}

/// The operation on every element, into a new tensor or `into`, which may be the input.
pub(crate) fn unary(
    operation: ElementOperation,
    input: &Tensor,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    let Plan { kernel, compute, result: dtype } = plan(operation, input.dtype())?;
    let strides = Dims::from_slice(input.strides());
    let Some(into) = into else {
        let order = result_strides(input.sizes(), &[(input, &strides)], Some(compute));
        let output = TensorOptions::of(input).with(dtype).empty_strided(input.sizes(), &order)?;
        launch::run(kernel, compute, &output, &[Input::Tensor(input, &strides)], &[])?;
        return Ok(output);
    };
    let output = Destination::at(input.place(), Some(into))?
        .castable(dtype)?
        .reads(input, InPlace::Works)?
        .output(
            TensorOptions::of(input).with(dtype),
            input.sizes(),
            result_strides(input.sizes(), &[(input, &strides)], Some(compute)),
        )?;
    let output = written_by(compute, dtype, output)?;
    launch::run(kernel, compute, output.tensor(), &[Input::Tensor(input, &strides)], &[])?;
    output.finish()
}

/// The output of an elementwise kernel: those of real numbers write no complex ones.
pub(super) fn written_by(compute: Dtype, result: Dtype, output: Output) -> Result<Output> {
    if is_complex(output.tensor().dtype()) && !is_complex(compute) {
        return output.packed_as(result);
    }
    Ok(output)
}
