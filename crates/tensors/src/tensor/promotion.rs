//! The type of a result, from the types of its operands: torch's rules.

use sconce_base::element::{Dtype, DtypeKind};
use sconce_base::error::{Error, Result};
use sconce_compute::pointwise::Scalar;

use super::value::Tensor;

/// The type of floating-point results of whole numbers, as torch's default.
pub const DEFAULT_FLOAT: Dtype = Dtype::F32;

/// Whether the values are whole numbers; truth values are not among them.
pub(crate) fn is_integer(dtype: Dtype) -> bool {
    matches!(dtype.kind(), DtypeKind::SignedInteger | DtypeKind::UnsignedInteger)
}

/// Whether the values are whole numbers or truth values.
pub(crate) fn is_integral(dtype: Dtype) -> bool {
    is_integer(dtype) || dtype == Dtype::Bool
}

pub(crate) fn is_complex(dtype: Dtype) -> bool {
    dtype.kind() == DtypeKind::Complex
}

fn is_wide_unsigned(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::U16 | Dtype::U32 | Dtype::U64)
}

fn is_narrow_float(dtype: Dtype) -> bool {
    dtype.is_floating() && dtype.bytes() == 1
}

/// The smallest type that holds the values of both (`torch.promote_types`).
pub(crate) fn promote(first: Dtype, second: Dtype) -> Result<Dtype> {
    if first == second {
        return Ok(first);
    }
    if is_narrow_float(first) || is_narrow_float(second) {
        return Err(no_common("Float8", first, second));
    }
    let is_wide = is_wide_unsigned(first) || is_wide_unsigned(second);
    if is_wide && !first.is_floating() && !second.is_floating() {
        return Err(no_common("uint16, uint32, uint64 types", first, second));
    }
    if is_complex(first) || is_complex(second) {
        return Ok(complex_of(part_width(first).max(part_width(second))));
    }
    match (first.is_floating(), second.is_floating()) {
        (true, true) => {
            return Ok(match float_width(first).max(float_width(second)) {
                8 => Dtype::F64,
                // Half precision and bfloat16, neither of which holds the other.
                _ => Dtype::F32,
            });
        }
        (true, false) => return Ok(first),
        (false, true) => return Ok(second),
        (false, false) => {}
    }
    if first == Dtype::Bool || second == Dtype::Bool {
        return Ok(if first == Dtype::Bool { second } else { first });
    }
    let wider = if first.bytes() >= second.bytes() { first } else { second };
    Ok(match (first, second) {
        (Dtype::U8, Dtype::I8) | (Dtype::I8, Dtype::U8) => Dtype::I16,
        _ => wider,
    })
}

/// Bytes of the real floating-point type that a type computes in; 0 for whole numbers.
fn float_width(dtype: Dtype) -> usize {
    let (real, _) = dtype.real();
    if real.is_floating() { real.bytes() } else { 0 }
}

/// As [`float_width`], of the parts of a complex number that holds the values: there is none of bfloat16.
fn part_width(dtype: Dtype) -> usize {
    if dtype == Dtype::Bf16 { 4 } else { float_width(dtype) }
}

fn complex_of(float_width: usize) -> Dtype {
    match float_width {
        8 => Dtype::C128,
        2 => Dtype::C32,
        _ => Dtype::C64,
    }
}

#[cold]
fn no_common(what: &str, first: Dtype, second: Dtype) -> Error {
    Error::not_supported(format!(
        "Promotion for {what} is not supported, attempted to promote {} and {}; convert one of them first",
        first.c10_name(),
        second.c10_name()
    ))
}

/// The type of a number that takes part in an operation.
pub fn type_of(scalar: Scalar) -> Dtype {
    match scalar {
        Scalar::Bool(_) => Dtype::Bool,
        Scalar::Int(_) => Dtype::I64,
        Scalar::Float(_) => DEFAULT_FLOAT,
        Scalar::Complex(..) => Dtype::C64,
    }
}

/// What decides the type of a result (`torch.result_type`): tensors with dimensions come before those
/// without, and those before numbers; one that comes later counts only if its kind is higher.
#[derive(Clone, Copy, Default)]
pub(crate) struct ResultType {
    with_dimensions: Option<Dtype>,
    without_dimensions: Option<Dtype>,
    numbers: Option<Dtype>,
}

impl ResultType {
    /// With a tensor.
    pub(crate) fn tensor(mut self, tensor: &Tensor) -> Result<ResultType> {
        let kept = if tensor.rank() > 0 {
            &mut self.with_dimensions
        } else {
            &mut self.without_dimensions
        };
        *kept = Some(joined(*kept, tensor.dtype())?);
        Ok(self)
    }

