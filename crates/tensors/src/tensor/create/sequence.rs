//! Evenly spaced numbers, and the identity matrix.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::Scalar;

use super::filled::fill;
use crate::tensor::launch;
use crate::tensor::operations::{Destination, Output};
use crate::tensor::promotion::{DEFAULT_FLOAT, is_integral};
use crate::tensor::{Tensor, TensorOptions, views};

fn as_float(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Bool(value) => f64::from(u8::from(value)),
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) | Scalar::Complex(value, _) => value,
    }
}

/// The type of an `arange` that names none: whole numbers if all three are.
pub fn arange_dtype(bounds: [Scalar; 3]) -> Dtype {
    let whole = |bound: Scalar| matches!(bound, Scalar::Int(_) | Scalar::Bool(_));
    if bounds.into_iter().all(whole) { Dtype::I64 } else { DEFAULT_FLOAT }
}

/// The output of `length` numbers: a new vector, or `into`, which keeps its shape if it has so many elements.
pub(super) fn vector(length: i64, options: TensorOptions, into: Option<&Tensor>) -> Result<Output> {
    let vector = [length];
    let sizes = match into {
        Some(into) if into.is_defined() && into.numel() == length => into.sizes(),
        _ => &vector,
    };
    Destination::at(options.place, into)?
        .exactly(options.dtype)?
        .packed(options, sizes)?
        .packed_as(options.dtype)
}

/// Numbers from `start` up to, but not including, `end`, each `step` further, in a new tensor or in `into`.
pub fn arange(
    start: Scalar,
    end: Scalar,
    step: Scalar,
    options: TensorOptions,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    let numbers = [start, end, step];
    if numbers.iter().any(|number| matches!(number, Scalar::Complex(..))) {
        return Err(Error::invalid_argument("arange: start, end and step must be real numbers"));
    }
    let [low, high, by] = numbers.map(as_float);
    if by == 0.0 {
        return Err(Error::invalid_argument("step must be nonzero"));
    }
    if !low.is_finite() || !high.is_finite() {
        return Err(Error::invalid_argument(format!("unsupported range: {low} -> {high}")));
    }
    if (by > 0.0 && high < low) || (by < 0.0 && high > low) {
        return Err(Error::invalid_argument(
            "upper bound and lower bound inconsistent with step sign",
        ));
    }
    let length = match numbers {
        [Scalar::Int(low), Scalar::Int(high), Scalar::Int(by)] => {
            let distance = (i128::from(high) - i128::from(low)).unsigned_abs();
            distance.div_ceil(u128::from(by.unsigned_abs())) as f64
        }
        _ => ((high - low) / by).ceil(),
    };
    if !(0.0..=i64::MAX as f64).contains(&length) {
        return Err(Error::invalid_argument(format!(
            "invalid size, possible overflow? {low} to {high} by {by}"
        )));
    }
    let output = vector(length as i64, options, into)?;
    launch::range(output.tensor(), start, step)?;
    output.finish()
}

/// `steps` numbers at equal distances, from `start` to `end`, both included, in a new tensor or in `into`.
pub fn linspace(
    start: Scalar,
    end: Scalar,
    steps: i64,
    options: TensorOptions,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    if steps < 0 {
        return Err(Error::invalid_argument("number of steps must be non-negative"));
    }
    let output = vector(steps, options, into)?;
    let tensor = output.tensor();
    // Bounds are numbers of the tensor's type, as in torch.
    let bound = |bound: Scalar| match bound {
        Scalar::Float(value) if is_integral(options.dtype) => Scalar::Int(value.trunc() as i64),
        bound => bound,
    };
    let (start, end) = (bound(start), bound(end));
    match steps {
        0 => {}
        1 => fill(tensor, start)?,
        _ => launch::linspace(tensor, start, end)?,
    }
    output.finish()
}

/// A matrix with ones on the main diagonal, and zeros elsewhere, in a new tensor or in `into`.
pub fn eye(
    rows: i64,
    columns: i64,
    options: TensorOptions,
    into: Option<&Tensor>,
) -> Result<Tensor> {
    for (name, size) in [("n", rows), ("m", columns)] {
        if size < 0 {
            return Err(Error::invalid_argument(format!(
                "{name} must be greater or equal to 0, got {size}"
            )));
        }
    }
    let sizes = [rows, columns];
    let output =
        Destination::at(options.place, into)?.exactly(options.dtype)?.packed(options, &sizes)?;
    fill(output.tensor(), Scalar::Int(0))?;
    fill(&views::diagonal(output.tensor(), 0, 0, 1)?, Scalar::Int(1))?;
    output.finish()
}
