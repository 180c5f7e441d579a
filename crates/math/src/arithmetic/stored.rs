//! Elements as bytes in memory, little-endian.

use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};
use sconce_base::element::{narrow_bits, narrow_value};

use super::any_number::AnyNumber;

/// The first bytes of an element; more than it has are 0.
fn first<const BYTES: usize>(bytes: &[u8]) -> [u8; BYTES] {
    bytes.first_chunk().copied().unwrap_or([0; BYTES])
}

/// Two parts that lie one after the other.
fn both<const BYTES: usize, T>(bytes: &[u8], part: fn([u8; BYTES]) -> T) -> [T; 2] {
    [part(first(bytes)), part(first(bytes.get(BYTES..).unwrap_or_default()))]
}

/// The number that an element's bytes hold. A byte of a `Bool` that is not 0 is true; the two
/// numbers of an `F4E2M1FnX2` are taken as one integer.
#[inline]
pub fn decode(dtype: Dtype, bytes: &[u8]) -> AnyNumber {
    use AnyNumber::{ComplexDouble, ComplexSingle, Double, Signed, Single, Unsigned};
    let byte = || bytes.first().copied().unwrap_or(0);
    let half = |bits| f16_value(u16::from_le_bytes(bits));
    match dtype {
        Dtype::F32 => Single(f32::from_le_bytes(first(bytes))),
        Dtype::F64 => Double(f64::from_le_bytes(first(bytes))),
        Dtype::F16 => Single(half(first(bytes))),
        Dtype::Bf16 => Single(bf16_value(u16::from_le_bytes(first(bytes)))),
        Dtype::I8 => Signed(i64::from(byte() as i8)),
        Dtype::I16 => Signed(i64::from(i16::from_le_bytes(first(bytes)))),
        Dtype::I32 => Signed(i64::from(i32::from_le_bytes(first(bytes)))),
        Dtype::I64 => Signed(i64::from_le_bytes(first(bytes))),
        Dtype::U8 | Dtype::F4E2M1FnX2 => Unsigned(u64::from(byte())),
        Dtype::Bool => Unsigned(u64::from(byte() != 0)),
        Dtype::C64 => ComplexSingle(both(bytes, f32::from_le_bytes)),
        Dtype::C128 => ComplexDouble(both(bytes, f64::from_le_bytes)),
        Dtype::C32 => ComplexSingle(both(bytes, half)),
        Dtype::U16 => Unsigned(u64::from(u16::from_le_bytes(first(bytes)))),
        Dtype::U32 => Unsigned(u64::from(u32::from_le_bytes(first(bytes)))),
        Dtype::U64 => Unsigned(u64::from_le_bytes(first(bytes))),
        Dtype::F8E4M3Fn
        | Dtype::F8E4M3Fnuz
        | Dtype::F8E5M2
        | Dtype::F8E5M2Fnuz
        | Dtype::F8E8M0Fnu => Single(narrow_value(byte(), dtype)),
    }
}

/// Writes the bytes of a number, converted to a type, to the beginning of `into`.
#[inline]
pub fn encode(number: AnyNumber, dtype: Dtype, into: &mut [u8]) {
    let mut put = |bytes: &[u8]| into[..bytes.len()].copy_from_slice(bytes);
    match dtype {
        Dtype::F32 => put(&number.to_single().to_le_bytes()),
        Dtype::F64 => put(&number.to_double().to_le_bytes()),
        Dtype::F16 => put(&f16_bits(number.to_single()).to_le_bytes()),
        Dtype::Bf16 => put(&bf16_bits(number.to_single()).to_le_bytes()),
        Dtype::C64 => put(number.to_complex_single().map(f32::to_le_bytes).as_flattened()),
        Dtype::C128 => put(number.to_complex_double().map(f64::to_le_bytes).as_flattened()),
        Dtype::C32 => {
            let half = |part| f16_bits(part).to_le_bytes();
            put(number.to_complex_single().map(half).as_flattened());
        }
        Dtype::F8E4M3Fn
        | Dtype::F8E4M3Fnuz
        | Dtype::F8E5M2
        | Dtype::F8E5M2Fnuz
        | Dtype::F8E8M0Fnu => put(&[narrow_bits(number.to_single(), dtype)]),
        integer => put(&number.to_integer(integer).to_le_bytes()[..integer.bytes()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_integers_are_the_same_in_every_type() {
        for from in Dtype::ALL.into_iter().filter(|dtype| *dtype != Dtype::F4E2M1FnX2) {
            for to in Dtype::ALL {
                let mut bytes = [0xee_u8; 17];
                encode(AnyNumber::Signed(1), from, &mut bytes);
                assert!(bytes[from.bytes()..].iter().all(|byte| *byte == 0xee), "{from:?}");
                let number = decode(from, &bytes[..from.bytes()]);
                encode(number, to, &mut bytes);
                assert_eq!(decode(to, &bytes[..to.bytes()]).to_double(), 1.0, "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn a_byte_of_a_bool_is_true_unless_it_is_0() {
        assert_eq!(decode(Dtype::Bool, &[7]), AnyNumber::Unsigned(1));
        assert_eq!(decode(Dtype::Bool, &[0]), AnyNumber::Unsigned(0));
    }

    #[test]
    fn parts_of_complex_numbers_keep_their_order() {
        let mut bytes = [0; 16];
        for dtype in [Dtype::C32, Dtype::C64, Dtype::C128] {
            encode(AnyNumber::ComplexDouble([1.5, -2.0]), dtype, &mut bytes);
            assert_eq!(decode(dtype, &bytes).to_complex_double(), [1.5, -2.0], "{dtype:?}");
        }
        encode(decode(Dtype::C128, &bytes), Dtype::F32, &mut bytes);
        assert_eq!(decode(Dtype::F32, &bytes), AnyNumber::Single(1.5));
    }
}
