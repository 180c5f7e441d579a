//! The types in which operations are computed.

use sconce_base::element::{Dtype, DtypeKind};

/// A type in which operations are computed: there is a set of kernels for each.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Single precision, for the narrower floating-point types, too.
    F32,
    /// Double precision.
    F64,
    /// 64-bit integers, for all integers and booleans.
    Integer,
    /// Complex numbers of two singles.
    C64,
    /// Complex numbers of two doubles.
    C128,
}

impl Domain {
    /// Every domain, in the order of the numbers.
    pub const ALL: [Domain; 5] =
        [Domain::F32, Domain::F64, Domain::Integer, Domain::C64, Domain::C128];

    /// The domain in which numbers of a type are computed.
    pub const fn of(dtype: Dtype) -> Domain {
        match (dtype.kind(), dtype) {
            (_, Dtype::F64) => Domain::F64,
            (_, Dtype::C128) => Domain::C128,
            (DtypeKind::Complex, _) => Domain::C64,
            (DtypeKind::Float, _) => Domain::F32,
            _ => Domain::Integer,
        }
    }

    /// The domain's part of a kernel's name.
    pub const fn suffix(self) -> &'static str {
        match self {
            Domain::F32 => "f32",
            Domain::F64 => "f64",
            Domain::Integer => "integer",
            Domain::C64 => "c64",
            Domain::C128 => "c128",
        }
    }

    /// Whether the domain's numbers are complex.
    pub const fn is_complex(self) -> bool {
        matches!(self, Domain::C64 | Domain::C128)
    }
}