    /// With a number.
    pub(crate) fn number(mut self, scalar: Scalar) -> Result<ResultType> {
        self.numbers = Some(joined(self.numbers, type_of(scalar))?);
        Ok(self)
    }

    /// The type.
    pub(crate) fn get(self) -> Result<Dtype> {
        let tensors = combined(self.with_dimensions, self.without_dimensions)?;
        Ok(combined(tensors, self.numbers)?.unwrap_or(DEFAULT_FLOAT))
    }
}

fn joined(known: Option<Dtype>, more: Dtype) -> Result<Dtype> {
    known.map_or(Ok(more), |known| promote(known, more))
}

/// Truth values, whole, real, complex numbers.
fn rank_of_kind(dtype: Dtype) -> u8 {
    match dtype.kind() {
        DtypeKind::Bool => 0,
        DtypeKind::SignedInteger | DtypeKind::UnsignedInteger => 1,
        DtypeKind::Float => 2,
        DtypeKind::Complex => 3,
    }
}

fn combined(higher: Option<Dtype>, lower: Option<Dtype>) -> Result<Option<Dtype>> {
    match (higher, lower) {
        // The precision of real numbers stays when complex ones of a lower rank come to them.
        (Some(higher), Some(lower)) if higher.is_floating() && is_complex(lower) => {
            Ok(Some(complex_of(part_width(higher))))
        }
        (Some(higher), Some(lower)) if rank_of_kind(lower) > rank_of_kind(higher) => {
            promote(higher, lower).map(Some)
        }
        (None, lower) => Ok(lower),
        (higher, _) => Ok(higher),
    }
}

/// Whether a result may be written to a tensor of another type, as torch's in-place forms check.
pub(crate) fn can_cast(from: Dtype, to: Dtype) -> bool {
    if rank_of_kind(from) == 3 && rank_of_kind(to) < 3 {
        return false;
    }
    if from.is_floating() && is_integral(to) {
        return false;
    }
    !(from != Dtype::Bool && to == Dtype::Bool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_type_is_torchs() {
        use Dtype::*;
        for (first, second, both) in [
            (U8, I8, I16),
            (U8, I16, I16),
            (U8, I64, I64),
            (Bool, U8, U8),
            (F16, Bf16, F32),
            (F16, I64, F16),
            (F16, F64, F64),
            (C64, F64, C128),
            (C64, F16, C64),
            (C32, F16, C32),
            (C32, F32, C64),
            (I64, C64, C64),
            (U32, F32, F32),
            (Bf16, C32, C64),
            (Bf16, C64, C64),
        ] {
            assert_eq!(promote(first, second).unwrap(), both, "{first:?} {second:?}");
            assert_eq!(promote(second, first).unwrap(), both, "{second:?} {first:?}");
        }
        assert!(promote(U16, I32).is_err() && promote(F8E5M2, F32).is_err());
        assert!(promote(U16, C64).is_err() && promote(C128, U64).is_err());
    }

    #[test]
    fn numbers_count_by_their_kind_alone() {
        let of = |known: Option<Dtype>, number| {
            let mut result = ResultType { with_dimensions: known, ..Default::default() };
            result = result.number(number).unwrap();
            result.get().unwrap()
        };
        assert_eq!(of(Some(Dtype::F16), Scalar::Float(1.0)), Dtype::F16);
        assert_eq!(of(Some(Dtype::U8), Scalar::Int(1000)), Dtype::U8);
        assert_eq!(of(Some(Dtype::I32), Scalar::Float(1.0)), Dtype::F32);
        assert_eq!(of(Some(Dtype::Bool), Scalar::Int(1)), Dtype::I64);
        assert_eq!(of(Some(Dtype::F64), Scalar::Complex(0.0, 1.0)), Dtype::C128);
        assert_eq!(of(Some(Dtype::Bf16), Scalar::Complex(0.0, 1.0)), Dtype::C64);
        assert_eq!(of(Some(Dtype::F16), Scalar::Complex(0.0, 1.0)), Dtype::C32);
        assert_eq!(of(None, Scalar::Bool(true)), Dtype::Bool);
        let mixed = ResultType {
            with_dimensions: Some(Dtype::F32),
            without_dimensions: Some(Dtype::C128),
            numbers: None,
        };
        assert_eq!(mixed.get().unwrap(), Dtype::C64);
    }

    #[test]
    fn results_fit_into_types_of_their_kind_or_a_higher_one() {
        assert!(can_cast(Dtype::F64, Dtype::F16) && can_cast(Dtype::Bool, Dtype::I8));
        assert!(!can_cast(Dtype::F32, Dtype::I64) && !can_cast(Dtype::I64, Dtype::Bool));
        assert!(!can_cast(Dtype::C64, Dtype::F64));
    }
}
