//! Normalisation by the root of the mean square.

#![allow(unsafe_code, reason = "functions of C over handles and arrays")]

use super::{Place, give_both};
use crate::abi::tensors::{dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::operations::tensors::refused_type;
use crate::sconce::operations::{Operand, binary, reduce_last, unary, widened};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, operations};

/// `_fused_rms_norm(input, normalized_shape, weight, eps)`: the result, and 1 over the roots of the mean squares, in
/// float32 for the 16-bit types. Without `eps` it is the smallest step of the type that is calculated in.
fn rms_norm(
    input: TensorHandle,
    shape: &[i64],
    weight: Option<TensorHandle>,
    eps: Option<f64>,
) -> Result<(Tensor, Tensor)> {
    let (dtype, sizes) = (dtype_of_tensor(input)?, sizes_of(input)?);
    let step = match dtype {
        api::SCONCE_DTYPE_F64 => f64::EPSILON,
        api::SCONCE_DTYPE_F32 | api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16 => {
            f32::EPSILON.into()
        }
        other => return Err(refused_type(other)),
    };
    if shape.is_empty() || !sizes.ends_with(shape) {
        return Err(Error::invalid_argument(format!(
            "normalized_shape is {shape:?}, but must be the last sizes of input, which has {sizes:?}"
        )));
    }
    if let Some(weight) = weight
        && sizes_of(weight)? != shape
    {
        return Err(Error::invalid_argument("weight must have the sizes of normalized_shape"));
    }
    let outer = &sizes[..sizes.len() - shape.len()];
    let lines = [outer, &[shape.iter().product()]].concat();
    let wide = widened(input)?;
    let square = binary(api::SCONCE_BINARY_MUL, &wide, Operand::Tensor(&wide))?;
    let square = operations::reshape(square.handle(), &lines)?;
    let mean = reduce_last(api::SCONCE_REDUCE_MEAN, &square)?;
    let mean = binary(api::SCONCE_BINARY_ADD, &mean, Operand::Number(eps.unwrap_or(step)))?;
    let ones = vec![1; shape.len()];
    let inverse = unary(api::SCONCE_UNARY_RSQRT, &mean)?;
    let inverse = operations::reshape(inverse.handle(), &[outer, &ones].concat())?;
    let mut result = binary(api::SCONCE_BINARY_MUL, &wide, Operand::Tensor(&inverse))?;
    if let Some(weight) = weight {
        result = binary(api::SCONCE_BINARY_MUL, &result, Operand::Tensor(&widened(weight)?))?;
    }
    Ok((operations::to_dtype(result.handle(), dtype)?, inverse))
}

abi_functions! {
    /// Returns a tensor divided by the roots of the mean squares of its last dimensions, and 1 over these roots.
    aoti_torch_cpu__fused_rms_norm | aoti_torch_cuda__fused_rms_norm(
        input: TensorHandle, normalized_shape: &[i64], weight: Option<TensorHandle>,
        eps: Option<f64>, ret0: Place, ret1: Place,
    ) {
        let results = rms_norm(input, normalized_shape, weight, eps)?;
        give_both([ret0, ret1], results)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::{Cases, Dense};

    #[test]
    fn lines_are_divided_by_their_roots() {
        let mut cases = Cases::new(5);
        for _ in 0..20 {
            let sizes = [cases.int(1, 4), cases.int(1, 5)];
            let values = Dense::quarters(&mut cases, &sizes);
            let factors = Dense::quarters(&mut cases, &sizes[1..]);
            let weight = factors.tensor(api::SCONCE_DTYPE_F64);
            let input = values.either(&mut cases, api::SCONCE_DTYPE_F64);
            let (found, inverse) =
                rms_norm(input.handle(), &sizes[1..], Some(weight.handle()), Some(0.5)).unwrap();
            let root = |row: i64| {
                let sum: f64 = (0..sizes[1]).map(|at| values.at(&[row, at]).powi(2)).sum();
                (sum / sizes[1] as f64 + 0.5).sqrt()
            };
            Dense::build(&sizes, |at| values.at(at) / root(at[0]) * factors.at(&at[1..]))
                .assert_near(found.handle(), 1e-12, "result");
            Dense::build(&[sizes[0], 1], |at| 1.0 / root(at[0])).assert_near(
                inverse.handle(),
                1e-12,
                "inverse",
            );
        }
        let input = Dense::build(&[2, 3], |_| 1.0).tensor(api::SCONCE_DTYPE_F32);
        let why = rms_norm(input.handle(), &[2], None, None).unwrap_err();
        assert!(why.message.contains("normalized_shape is [2]"), "{why:?}");
    }
}
