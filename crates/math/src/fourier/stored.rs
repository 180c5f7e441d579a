//! Numbers in memory, and the numbers that are calculated with.

use realfft::num_complex::Complex;
use sconce_base::element::{f16_bits, f16_value};

/// A real number in memory. All are calculated with in double precision: the transforms' code for singles, too, would
/// take as much room again.
pub(crate) trait StoredReal: 'static {
    /// How many bytes it takes.
    const BYTES: usize;
    /// From the first `BYTES` of `bytes`.
    fn load(bytes: &[u8]) -> f64;
    /// To the first `BYTES` of `bytes`.
    fn store(value: f64, bytes: &mut [u8]);
}

macro_rules! as_it_is {
    ($($number:ty)*) => {$(
        impl StoredReal for $number {
            const BYTES: usize = size_of::<$number>();

            fn load(bytes: &[u8]) -> f64 {
                let mut own = [0; Self::BYTES];
                own.copy_from_slice(&bytes[..Self::BYTES]);
                f64::from(<$number>::from_le_bytes(own))
            }

            fn store(value: f64, bytes: &mut [u8]) {
                bytes[..Self::BYTES].copy_from_slice(&(value as $number).to_le_bytes());
            }
        }
    )*};
}

as_it_is!(f32 f64);

/// Half precision.
pub(crate) struct StoredHalf;

impl StoredReal for StoredHalf {
    const BYTES: usize = 2;

    fn load(bytes: &[u8]) -> f64 {
        f64::from(f16_value(u16::from_le_bytes([bytes[0], bytes[1]])))
    }

    /// Rounds to a single first, as devices that calculate in singles do.
    fn store(value: f64, bytes: &mut [u8]) {
        bytes[..2].copy_from_slice(&f16_bits(value as f32).to_le_bytes());
    }
}

/// Complex numbers from memory.
pub(crate) fn load_complex<N: StoredReal>(bytes: &[u8], into: &mut [Complex<f64>]) {
    for (number, bytes) in into.iter_mut().zip(bytes.chunks_exact(2 * N::BYTES)) {
        *number = Complex::new(N::load(bytes), N::load(&bytes[N::BYTES..]));
    }
}

/// Complex numbers to memory.
pub(crate) fn store_complex<N: StoredReal>(from: &[Complex<f64>], bytes: &mut [u8]) {
    for (number, bytes) in from.iter().zip(bytes.chunks_exact_mut(2 * N::BYTES)) {
        N::store(number.re, bytes);
        N::store(number.im, &mut bytes[N::BYTES..]);
    }
}

/// Real numbers from memory.
pub(crate) fn load_real<N: StoredReal>(bytes: &[u8], into: &mut [f64]) {
    for (number, bytes) in into.iter_mut().zip(bytes.chunks_exact(N::BYTES)) {
        *number = N::load(bytes);
    }
}

/// Real numbers to memory.
pub(crate) fn store_real<N: StoredReal>(from: &[f64], bytes: &mut [u8]) {
    for (number, bytes) in from.iter().zip(bytes.chunks_exact_mut(N::BYTES)) {
        N::store(*number, bytes);
    }
}
