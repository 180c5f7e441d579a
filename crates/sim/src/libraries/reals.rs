//! Elements of device memory as numbers to calculate with: F16 and BF16 in F32, the others as they
//! are.
//!
//! Memory is read and written in pieces, each checked as a device checks its accesses.
#![forbid(unsafe_code)]

use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};
use sconce_math::products::{self, Factor, Real, bytes_of, bytes_of_mut};
use sconce_math::unfolding::{self, Uncalculated};

use crate::codes;
use crate::memory::DeviceMemoryView;

/// Elements that are read or written at once. Longer pieces would delay threads that map memory.
const PIECE: usize = 1 << 18;
/// Elements of 16 bits at once; few enough for the stack of a worker.
const SHORT_PIECE: usize = 4096;

/// A type of numbers to calculate with.
pub(crate) trait RealNumber: Real + From<f32> + std::ops::AddAssign {
    /// The nearest value of the type.
    fn from_f64(value: f64) -> Self;
    /// The nearest F32.
    fn to_f32(self) -> f32;
    /// An F32 rounded to ten bits of mantissa, ties to even; an F64 as it is.
    fn to_tf32(self) -> Self;
}

impl RealNumber for f32 {
    fn from_f64(value: f64) -> f32 {
        value as f32
    }

    fn to_f32(self) -> f32 {
        self
    }

    fn to_tf32(self) -> f32 {
        if !self.is_finite() {
            return self;
        }
        let bits = self.to_bits();
        let odd = (bits >> 13) & 1;
        f32::from_bits((bits + 0xfff + odd) & !0x1fff)
    }
}

impl RealNumber for f64 {
    fn from_f64(value: f64) -> f64 {
        value
    }

    fn to_f32(self) -> f32 {
        self as f32
    }

    fn to_tf32(self) -> f64 {
        self
    }
}

/// The driver's code for a convolution that was not calculated.
pub(crate) fn code_of(reason: Uncalculated) -> i32 {
    match reason {
        Uncalculated::NoMemory => codes::LAUNCH_FAILED,
        Uncalculated::WrongLengths => codes::INVALID_VALUE,
        Uncalculated::Stopped(code) => code,
    }
}

/// Allocates `count` zeros; an error when the host has no memory for them.
pub(crate) fn zeros<T: RealNumber>(count: usize) -> Result<Vec<T>, i32> {
    unfolding::zeros(count).map_err(code_of)
}

/// A product of dense matrices, as [`products::multiply`].
pub(crate) fn product<T: RealNumber>(
    sizes: [usize; 3],
    alpha: T,
    a: Factor<'_, T>,
    b: Factor<'_, T>,
    beta: T,
    c: &mut [T],
) -> Result<(), i32> {
    products::multiply(sizes, alpha, a, b, beta, c).map_err(|_| codes::INVALID_VALUE)
}

/// The same for complex numbers, as [`products::multiply_complex`].
pub(crate) fn complex_product<T: RealNumber>(
    sizes: [usize; 3],
    alpha: T,
    a: Factor<'_, T>,
    b: Factor<'_, T>,
    beta: T,
    c: &mut [T],
) -> Result<(), i32> {
    products::multiply_complex(sizes, alpha, a, b, beta, c).map_err(|_| codes::INVALID_VALUE)
}

/// The address of an element, counted from another one's.
pub(crate) fn address_of(base: u64, element: Dtype, offset: i64) -> Result<u64, i32> {
    let bytes = offset.checked_mul(element.bytes() as i64);
    bytes.and_then(|bytes| base.checked_add_signed(bytes)).ok_or(codes::ILLEGAL_ADDRESS)
}

