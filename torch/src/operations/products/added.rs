//! Products of matrices that are added to a tensor, with any factors: libsconce.so takes real ones.

use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::views::real_of;
use crate::sconce::operations::{self, Operand, binary, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// `addmm(self, mat1, mat2, beta, alpha)`: `beta * self + alpha * (mat1 @ mat2)`. A `beta` of 0 ignores `self`, also its
/// NaN.
pub fn addmm(
    tensor: TensorHandle,
    [first, second]: [TensorHandle; 2],
    [beta, alpha]: [api::sconce_scalar; 2],
) -> Result<Tensor> {
    if let (Some(beta), Some(alpha)) = (real_value(beta), real_value(alpha)) {
        return operations::addmm(tensor, [first, second], beta, alpha);
    }
    if real_of(dtype_of_tensor(first)?).is_none() {
        return Err(Error::invalid_argument(
            "beta and alpha must be real for matrices of real numbers, but one is complex",
        ));
    }
    added(tensor, &operations::mm(first, second)?, [beta, alpha])
}

/// `baddbmm(self, batch1, batch2, beta, alpha)`: the same of batches. 16-bit types are calculated in float32.
pub fn baddbmm(
    tensor: TensorHandle,
    [first, second]: [&Tensor; 2],
    numbers: [api::sconce_scalar; 2],
) -> Result<Tensor> {
    let dtype = dtype_of_tensor(first.handle())?;
    let product = operations::bmm(&widened(first.handle())?, &widened(second.handle())?)?;
    let sum = added(widened(tensor)?.handle(), &product, numbers)?;
    operations::to_dtype(sum.handle(), dtype)
}

/// `beta * tensor + alpha * product`
fn added(
    tensor: TensorHandle,
    product: &Tensor,
    [beta, alpha]: [api::sconce_scalar; 2],
) -> Result<Tensor> {
    let scaled = binary(api::SCONCE_BINARY_MUL, product, Operand::Scalar(alpha))?;
    let added = operations::expand(tensor, &sizes_of(product.handle())?)?;
    if is_zero(beta) {
        return Ok(scaled);
    }
    let added = binary(api::SCONCE_BINARY_MUL, &added, Operand::Scalar(beta))?;
    let sum = binary(api::SCONCE_BINARY_ADD, &scaled, Operand::Tensor(&added))?;
    operations::contiguous(sum.handle())
}

/// The value of a number that is not complex.
fn real_value(scalar: api::sconce_scalar) -> Option<f64> {
    match scalar.kind {
        api::SCONCE_SCALAR_COMPLEX => None,
        api::SCONCE_SCALAR_REAL => Some(scalar.real),
        _ => Some(scalar.integer as f64),
    }
}

fn is_zero(scalar: api::sconce_scalar) -> bool {
    scalar.integer == 0 && scalar.real == 0.0 && scalar.imaginary == 0.0
}
