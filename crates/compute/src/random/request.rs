//! A caller's distribution and parameters, with torch's checks and messages.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_math::philox::{Distribution, Fill};

/// A distribution with a caller's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FillRequest {
    /// From a low bound to a high one, which is excluded.
    Uniform(f64, f64),
    /// Mean and standard deviation.
    Normal(f64, f64),
    /// Mean and standard deviation of the logarithm.
    LogNormal(f64, f64),
    /// Rate.
    Exponential(f64),
    /// Median and scale.
    Cauchy(f64, f64),
    /// Probability of success.
    Geometric(f64),
    /// Probability of 1.
    Bernoulli(f64),
    /// Whole numbers from a low one to a high one, which is excluded.
    Integers(i64, i64),
    /// torch's `random_()`.
    FullRange,
}

impl FillRequest {
    /// The distribution.
    pub fn distribution(&self) -> Distribution {
        match self {
            FillRequest::Uniform(..) => Distribution::Uniform,
            FillRequest::Normal(..) => Distribution::Normal,
            FillRequest::LogNormal(..) => Distribution::LogNormal,
            FillRequest::Exponential(_) => Distribution::Exponential,
            FillRequest::Cauchy(..) => Distribution::Cauchy,
            FillRequest::Geometric(_) => Distribution::Geometric,
            FillRequest::Bernoulli(_) => Distribution::Bernoulli,
            FillRequest::Integers(..) => Distribution::Integers,
            FillRequest::FullRange => Distribution::FullRange,
        }
    }

    /// The fill of a real element type, and the number of such elements in an element of `dtype`.
    pub fn check(&self, dtype: Dtype) -> Result<(Fill, u64)> {
        let distribution = self.distribution();
        if !distribution.supports(dtype) {
            return Err(unsupported(distribution, dtype));
        }
        let (real, parts) = dtype.real();
        let fill = |first, second| Fill::real(distribution, real, first, second);
        let fill = match *self {
            FillRequest::Uniform(low, high) => {
                check_bounds(real, low, high)?;
                fill(low, high)
            }
            FillRequest::Normal(mean, std) => {
                require(std >= 0.0, || format!("normal expects std >= 0.0, but found std {std}"))?;
                // The variance of a complex number is shared by its two parts.
                fill(mean, if parts == 2 { std / std::f64::consts::SQRT_2 } else { std })
            }
            FillRequest::LogNormal(mean, std) => {
                require(std > 0.0, || {
                    format!("log_normal_ expects std > 0.0, but found std={std}")
                })?;
                fill(mean, std)
            }
            FillRequest::Exponential(lambda) => {
                require(lambda > 0.0, || {
                    format!("exponential_ expects lambda > 0.0, but found lambda={lambda}")
                })?;
                fill(lambda, 0.0)
            }
            FillRequest::Cauchy(median, sigma) => {
                require(sigma > 0.0, || {
                    format!("cauchy_ expects sigma > 0.0, but found sigma={sigma}")
                })?;
                fill(median, sigma)
            }
            FillRequest::Geometric(p) => {
                require(0.0 < p && p < 1.0, || {
                    format!("geometric_ expects p to be in (0, 1), but got p={p}")
                })?;
                fill(p, 0.0)
            }
            FillRequest::Bernoulli(p) => {
                require((0.0..=1.0).contains(&p), || {
                    format!("bernoulli_ expects p to be in [0, 1], but got p={p}")
                })?;
                fill(p, 0.0)
            }
            FillRequest::Integers(low, high) => integers(real, low, high)?,
            FillRequest::FullRange => Fill::full_range(real),
        };
        Ok((fill, parts))
    }
}

fn require(holds: bool, message: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::invalid_argument(message())) }
}

#[cold]
fn unsupported(distribution: Distribution, dtype: Dtype) -> Error {
    let supported: Vec<_> = Dtype::ALL
        .into_iter()
        .filter(|dtype| distribution.supports(*dtype))
        .map(Dtype::name)
        .collect();
    Error::not_supported(format!(
        "{} is not supported for dtype {}; it is supported for {}",
        distribution.name(),
        dtype.name(),
        supported.join(", ")
    ))
}

