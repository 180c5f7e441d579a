//! The numbers that other libraries have for the types.

use super::dtype::Dtype;

/// A type as DLPack describes it: `DLDataType`, in its layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlpackType {
    /// `DLDataTypeCode`.
    pub code: u8,
    /// Bits of one lane.
    pub bits: u8,
    /// How many values an element holds.
    pub lanes: u16,
}

const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const COMPLEX: u8 = 5;
const BOOL: u8 = 6;
const FLOAT8_E4M3FN: u8 = 10;
const FLOAT8_E4M3FNUZ: u8 = 11;
const FLOAT8_E5M2: u8 = 12;
const FLOAT8_E5M2FNUZ: u8 = 13;
const FLOAT8_E8M0FNU: u8 = 14;
const FLOAT4_E2M1FN: u8 = 17;

impl Dtype {
    /// The number of c10's `ScalarType`, which torch's stable C interface uses too.
    pub const fn c10_number(self) -> i8 {
        match self {
            Dtype::U8 => 0,
            Dtype::I8 => 1,
            Dtype::I16 => 2,
            Dtype::I32 => 3,
            Dtype::I64 => 4,
            Dtype::F16 => 5,
            Dtype::F32 => 6,
            Dtype::F64 => 7,
            Dtype::C32 => 8,
            Dtype::C64 => 9,
            Dtype::C128 => 10,
            Dtype::Bool => 11,
            Dtype::Bf16 => 15,
            Dtype::F8E5M2 => 23,
            Dtype::F8E4M3Fn => 24,
            Dtype::F8E5M2Fnuz => 25,
            Dtype::F8E4M3Fnuz => 26,
            Dtype::U16 => 27,
            Dtype::U32 => 28,
            Dtype::U64 => 29,
            Dtype::F8E8M0Fnu => 44,
            Dtype::F4E2M1FnX2 => 45,
        }
    }

    /// The type with a number of c10's `ScalarType`. `None` for a type that this library lacks, such
    /// as the quantised ones.
    pub fn from_c10_number(number: i8) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.c10_number() == number)
    }

    /// The type as DLPack describes it.
    pub const fn dlpack(self) -> DlpackType {
        let code = match self {
            Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => INT,
            Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => UINT,
            Dtype::F16 | Dtype::F32 | Dtype::F64 => FLOAT,
            Dtype::Bf16 => BFLOAT,
            Dtype::C32 | Dtype::C64 | Dtype::C128 => COMPLEX,
            Dtype::Bool => BOOL,
            Dtype::F8E4M3Fn => FLOAT8_E4M3FN,
            Dtype::F8E4M3Fnuz => FLOAT8_E4M3FNUZ,
            Dtype::F8E5M2 => FLOAT8_E5M2,
            Dtype::F8E5M2Fnuz => FLOAT8_E5M2FNUZ,
            Dtype::F8E8M0Fnu => FLOAT8_E8M0FNU,
            Dtype::F4E2M1FnX2 => return DlpackType { code: FLOAT4_E2M1FN, bits: 4, lanes: 2 },
        };
        DlpackType { code, bits: 8 * self.bytes() as u8, lanes: 1 }
    }

    /// The type that DLPack describes so. `None` for a type that this library lacks.
    pub fn from_dlpack(dlpack: DlpackType) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.dlpack() == dlpack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_numbers() {
        for dtype in Dtype::ALL {
            assert_eq!(Dtype::from_c10_number(dtype.c10_number()), Some(dtype));
            assert_eq!(Dtype::from_dlpack(dtype.dlpack()), Some(dtype));
            let DlpackType { bits, lanes, .. } = dtype.dlpack();
            assert_eq!(usize::from(bits) * usize::from(lanes), 8 * dtype.bytes(), "{dtype:?}");
        }
        // QInt8 and Undefined; an opaque handle, and four floats in one element.
        assert_eq!([12, 46, -1].map(Dtype::from_c10_number), [None; 3]);
        for (code, bits, lanes) in [(3, 64, 1), (FLOAT, 32, 4), (FLOAT, 8, 1), (BOOL, 1, 1)] {
            assert_eq!(Dtype::from_dlpack(DlpackType { code, bits, lanes }), None);
        }
    }

    /// From `c10/core/ScalarType.h` and `dlpack.h` 1.3.
    #[test]
    fn the_numbers_are_those_of_the_headers() {
        for (dtype, c10, code, bits) in [
            (Dtype::F32, 6, 2, 32),
            (Dtype::F64, 7, 2, 64),
            (Dtype::F16, 5, 2, 16),
            (Dtype::Bf16, 15, 4, 16),
            (Dtype::I8, 1, 0, 8),
            (Dtype::I16, 2, 0, 16),
            (Dtype::I32, 3, 0, 32),
            (Dtype::I64, 4, 0, 64),
            (Dtype::U8, 0, 1, 8),
            (Dtype::Bool, 11, 6, 8),
            (Dtype::C64, 9, 5, 64),
            (Dtype::C128, 10, 5, 128),
            (Dtype::U16, 27, 1, 16),
            (Dtype::U32, 28, 1, 32),
            (Dtype::U64, 29, 1, 64),
            (Dtype::C32, 8, 5, 32),
            (Dtype::F8E4M3Fn, 24, 10, 8),
            (Dtype::F8E4M3Fnuz, 26, 11, 8),
            (Dtype::F8E5M2, 23, 12, 8),
            (Dtype::F8E5M2Fnuz, 25, 13, 8),
            (Dtype::F8E8M0Fnu, 44, 14, 8),
            (Dtype::F4E2M1FnX2, 45, 17, 4),
        ] {
            assert_eq!(dtype.c10_number(), c10, "{dtype:?}");
            let dlpack = dtype.dlpack();
            assert_eq!((dlpack.code, dlpack.bits), (code, bits), "{dtype:?}");
        }
    }
}
