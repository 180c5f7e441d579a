//! Numbers of the floating-point types, and a generator of them.

use sconce::*;
use sconce_base::element::{bf16_bits, bf16_value, f16_bits, f16_value};

/// Bytes of a number of a type.
pub fn width(dtype: i32) -> usize {
    match dtype {
        SCONCE_DTYPE_F16 | SCONCE_DTYPE_BF16 => 2,
        SCONCE_DTYPE_F32 => 4,
        SCONCE_DTYPE_F64 => 8,
        other => panic!("dtype {other}"),
    }
}

/// The nearest number of a type.
pub fn encode(dtype: i32, number: f64) -> Vec<u8> {
    match dtype {
        SCONCE_DTYPE_F16 => f16_bits(number as f32).to_le_bytes().to_vec(),
        SCONCE_DTYPE_BF16 => bf16_bits(number as f32).to_le_bytes().to_vec(),
        SCONCE_DTYPE_F32 => (number as f32).to_le_bytes().to_vec(),
        _ => number.to_le_bytes().to_vec(),
    }
}

pub fn encode_all(dtype: i32, numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| encode(dtype, *number)).collect()
}

pub fn decode(dtype: i32, bytes: &[u8]) -> f64 {
    let short = || u16::from_le_bytes(bytes.try_into().unwrap());
    match dtype {
        SCONCE_DTYPE_F16 => f64::from(f16_value(short())),
        SCONCE_DTYPE_BF16 => f64::from(bf16_value(short())),
        SCONCE_DTYPE_F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    }
}

pub fn decode_all(dtype: i32, bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(width(dtype)).map(|bytes| decode(dtype, bytes)).collect()
}

/// A generator of numbers.
pub struct Random(pub u64);

impl Random {
    /// A number below `most`.
    pub fn below(&mut self, most: u64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % most) as i64
    }

    /// A place below `most`.
    pub fn place(&mut self, most: usize) -> usize {
        self.below(most as u64) as usize
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// A number from -1 to 1.
    pub fn unit(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0
    }
}
