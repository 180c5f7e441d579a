//! A distribution with its parameters and element type: what a kernel is launched with.

use sconce_base::element::Dtype;

/// From this range on, integers are drawn from 64 bits (torch since 2.7).
const WIDE_RANGE: u64 = 1 << 28;

/// The distributions that have kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Between two bounds, the upper one excluded.
    Uniform,
    /// Normal, by mean and standard deviation.
    Normal,
    /// The exponential of a normal.
    LogNormal,
    /// Exponential, by rate.
    Exponential,
    /// Cauchy, by median and scale.
    Cauchy,
    /// Trials up to the first success.
    Geometric,
    /// 1 with a probability, else 0.
    Bernoulli,
    /// Whole numbers of a range.
    Integers,
    /// All non-negative values of an integer type; whole numbers up to 2^digits of a float.
    FullRange,
}

impl Distribution {
    /// Every distribution.
    pub const ALL: [Distribution; 9] = [
        Distribution::Uniform,
        Distribution::Normal,
        Distribution::LogNormal,
        Distribution::Exponential,
        Distribution::Cauchy,
        Distribution::Geometric,
        Distribution::Bernoulli,
        Distribution::Integers,
        Distribution::FullRange,
    ];

    /// As kernels and messages spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Distribution::Uniform => "uniform",
            Distribution::Normal => "normal",
            Distribution::LogNormal => "log_normal",
            Distribution::Exponential => "exponential",
            Distribution::Cauchy => "cauchy",
            Distribution::Geometric => "geometric",
            Distribution::Bernoulli => "bernoulli",
            Distribution::Integers => "integers",
            Distribution::FullRange => "full_range",
        }
    }

    /// Whether torch fills tensors of this type with it. Complex ones it fills as pairs of reals.
    pub const fn supports(self, dtype: Dtype) -> bool {
        match self {
            Distribution::Uniform | Distribution::Normal => {
                has_real_kernels(dtype) || matches!(dtype, Dtype::C64 | Dtype::C128)
            }
            Distribution::LogNormal | Distribution::Exponential | Distribution::Cauchy => {
                has_real_kernels(dtype)
            }
            Distribution::Geometric => has_real_kernels(dtype) || has_integer_kernels(dtype),
            Distribution::Bernoulli | Distribution::Integers | Distribution::FullRange => {
                has_real_kernels(dtype)
                    || has_integer_kernels(dtype)
                    || matches!(dtype, Dtype::Bool)
            }
        }
    }
}

/// The floating-point types that kernels draw.
const fn has_real_kernels(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F32 | Dtype::F64 | Dtype::F16 | Dtype::Bf16)
}

/// The integer types that kernels draw.
const fn has_integer_kernels(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 | Dtype::U8)
}

/// A fill as a kernel sees it: parameters as they travel, 64 bits each.
///
/// Doubles travel as their bits and are rounded to the type the kernel computes in; for integers
/// the first is how many values there are and the second the smallest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// What is drawn.
    pub distribution: Distribution,
    /// The type of an element; never complex.
    pub dtype: Dtype,
    /// First parameter.
    pub first: u64,
    /// Second parameter, 0 when there is none.
    pub second: u64,
}

impl Fill {
    /// A distribution with real parameters.
    pub fn real(distribution: Distribution, dtype: Dtype, first: f64, second: f64) -> Fill {
        Fill { distribution, dtype, first: first.to_bits(), second: second.to_bits() }
    }

    /// `range` whole numbers from `base` on.
    pub fn integers(dtype: Dtype, range: u64, base: i64) -> Fill {
        Fill { distribution: Distribution::Integers, dtype, first: range, second: base as u64 }
    }

    /// torch's `random_()`.
    pub fn full_range(dtype: Dtype) -> Fill {
        Fill { distribution: Distribution::FullRange, dtype, first: 0, second: 0 }
    }

    /// Whether an element takes 64 bits of the four words rather than 32.
    pub fn is_wide(&self) -> bool {
        match self.distribution {
            Distribution::Integers => self.first >= WIDE_RANGE,
            Distribution::FullRange => matches!(self.dtype, Dtype::F64 | Dtype::I64),
            _ => self.dtype == Dtype::F64,
        }
    }

    /// The number of elements from a draw of four words.
    pub fn elements_per_draw(&self) -> u64 {
        if self.is_wide() { 2 } else { 4 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_and_wide_ranges_take_two_words() {
        let each = |fill: Fill| fill.elements_per_draw();
        assert_eq!(each(Fill::real(Distribution::Uniform, Dtype::F64, 0.0, 1.0)), 2);
        assert_eq!(each(Fill::real(Distribution::Uniform, Dtype::F32, 0.0, 1.0)), 4);
        assert_eq!(each(Fill::integers(Dtype::I32, WIDE_RANGE, 0)), 2);
        assert_eq!(each(Fill::integers(Dtype::I64, WIDE_RANGE - 1, 0)), 4);
    }
}
