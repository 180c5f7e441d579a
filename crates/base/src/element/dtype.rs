//! The list of data types.

use crate::error::{Error, Result};

/// The type of an element. The numbers are those of the C API.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// IEEE single precision.
    F32 = 0,
    /// IEEE double precision.
    F64 = 1,
    /// IEEE half precision.
    F16 = 2,
    /// The upper half of a single (bfloat16).
    Bf16 = 3,
    /// Signed 8-bit integer.
    I8 = 4,
    /// Signed 16-bit integer.
    I16 = 5,
    /// Signed 32-bit integer.
    I32 = 6,
    /// Signed 64-bit integer.
    I64 = 7,
    /// Unsigned 8-bit integer.
    U8 = 8,
    /// One byte, 0 or 1.
    Bool = 9,
    /// Complex number of two singles.
    C64 = 10,
    /// Complex number of two doubles.
    C128 = 11,
    /// Unsigned 16-bit integer.
    U16 = 12,
    /// Unsigned 32-bit integer.
    U32 = 13,
    /// Unsigned 64-bit integer.
    U64 = 14,
    /// Complex number of two halves.
    C32 = 15,
    /// 8-bit float, 4 exponent and 3 fraction bits, without infinities.
    F8E4M3Fn = 16,
    /// 8-bit float, 4 exponent and 3 fraction bits, without infinities and negative zero.
    F8E4M3Fnuz = 17,
    /// 8-bit float, 5 exponent and 2 fraction bits.
    F8E5M2 = 18,
    /// 8-bit float, 5 exponent and 2 fraction bits, without infinities and negative zero.
    F8E5M2Fnuz = 19,
    /// 8-bit power of two without a sign: the scale of a block of narrow floats.
    F8E8M0Fnu = 20,
    /// A byte that holds two 4-bit floats of 2 exponent bits and 1 fraction bit.
    F4E2M1FnX2 = 21,
}

/// What the values of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DtypeKind {
    /// Integers in two's complement.
    SignedInteger,
    /// Integers from 0.
    UnsignedInteger,
    /// Real floating-point numbers.
    Float,
    /// Pairs of real floating-point numbers.
    Complex,
    /// 0 and 1.
    Bool,
}

/// A row of the list of types.
struct DtypeRow {
    dtype: Dtype,
    suffix: &'static str,
    name: &'static str,
    bytes: u8,
    kind: DtypeKind,
}

const fn row(
    dtype: Dtype,
    suffix: &'static str,
    name: &'static str,
    bytes: u8,
    kind: DtypeKind,
) -> DtypeRow {
    DtypeRow { dtype, suffix, name, bytes, kind }
}

/// Every type, in the order of its number.
#[rustfmt::skip]
const ROWS: [DtypeRow; 22] = {
    use DtypeKind::{Bool, Complex, Float, SignedInteger, UnsignedInteger};
    [
        row(Dtype::F32, "f32", "SCONCE_DTYPE_F32", 4, Float),
        row(Dtype::F64, "f64", "SCONCE_DTYPE_F64", 8, Float),
        row(Dtype::F16, "f16", "SCONCE_DTYPE_F16", 2, Float),
        row(Dtype::Bf16, "bf16", "SCONCE_DTYPE_BF16", 2, Float),
        row(Dtype::I8, "i8", "SCONCE_DTYPE_I8", 1, SignedInteger),
        row(Dtype::I16, "i16", "SCONCE_DTYPE_I16", 2, SignedInteger),
        row(Dtype::I32, "i32", "SCONCE_DTYPE_I32", 4, SignedInteger),
        row(Dtype::I64, "i64", "SCONCE_DTYPE_I64", 8, SignedInteger),
        row(Dtype::U8, "u8", "SCONCE_DTYPE_U8", 1, UnsignedInteger),
        row(Dtype::Bool, "bool", "SCONCE_DTYPE_BOOL", 1, Bool),
        row(Dtype::C64, "c64", "SCONCE_DTYPE_C64", 8, Complex),
        row(Dtype::C128, "c128", "SCONCE_DTYPE_C128", 16, Complex),
        row(Dtype::U16, "u16", "SCONCE_DTYPE_U16", 2, UnsignedInteger),
        row(Dtype::U32, "u32", "SCONCE_DTYPE_U32", 4, UnsignedInteger),
        row(Dtype::U64, "u64", "SCONCE_DTYPE_U64", 8, UnsignedInteger),
        row(Dtype::C32, "c32", "SCONCE_DTYPE_C32", 4, Complex),
        row(Dtype::F8E4M3Fn, "f8_e4m3fn", "SCONCE_DTYPE_F8_E4M3FN", 1, Float),
        row(Dtype::F8E4M3Fnuz, "f8_e4m3fnuz", "SCONCE_DTYPE_F8_E4M3FNUZ", 1, Float),
        row(Dtype::F8E5M2, "f8_e5m2", "SCONCE_DTYPE_F8_E5M2", 1, Float),
        row(Dtype::F8E5M2Fnuz, "f8_e5m2fnuz", "SCONCE_DTYPE_F8_E5M2FNUZ", 1, Float),
        row(Dtype::F8E8M0Fnu, "f8_e8m0fnu", "SCONCE_DTYPE_F8_E8M0FNU", 1, Float),
        row(Dtype::F4E2M1FnX2, "f4_e2m1fn_x2", "SCONCE_DTYPE_F4_E2M1FN_X2", 1, Float),
    ]
};

