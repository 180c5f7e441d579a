//! Polynomials of the third degree that images are resampled with: the share of an element at a distance.

use crate::error::Result;
use crate::sconce::operations::{Operand, binary};
use crate::sconce::{Tensor, api};

const A: f64 = -0.75;

/// Up to a distance of 1; the factor of the third power first.
pub const CUBIC_NEAR: [f64; 4] = [A + 2.0, -(A + 3.0), 0.0, 1.0];

/// From a distance of 1 to 2, where it is 0.
pub const CUBIC_FAR: [f64; 4] = [A, -5.0 * A, 8.0 * A, -4.0 * A];

/// A polynomial with these factors, by Horner's scheme.
pub fn polynomial(of: &Tensor, factors: [f64; 4]) -> Result<Tensor> {
    let mut sum = binary(api::SCONCE_BINARY_MUL, of, Operand::Number(factors[0]))?;
    for (at, factor) in factors.into_iter().enumerate().skip(1) {
        sum = binary(api::SCONCE_BINARY_ADD, &sum, Operand::Number(factor))?;
        if at < 3 {
            sum = binary(api::SCONCE_BINARY_MUL, &sum, Operand::Tensor(of))?;
        }
    }
    Ok(sum)
}