fn check_bounds(dtype: Dtype, low: f64, high: f64) -> Result<()> {
    let largest = dtype.largest_float();
    for (name, bound) in [("low", low), ("high", high)] {
        require((-largest..=largest).contains(&bound), || {
            format!("{name} is out of bounds for {}: {bound}", dtype.name())
        })?;
    }
    require(low <= high, || {
        format!(
            "uniform_ expects to return a [from, to) range, but found from={low} > to={high} \
             (arguments low and high)"
        )
    })?;
    require(high - low <= largest, || {
        format!(
            "uniform_ expects to-from <= the largest value of {}, but found to={high} and \
             from={low}, whose difference exceeds it (arguments low and high)",
            dtype.name()
        )
    })
}

/// Integers of a range. For a floating-point type its ends are moved inwards to values that the type
/// represents.
fn integers(dtype: Dtype, low: i64, high: i64) -> Result<Fill> {
    require(low < high, || {
        format!(
            "random_ expects 'from' to be less than 'to', but got from={low} >= to={high} \
             (arguments low and high; high is excluded)"
        )
    })?;
    let (mut first, mut end) = (low, high);
    if dtype.is_floating() {
        (first, end) = (inward_from(dtype, low), inward_to(dtype, high));
        require(first < end, || {
            format!(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but \
                 got from={first} >= to={end} (arguments low and high)"
            )
        })?;
    }
    for (name, value) in [("low", first), ("high - 1", end - 1)] {
        require(fits(dtype, value), || format!("{name} is out of bounds for {}", dtype.name()))?;
    }
    Ok(Fill::integers(dtype, end.wrapping_sub(first) as u64, first))
}

fn fits(dtype: Dtype, value: i64) -> bool {
    match dtype.integer_range() {
        None => (value as f64).abs() <= dtype.largest_float(),
        Some((least, greatest)) => (least..=greatest).contains(&i128::from(value)),
    }
}

/// The integer that a floating-point type makes of another.
fn cast(dtype: Dtype, value: i64) -> i64 {
    dtype.nearest(value) as i64
}

/// The distance between neighbours of the type where `value` lies.
fn spacing(dtype: Dtype, value: i64) -> i64 {
    let exponent = value.unsigned_abs().max(1).ilog2() as i32;
    let shift = exponent - dtype.significand_bits() as i32 + 1;
    1_i64.checked_shl(shift.max(0) as u32).unwrap_or(i64::MAX)
}

/// torch moves `from` up when its successor would be rounded below it.
fn inward_from(dtype: Dtype, low: i64) -> i64 {
    let next = cast(dtype, low.saturating_add(1));
    if next < low { next.saturating_add(spacing(dtype, low.saturating_add(1))) } else { low }
}

/// torch moves `to` down when its predecessor would be rounded up to it.
fn inward_to(dtype: Dtype, high: i64) -> i64 {
    let previous = cast(dtype, high.saturating_sub(1));
    if previous >= high {
        previous.saturating_sub(spacing(dtype, high.saturating_sub(1)))
    } else {
        high
    }
}

#[cfg(test)]
mod tests {
    use sconce_base::error::Status;

    use super::*;

    fn refusal(request: FillRequest, dtype: Dtype) -> Error {
        request.check(dtype).expect_err(&format!("{request:?} {dtype:?}"))
    }