impl Dtype {
    /// Every type, in the order of its number.
    pub const ALL: [Dtype; ROWS.len()] = {
        let mut all = [Dtype::F32; ROWS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = ROWS[index].dtype;
            index += 1;
        }
        all
    };

    const fn row(self) -> &'static DtypeRow {
        &ROWS[self as usize]
    }

    /// The type's part of a kernel's name.
    pub const fn suffix(self) -> &'static str {
        self.row().suffix
    }

    /// The type's name in messages: its constant in the C API.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bytes of an element.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.row().bytes as usize
    }

    /// What the type's values are.
    pub const fn kind(self) -> DtypeKind {
        self.row().kind
    }

    /// Whether the type is a real floating-point type.
    pub const fn is_floating(self) -> bool {
        matches!(self.kind(), DtypeKind::Float)
    }

    /// A complex type as the type of its parts, and 2; any other type as itself, and 1.
    #[inline]
    pub const fn real(self) -> (Dtype, u64) {
        match self {
            Dtype::C32 => (Dtype::F16, 2),
            Dtype::C64 => (Dtype::F32, 2),
            Dtype::C128 => (Dtype::F64, 2),
            real => (real, 1),
        }
    }

    /// Checks the field `dtype` of a descriptor against the types that an operation supports.
    #[inline]
    pub fn require(self, supported: &[Dtype], operation: &str) -> Result<Dtype> {
        if supported.contains(&self) { Ok(self) } else { Err(unsupported(supported, operation)) }
    }
}

#[cold]
fn unsupported(supported: &[Dtype], operation: &str) -> Error {
    let [first, middle @ .., last] = supported else {
        return Error::not_supported(format!("no type is supported for {operation}"));
    };
    let short = |dtype: &Dtype| dtype.name().replace("SCONCE_DTYPE", "");
    let middle: String = middle.iter().map(|dtype| format!(", {}", short(dtype))).collect();
    let (first, last) = (first.name(), short(last));
    Error::not_supported(format!("desc.dtype must be {first}{middle} or {last} for {operation}"))
}

impl TryFrom<i32> for Dtype {
    type Error = Error;

    #[inline]
    fn try_from(value: i32) -> Result<Self> {
        let found = usize::try_from(value).ok().and_then(|index| Dtype::ALL.get(index).copied());
        found.ok_or_else(|| {
            Error::invalid_argument(format!(
                "dtype is {value}; it must be one of SCONCE_DTYPE_… (0 to {})",
                Dtype::ALL.len() - 1
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_list() {
        for (index, dtype) in Dtype::ALL.into_iter().enumerate() {
            assert_eq!(dtype as usize, index);
            assert_eq!(Dtype::try_from(index as i32).ok(), Some(dtype));
            assert!(dtype.name().starts_with("SCONCE_DTYPE_"), "{dtype:?}");
        }
        assert!(Dtype::try_from(-1).is_err() && Dtype::try_from(i32::MAX).is_err());
    }

    #[test]
    fn names_are_unique_and_say_how_many_bits_there_are() {
        for (index, dtype) in Dtype::ALL.into_iter().enumerate() {
            let before = &Dtype::ALL[..index];
            assert!(before.iter().all(|other| other.suffix() != dtype.suffix()), "{dtype:?}");
            assert!(before.iter().all(|other| other.name() != dtype.name()), "{dtype:?}");
            let digits = dtype.suffix().split('_').next().unwrap();
            let digits = digits.trim_start_matches(|letter: char| !letter.is_ascii_digit());
            let bits: usize = match dtype {
                Dtype::Bool | Dtype::F4E2M1FnX2 => 8,
                _ => digits.parse().unwrap(),
            };
            assert_eq!(dtype.bytes() * 8, bits, "{dtype:?}");
        }
    }

    #[test]
    fn complex_types_are_two_of_their_real_type() {
        for dtype in Dtype::ALL {
            let (real, parts) = dtype.real();
            assert_eq!(real.bytes() * parts as usize, dtype.bytes(), "{dtype:?}");
            assert_eq!(dtype.kind() == DtypeKind::Complex, parts == 2, "{dtype:?}");
            assert_ne!(real.kind(), DtypeKind::Complex, "{dtype:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_supported_types_and_the_operation() {
        let supported = [Dtype::F16, Dtype::Bf16, Dtype::F32];
        assert_eq!(Dtype::F32.require(&supported, "a test").unwrap(), Dtype::F32);
        let error = Dtype::I8.require(&supported, "a test").unwrap_err();
        let text = "desc.dtype must be SCONCE_DTYPE_F16, _BF16 or _F32 for a test";
        assert_eq!(error.message(), text);
    }
}
