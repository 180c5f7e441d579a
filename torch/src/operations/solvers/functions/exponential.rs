//! Exponentials of square matrices: the sum of powers of a part of the matrix, squared as often as it was halved.

use crate::abi::devices::{current_stream, is_capturing};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::solvers::checks;
use crate::operations::solvers::matrices::{Matrices, check_field};
use crate::operations::solvers::steps::{UpdateMode, update};
use crate::operations::tensors::{empty, filled};
use crate::sconce::operations::{self, Operand, binary, unary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Powers that are added. The next one, of a matrix whose rows add up to a half at most, is below the last bit of
/// float64.
const POWERS: u32 = 14;

/// `linalg_matrix_exp(a)`. The host reads the largest sum of a row, and waits for a device.
pub fn matrix_exp(a: TensorHandle) -> Result<Tensor> {
    let name = "linalg.matrix_exp";
    checks::squares(name, "A", a)?;
    let (dtype, device) = (dtype_of_tensor(a)?, device_of_tensor(a)?);
    check_field(dtype)?;
    if device != api::SCONCE_DEVICE_CPU && is_capturing(current_stream(device)?)? {
        return Err(Error::not_supported(format!(
            "{name} reads how large a device's matrices are, for which the host cannot wait in a capture: calculate it \
             before the capture"
        )));
    }
    let sizes = sizes_of(a)?;
    if sizes.contains(&0) {
        return empty(&sizes, dtype, device);
    }
    let given = operations::contiguous(a)?;
    let any = api::SCONCE_DTYPE_DEFAULT;
    let lengths = unary(api::SCONCE_UNARY_ABS, &given)?;
    let rows = operations::reduce(api::SCONCE_REDUCE_SUM, lengths.handle(), &[-1], false, any)?;
    let largest = operations::reduce(api::SCONCE_REDUCE_AMAX, rows.handle(), &[], false, any)?;
    let largest = operations::item(largest.handle())?.real;
    if !largest.is_finite() {
        return filled(&sizes, dtype, device, f64::NAN);
    }
    let halvings = (largest * 2.0).max(1.0).log2().ceil() as i32;
    let part =
        binary(api::SCONCE_BINARY_MUL, &given, Operand::Number(f64::exp2(f64::from(-halvings))))?;
    let part = operations::contiguous(part.handle())?;
    let one = filled(&sizes, dtype, device, 0.0)?;
    crate::operations::solvers::steps::identity(Matrices::of(&one)?)?;
    // Horner's scheme: 1 + a (1 + a/2 (1 + a/3 (…))).
    let mut sum = Tensor::retained(one.handle())?;
    for power in (1..=POWERS).rev() {
        let product = product(&part, &sum, (&sizes, dtype, device))?;
        let divided = binary(api::SCONCE_BINARY_DIV, &product, Operand::Number(f64::from(power)))?;
        sum = binary(api::SCONCE_BINARY_ADD, &divided, Operand::Tensor(&one))?;
    }
    for _ in 0..halvings {
        sum = product(&sum, &sum, (&sizes, dtype, device))?;
    }
    Ok(sum)
}

fn product(
    first: &Tensor,
    second: &Tensor,
    (sizes, dtype, device): (&[i64], i32, i32),
) -> Result<Tensor> {
    let result = empty(sizes, dtype, device)?;
    let (first, second) = (Matrices::of(first)?, Matrices::of(second)?);
    update(Matrices::of(&result)?, first, second, UpdateMode::Set)?;
    Ok(result)
}