    #[test]
    fn parameters_are_checked_in_torchs_words() {
        for (request, words) in [
            (FillRequest::Uniform(2.0, 1.0), "uniform_ expects to return a [from, to) range"),
            (FillRequest::Uniform(f64::NAN, 1.0), "low is out of bounds"),
            (FillRequest::Uniform(0.0, f64::INFINITY), "high is out of bounds"),
            (FillRequest::Uniform(-3e38, 3e38), "uniform_ expects to-from <="),
            (FillRequest::Normal(0.0, -1.0), "normal expects std >= 0.0, but found std -1"),
            (FillRequest::Normal(0.0, f64::NAN), "normal expects std >= 0.0"),
            (FillRequest::LogNormal(0.0, 0.0), "log_normal_ expects std > 0.0, but found std=0"),
            (FillRequest::Exponential(0.0), "exponential_ expects lambda > 0.0"),
            (FillRequest::Cauchy(0.0, 0.0), "cauchy_ expects sigma > 0.0"),
            (FillRequest::Geometric(0.0), "geometric_ expects p to be in (0, 1), but got p=0"),
            (FillRequest::Geometric(1.0), "geometric_ expects p"),
            (FillRequest::Bernoulli(-0.1), "bernoulli_ expects p to be in [0, 1], but got p=-0.1"),
            (FillRequest::Bernoulli(f64::NAN), "bernoulli_ expects p"),
            (FillRequest::Integers(3, 3), "random_ expects 'from' to be less than 'to'"),
        ] {
            let error = refusal(request, Dtype::F32);
            assert_eq!(error.status(), Status::InvalidArgument);
            assert!(error.message().contains(words), "{}", error.message());
        }
        assert!(FillRequest::Uniform(1.0, 1.0).check(Dtype::F32).is_ok());
        assert!(FillRequest::Normal(0.0, 0.0).check(Dtype::F16).is_ok());
        assert!(FillRequest::Bernoulli(0.0).check(Dtype::Bool).is_ok());
    }

    #[test]
    fn types_without_the_distribution_are_named() {
        for (request, dtype) in [
            (FillRequest::Uniform(0.0, 1.0), Dtype::I32),
            (FillRequest::Normal(0.0, 1.0), Dtype::Bool),
            (FillRequest::Exponential(1.0), Dtype::C64),
            (FillRequest::Geometric(0.5), Dtype::Bool),
            (FillRequest::FullRange, Dtype::C128),
        ] {
            let error = refusal(request, dtype);
            assert_eq!(error.status(), Status::NotSupported);
            assert!(error.message().contains(dtype.name()), "{}", error.message());
            assert!(error.message().contains(request.distribution().name()));
        }
    }

    #[test]
    fn integers_stay_within_their_type() {
        assert!(FillRequest::Integers(0, 256).check(Dtype::U8).is_ok());
        for (low, high, dtype) in [
            (0, 257, Dtype::U8),
            (-1, 5, Dtype::U8),
            (-129, 5, Dtype::I8),
            (0, 3, Dtype::Bool),
            (0, 1 << 31 | 1, Dtype::I32),
            (0, 65600, Dtype::F16),
        ] {
            let error = refusal(FillRequest::Integers(low, high), dtype);
            assert!(error.message().contains("out of bounds"), "{}", error.message());
        }
        let (fill, _) = FillRequest::Integers(i64::MIN, i64::MAX).check(Dtype::I64).unwrap();
        assert_eq!((fill.first, fill.second as i64), (u64::MAX, i64::MIN));
    }

    #[test]
    fn ranges_of_floats_are_moved_inwards() {
        let ends = |dtype, low, high| {
            let (fill, _) = FillRequest::Integers(low, high).check(dtype).unwrap();
            (fill.second as i64, (fill.second as i64).wrapping_add(fill.first as i64))
        };
        // The example in torch's own explanation: 65503 would become 65504.
        assert_eq!(ends(Dtype::F16, 0, 65504), (0, 65472));
        assert_eq!(ends(Dtype::F32, 0, 1 << 24), (0, 1 << 24));
        assert_eq!(ends(Dtype::F32, -(1 << 24), 1 << 24), (-(1 << 24), 1 << 24));
        assert_eq!(ends(Dtype::Bf16, 0, 257), (0, 257));
        assert_eq!(ends(Dtype::Bf16, 0, 260), (0, 258));
        assert_eq!(ends(Dtype::F64, 0, 1 << 53), (0, 1 << 53));
    }

    #[test]
    fn a_complex_number_is_two_reals_that_share_the_variance() {
        let (fill, parts) = FillRequest::Normal(1.0, 2.0).check(Dtype::C128).unwrap();
        assert_eq!((fill.dtype, parts), (Dtype::F64, 2));
        assert_eq!(f64::from_bits(fill.second), 2.0 / std::f64::consts::SQRT_2);
        let (fill, parts) = FillRequest::Uniform(1.0, 2.0).check(Dtype::C64).unwrap();
        assert_eq!((fill.dtype, parts, f64::from_bits(fill.second)), (Dtype::F32, 2, 2.0));
    }
}