/// Reads elements that follow each other.
pub(crate) fn read<T: RealNumber>(
    memory: &DeviceMemoryView<'_>,
    element: Dtype,
    address: u64,
    into: &mut [T],
) -> Result<(), i32> {
    let at = |elements: usize| address_of(address, element, elements as i64);
    if !address.is_multiple_of(element.bytes() as u64) {
        return Err(codes::MISALIGNED_ADDRESS);
    }
    let value: fn(u16) -> f32 = match element {
        Dtype::F16 => f16_value,
        Dtype::Bf16 => bf16_value,
        _ => {
            check_width::<T>(element)?;
            for (index, piece) in into.chunks_mut(PIECE).enumerate() {
                memory.read(at(index * PIECE)?, bytes_of_mut(piece))?;
            }
            return Ok(());
        }
    };
    let mut buffer = [0_u8; 2 * SHORT_PIECE];
    for (index, piece) in into.chunks_mut(SHORT_PIECE).enumerate() {
        let bytes = &mut buffer[..2 * piece.len()];
        memory.read(at(index * SHORT_PIECE)?, bytes)?;
        for (number, bits) in piece.iter_mut().zip(bytes.as_chunks().0) {
            *number = T::from(value(u16::from_ne_bytes(*bits)));
        }
    }
    Ok(())
}

/// Writes elements that follow each other, rounded to the nearest.
pub(crate) fn write<T: RealNumber>(
    memory: &DeviceMemoryView<'_>,
    element: Dtype,
    address: u64,
    from: &[T],
) -> Result<(), i32> {
    let at = |elements: usize| address_of(address, element, elements as i64);
    if !address.is_multiple_of(element.bytes() as u64) {
        return Err(codes::MISALIGNED_ADDRESS);
    }
    let round: fn(f32) -> u16 = match element {
        Dtype::F16 => f16_bits,
        Dtype::Bf16 => bf16_bits,
        _ => {
            check_width::<T>(element)?;
            for (index, piece) in from.chunks(PIECE).enumerate() {
                memory.write(at(index * PIECE)?, bytes_of(piece))?;
            }
            return Ok(());
        }
    };
    let mut buffer = [0_u8; 2 * SHORT_PIECE];
    for (index, piece) in from.chunks(SHORT_PIECE).enumerate() {
        let bytes = &mut buffer[..2 * piece.len()];
        for (number, bits) in piece.iter().zip(bytes.as_chunks_mut().0) {
            *bits = round(number.to_f32()).to_ne_bytes();
        }
        memory.write(at(index * SHORT_PIECE)?, bytes)?;
    }
    Ok(())
}

/// Whether the simulated libraries calculate with a type.
pub(super) fn is_calculated(element: Dtype) -> bool {
    matches!(element, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64)
}

/// F32 and F64 are calculated with as they are.
fn check_width<T>(element: Dtype) -> Result<(), i32> {
    match is_calculated(element) && size_of::<T>() == element.bytes() {
        true => Ok(()),
        false => Err(codes::INVALID_VALUE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tf32_keeps_ten_bits_and_rounds_to_nearest_even() {
        let unit = 2.0_f32.powi(-10);
        for (value, rounded) in [
            (1.0, 1.0),
            (1.0 + unit, 1.0 + unit),
            (1.0 + 0.49 * unit, 1.0),
            (1.0 + 0.5 * unit, 1.0),
            (1.0 + 0.51 * unit, 1.0 + unit),
            (1.0 + 1.5 * unit, 1.0 + 2.0 * unit),
            (-3.0 - 0.2 * unit, -3.0),
            (2.0 - 0.25 * unit, 2.0),
            (0.0, 0.0),
            (f32::MAX, f32::INFINITY),
            (f32::NEG_INFINITY, f32::NEG_INFINITY),
        ] {
            assert_eq!(value.to_tf32().to_bits(), f32::to_bits(rounded), "{value}");
        }
        assert!(f32::NAN.to_tf32().is_nan());
        assert!(f32::from_bits(0x7fff_ffff).to_tf32().is_nan());
        assert_eq!((1.0 + 1e-10_f64).to_tf32(), 1.0 + 1e-10);
    }

    #[test]
    fn addresses_past_the_end_are_illegal() {
        assert_eq!(address_of(64, Dtype::F32, 3), Ok(76));
        assert_eq!(address_of(64, Dtype::F64, -8), Ok(0));
        for (base, offset) in [(64, -9), (u64::MAX, 1), (0, i64::MAX)] {
            assert_eq!(address_of(base, Dtype::F64, offset), Err(codes::ILLEGAL_ADDRESS));
        }
    }
}
