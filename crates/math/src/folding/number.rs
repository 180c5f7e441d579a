//! An element as a number. Floats are calculated in double precision, which is at least that of the
//! kernels, and rounded where a type says so.

use sconce_base::element::{Dtype, DtypeKind};

use crate::arithmetic::{AnyNumber, decode, encode, wrap};

/// The value of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A real floating-point number.
    Real(f64),
    /// An integer or bool.
    Whole(i64),
    /// An integer of the type U64.
    Natural(u64),
    /// A complex number.
    Complex(f64, f64),
}

/// An integer as one of a type with fewer bits.
fn wrapped(value: i64, dtype: Dtype) -> Number {
    let value = wrap(value, dtype);
    if dtype == Dtype::U64 { Number::Natural(value as u64) } else { Number::Whole(value) }
}

/// A float as the nearest one of a type.
fn rounded(value: f64, dtype: Dtype) -> f64 {
    AnyNumber::Double(value).round_to(dtype).to_double()
}

impl Number {
    /// The number in the bytes of an element.
    pub(super) fn load(dtype: Dtype, bytes: &[u8]) -> Number {
        match decode(dtype, bytes) {
            AnyNumber::Signed(value) => Number::Whole(value),
            AnyNumber::Unsigned(value) => wrapped(value as i64, dtype),
            real @ (AnyNumber::Single(_) | AnyNumber::Double(_)) => Number::Real(real.to_double()),
            complex => {
                let [re, im] = complex.to_complex_double();
                Number::Complex(re, im)
            }
        }
    }

    /// Writes the number, converted to the type, into the bytes of an element.
    pub(super) fn store(self, dtype: Dtype, bytes: &mut [u8]) {
        let number = match self.to(dtype) {
            Number::Real(value) => AnyNumber::Double(value),
            Number::Whole(value) => AnyNumber::Signed(value),
            Number::Natural(value) => AnyNumber::Unsigned(value),
            Number::Complex(re, im) => AnyNumber::ComplexDouble([re, im]),
        };
        encode(number, dtype, bytes);
    }

    /// The number as one of a type: rounded, truncated or wrapped; of a complex one the real part.
    pub(super) fn to(self, dtype: Dtype) -> Number {
        match dtype.kind() {
            DtypeKind::Bool => Number::Whole(i64::from(self.is_nonzero())),
            DtypeKind::Float => Number::Real(rounded(self.real(), dtype)),
            DtypeKind::Complex => {
                let (part, (re, im)) = (dtype.real().0, self.parts());
                Number::Complex(rounded(re, part), rounded(im, part))
            }
            _ => wrapped(
                match self {
                    Number::Whole(value) => value,
                    Number::Natural(value) => value as i64,
                    Number::Real(value) | Number::Complex(value, _) => {
                        AnyNumber::Double(value).to_integer(dtype)
                    }
                },
                dtype,
            ),
        }
    }

    /// The real part as a float.
    pub(super) fn real(self) -> f64 {
        self.parts().0
    }

    /// Both parts as floats.
    fn parts(self) -> (f64, f64) {
        match self {
            Number::Real(value) => (value, 0.0),
            Number::Whole(value) => (value as f64, 0.0),
            Number::Natural(value) => (value as f64, 0.0),
            Number::Complex(re, im) => (re, im),
        }
    }

    /// Whether the number differs from zero, as NaN does.
    pub(super) fn is_nonzero(self) -> bool {
        match self {
            Number::Whole(value) => value != 0,
            Number::Natural(value) => value != 0,
            Number::Real(_) | Number::Complex(..) => self.parts() != (0.0, 0.0),
        }
    }

    /// A small integer in the kind of number that a type has.
    pub(super) fn of(value: u8, dtype: Dtype) -> Number {
        Number::Whole(i64::from(value)).to(dtype)
    }

    /// The sum; both numbers are of one kind, integers wrap.
    pub(super) fn plus(self, other: Number) -> Number {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Number::Whole(a.wrapping_add(b)),
            (Number::Natural(a), Number::Natural(b)) => Number::Natural(a.wrapping_add(b)),
            (Number::Complex(a, b), Number::Complex(c, d)) => Number::Complex(a + c, b + d),
            (a, b) => Number::Real(a.real() + b.real()),
        }
    }

    /// The product; both numbers are of one kind, integers wrap.
    pub(super) fn times(self, other: Number) -> Number {
        match (self, other) {
            (Number::Whole(a), Number::Whole(b)) => Number::Whole(a.wrapping_mul(b)),
            (Number::Natural(a), Number::Natural(b)) => Number::Natural(a.wrapping_mul(b)),
            (Number::Complex(a, b), Number::Complex(c, d)) => {
                Number::Complex(a * c - b * d, a * d + b * c)
            }
            (a, b) => Number::Real(a.real() * b.real()),
        }
    }

    /// The number divided by a count; a complex one multiplied by the reciprocal in the sum's type, as torch on the CPU
    /// divides by a complex number without an imaginary part.
    pub(super) fn over(self, count: i64, sum: Dtype) -> Number {
        match self {
            Number::Complex(..) => {
                let part = sum.real().0;
                let reciprocal = rounded(1.0 / rounded(count as f64, part), part);
                match self.to(sum) {
                    // 0 times infinity is NaN, as 0 over 0.
                    Number::Complex(re, im) => Number::Complex(re * reciprocal, im * reciprocal),
                    other => other,
                }
            }
            other => Number::Real(other.real() / count as f64),
        }
    }

    /// The number multiplied by a real number.
    pub(super) fn scaled(self, factor: f64) -> Number {
        match self {
            Number::Complex(re, im) => Number::Complex(re * factor, im * factor),
            other => Number::Real(other.real() * factor),
        }
    }

    /// Whether the number is to be preferred to another one as the largest, or the smallest: a NaN is
    /// to any number, and nothing is to a NaN.
    pub(super) fn beats(self, best: Number, smallest: bool) -> bool {
        match (self, best) {
            (Number::Whole(a), Number::Whole(b)) => {
                if smallest {
                    a < b
                } else {
                    a > b
                }
            }
            (Number::Natural(a), Number::Natural(b)) => {
                if smallest {
                    a < b
                } else {
                    a > b
                }
            }
            (a, b) => {
                let (a, b) = (a.real(), b.real());
                let further = if smallest { a < b } else { a > b };
                !b.is_nan() && (further || a.is_nan())
            }
        }
    }

    /// The least number of a type, or the greatest.
    pub fn extreme(dtype: Dtype, greatest: bool) -> Number {
        if dtype.kind() == DtypeKind::Float {
            return Number::Real(if greatest { f64::INFINITY } else { f64::NEG_INFINITY });
        }
        let bits = 8 * dtype.bytes() as u32;
        match (dtype.kind(), greatest) {
            (DtypeKind::SignedInteger, true) => Number::Whole(i64::MAX >> (64 - bits)),
            (DtypeKind::SignedInteger, false) => Number::Whole(i64::MIN >> (64 - bits)),
            (DtypeKind::UnsignedInteger, true) => wrapped((u64::MAX >> (64 - bits)) as i64, dtype),
            (DtypeKind::Bool, true) => Number::Whole(1),
            (_, _) => Number::of(0, dtype),
        }
    }
}
