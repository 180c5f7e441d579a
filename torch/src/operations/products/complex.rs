//! Products of complex matrices, which libsconce.so does not have: a step of the [solvers](crate::operations::solvers)
//! multiplies them. Other types go to libsconce.so.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::layout::{Layout, broadcast};
use crate::operations::solvers::matrices::{Matrices, check_field};
use crate::operations::solvers::parameters::UpdateMode;
use crate::operations::solvers::steps;
use crate::operations::tensors::{check_device, empty, name_of};
use crate::operations::views::real_of;
use crate::sconce::operations::{self, Operand, binary, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Whether one of the operands is complex, so that the product is one of this file.
fn are_complex(first: TensorHandle, second: TensorHandle) -> Result<bool> {
    let (dtype, other) = (dtype_of_tensor(first)?, dtype_of_tensor(second)?);
    if real_of(dtype).is_none() && real_of(other).is_none() {
        return Ok(false);
    }
    if dtype != other {
        return Err(Error::invalid_argument(format!(
            "expected m1 and m2 to have the same dtype, but got: {} != {}",
            name_of(dtype),
            name_of(other)
        )));
    }
    check_field(dtype)?;
    check_device("mat2", device_of_tensor(second)?, device_of_tensor(first)?)?;
    Ok(true)
}

fn check_rank(name: &str, argument: &str, tensor: TensorHandle, rank: usize) -> Result<()> {
    let found = sizes_of(tensor)?.len();
    if found == rank {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "{name}: {argument} must have {rank} dimensions, but has {found}"
    )))
}

/// The matrices of a tensor of three dimensions, whatever its strides are.
fn batch_of(tensor: &Tensor) -> Result<Matrices> {
    let mut matrices = Matrices::of(tensor)?;
    matrices.view.batch = Layout::of(tensor.handle())?.strides[0];
    Ok(matrices)
}

/// The products of two batches of complex matrices.
fn products(name: &str, first: &Tensor, second: &Tensor) -> Result<Tensor> {
    let (left, right) = (sizes_of(first.handle())?, sizes_of(second.handle())?);
    if left[0] != right[0] || left[2] != right[1] {
        return Err(Error::invalid_argument(format!(
            "{name}: the sizes {left:?} of the first and {right:?} of the second operand do not fit"
        )));
    }
    let (dtype, device) = (dtype_of_tensor(first.handle())?, device_of_tensor(first.handle())?);
    let result = empty(&[left[0], left[1], right[2]], dtype, device)?;
    steps::update(batch_of(&result)?, batch_of(first)?, batch_of(second)?, UpdateMode::Set)?;
    Ok(result)
}

/// `bmm(self, mat2)`
pub fn bmm(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    if !are_complex(first.handle(), second.handle())? {
        return operations::bmm(first, second);
    }
    check_rank("bmm", "self", first.handle(), 3)?;
    check_rank("bmm", "mat2", second.handle(), 3)?;
    products("bmm", first, second)
}

/// `mm(self, mat2)`
pub fn mm(first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    if !are_complex(first, second)? {
        return operations::mm(first, second);
    }
    check_rank("mm", "self", first, 2)?;
    check_rank("mm", "mat2", second, 2)?;
    let [left, right] = [first, second].map(|one| operations::unsqueeze(one, 0));
    let result = products("mm", &left?, &right?)?;
    operations::squeeze(result.handle(), 0)
}

/// `matmul(self, other)`: of vectors, matrices or batches of matrices, which are repeated to a common batch.
pub fn matmul(first: TensorHandle, second: TensorHandle) -> Result<Tensor> {
    if !are_complex(first, second)? {
        return operations::matmul(first, second);
    }
    let [mut left, mut right] = [Tensor::retained(first)?, Tensor::retained(second)?];
    let ranks = [sizes_of(first)?.len(), sizes_of(second)?.len()];
    if ranks.contains(&0) {
        return Err(Error::invalid_argument(format!(
            "both arguments to matmul need to be at least 1D, but they are {}D and {}D",
            ranks[0], ranks[1]
        )));
    }
    if ranks[0] == 1 {
        left = operations::unsqueeze(first, 0)?;
    }
    if ranks[1] == 1 {
        right = operations::unsqueeze(second, 1)?;
    }
    let (own, other) = (sizes_of(left.handle())?, sizes_of(right.handle())?);
    let (outer, [rows, inner]) = crate::operations::solvers::checks::split(&own);
    let (others, [depth, columns]) = crate::operations::solvers::checks::split(&other);
    let batch = broadcast(&[outer, others])?;
    let flat = |tensor: &Tensor, sizes: [i64; 2]| {
        let whole = operations::expand(tensor.handle(), &[&batch[..], &sizes].concat())?;
        let count = batch.iter().product();
        operations::reshape(whole.handle(), &[count, sizes[0], sizes[1]])
    };
    let result =
        products("matmul", &flat(&left, [rows, inner])?, &flat(&right, [depth, columns])?)?;
    let mut sizes = batch;
    sizes.extend((ranks[0] > 1).then_some(rows));
    sizes.extend((ranks[1] > 1).then_some(columns));
    operations::reshape(result.handle(), &sizes)
}

/// `addmm(self, mat1, mat2, beta, alpha)`: `beta * self + alpha * (mat1 @ mat2)`. A `beta` of 0 ignores `self`, also its
/// NaN.
pub fn addmm(
    tensor: TensorHandle,
    [first, second]: [TensorHandle; 2],
    [beta, alpha]: [api::sconce_scalar; 2],
) -> Result<Tensor> {
    if !are_complex(first, second)? {
        return operations::addmm(tensor, [first, second], value_of(beta)?, value_of(alpha)?);
    }
    added(tensor, &mm(first, second)?, [beta, alpha])
}

/// `baddbmm(self, batch1, batch2, beta, alpha)`: the same of batches. 16-bit types are calculated in float32.
pub fn baddbmm(
    tensor: TensorHandle,
    [first, second]: [&Tensor; 2],
    numbers: [api::sconce_scalar; 2],
) -> Result<Tensor> {
    let dtype = dtype_of_tensor(first.handle())?;
    let product = bmm(&widened(first.handle())?, &widened(second.handle())?)?;
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
fn value_of(scalar: api::sconce_scalar) -> Result<f64> {
    match scalar.kind {
        api::SCONCE_SCALAR_COMPLEX => Err(Error::invalid_argument(
            "beta and alpha must be real for matrices of real numbers, but one is complex",
        )),
        api::SCONCE_SCALAR_REAL => Ok(scalar.real),
        _ => Ok(scalar.integer as f64),
    }
}

fn is_zero(scalar: api::sconce_scalar) -> bool {
    scalar.integer == 0 && scalar.real == 0.0 && scalar.imaginary == 0.0
}
