//! Determinants, from LU factors.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, is_contiguous, sizes_of, strides_of};
use crate::error::{Result, ensure};
use crate::operations::solvers::checks;
use crate::operations::solvers::lu::{Factors, lu_factor};
use crate::operations::solvers::matrices::real_type;
use crate::operations::views::real_of;
use crate::sconce::operations::{self, Operand, binary, choose, unary};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// Factors of square matrices, or of the transposed ones where these need no copy, as PyTorch does.
fn factors_of_squares(name: &str, a: TensorHandle) -> Result<Factors> {
    checks::squares(name, "A", a)?;
    let is_transposed = is_contiguous(a, api::SCONCE_MEMORY_FORMAT_CONTIGUOUS)?
        && real_of(dtype_of_tensor(a)?).is_none();
    match is_transposed {
        true => lu_factor(name, operations::transpose(a, -2, -1)?.handle()),
        false => lu_factor(name, a),
    }
}

/// The diagonals of matrices.
fn diagonals(matrices: &Tensor) -> Result<Tensor> {
    let (mut sizes, mut strides) = (sizes_of(matrices.handle())?, strides_of(matrices.handle())?);
    sizes.pop();
    let step = strides.pop().unwrap_or(0) + strides.pop().unwrap_or(0);
    strides.push(step);
    operations::as_strided(matrices.handle(), &sizes, &strides, None)
}

fn along(operation: i32, tensor: &Tensor) -> Result<Tensor> {
    operations::reduce(operation, tensor.handle(), &[-1], false, api::SCONCE_DTYPE_DEFAULT)
}

/// -1 for each matrix whose rows were exchanged an odd number of times, else 1.
fn signs(pivots: &Tensor, dtype: i32) -> Result<Tensor> {
    let count = sizes_of(pivots.handle())?.last().copied().unwrap_or(0);
    let options = options(api::SCONCE_DTYPE_I32, device_of_tensor(pivots.handle())?);
    let own = operations::arange(1, count + 1, 1, &options)?;
    let exchanged = binary(api::SCONCE_BINARY_NE, pivots, Operand::Tensor(&own))?;
    let exchanges = along(api::SCONCE_REDUCE_SUM, &exchanged)?;
    let odd = binary(api::SCONCE_BINARY_REMAINDER, &exchanges, Operand::Whole(2))?;
    let turned = binary(api::SCONCE_BINARY_MUL, &odd, Operand::Whole(-2))?;
    let signs = binary(api::SCONCE_BINARY_ADD, &turned, Operand::Whole(1))?;
    operations::to_dtype(signs.handle(), dtype)
}

/// `_linalg_det(a)`: the determinants and the factors they are made of.
pub fn determinant(a: TensorHandle) -> Result<(Tensor, Factors)> {
    let factors = factors_of_squares("linalg.det", a)?;
    let product = along(api::SCONCE_REDUCE_PROD, &diagonals(&factors.lu)?)?;
    let sign = signs(&factors.pivots, dtype_of_tensor(a)?)?;
    Ok((binary(api::SCONCE_BINARY_MUL, &product, Operand::Tensor(&sign))?, factors))
}

/// Numbers divided by their absolute values; 0 of 0.
fn directions(numbers: &Tensor, sizes: &Tensor) -> Result<Tensor> {
    if real_of(dtype_of_tensor(numbers.handle())?).is_none() {
        return unary(api::SCONCE_UNARY_SIGN, numbers);
    }
    let nothing = binary(api::SCONCE_BINARY_EQ, sizes, Operand::Number(0.0))?;
    let divisors = choose(&nothing, Operand::Number(1.0), Operand::Tensor(sizes))?;
    let divisors = operations::to_dtype(divisors.handle(), dtype_of_tensor(sizes.handle())?)?;
    binary(api::SCONCE_BINARY_DIV, numbers, Operand::Tensor(&divisors))
}

/// What `_linalg_slogdet` returns.
pub struct SignAndLogarithm {
    /// The determinant divided by its absolute value; 0 of 0.
    pub sign: Tensor,
    /// The logarithm of the absolute value.
    pub logarithm: Tensor,
    /// The factors they are made of.
    pub factors: Factors,
}

/// `_linalg_slogdet(a)`
pub fn sign_and_logarithm(a: TensorHandle) -> Result<SignAndLogarithm> {
    let factors = factors_of_squares("linalg.slogdet", a)?;
    let dtype = dtype_of_tensor(a)?;
    let numbers = operations::contiguous(diagonals(&factors.lu)?.handle())?;
    let sizes = unary(api::SCONCE_UNARY_ABS, &numbers)?;
    ensure!(dtype_of_tensor(sizes.handle())? == real_type(dtype));
    let logarithm = along(api::SCONCE_REDUCE_SUM, &unary(api::SCONCE_UNARY_LOG, &sizes)?)?;
    let product = along(api::SCONCE_REDUCE_PROD, &directions(&numbers, &sizes)?)?;
    let sign = signs(&factors.pivots, dtype)?;
    let sign = binary(api::SCONCE_BINARY_MUL, &product, Operand::Tensor(&sign))?;
    Ok(SignAndLogarithm { sign, logarithm, factors })
}
