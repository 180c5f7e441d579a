//! Reductions of elements in memory.
//!
//! Elements are combined in the order of the ranks, and each result is rounded to the type. NCCL's order depends on its
//! algorithm, so only results that no order changes are the same there. Results of 8-bit floating-point numbers that
//! are too large become the largest finite number, as in NCCL.
#![forbid(unsafe_code)]

use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};
use sconce_base::element::{narrow_value, saturated_bits};
use sconce_driver::CommOp;

/// An element of a type that can be reduced.
trait Element: Copy {
    fn get(bytes: &[u8]) -> Self;
    fn put(self, bytes: &mut [u8]);
    fn combine(op: CommOp, a: Self, b: Self) -> Self;
    /// The element times a factor.
    fn scaled(self, factor: f64) -> Self;
    /// The element of a sum over `ranks` as their average, for types that divide at the end.
    fn divided(self, ranks: usize) -> Self;
}

macro_rules! integers {
    ($($kind:ty),*) => {$(
        impl Element for $kind {
            fn get(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0, |bytes| <$kind>::from_le_bytes(*bytes))
            }

            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn combine(op: CommOp, a: Self, b: Self) -> Self {
                match op {
                    CommOp::Sum | CommOp::Avg | CommOp::PremulSum(_) => a.wrapping_add(b),
                    CommOp::Prod => a.wrapping_mul(b),
                    CommOp::Min => a.min(b),
                    CommOp::Max => a.max(b),
                }
            }

            fn scaled(self, factor: f64) -> Self {
                self.wrapping_mul(factor as $kind)
            }

            fn divided(self, ranks: usize) -> Self {
                self / ranks.max(1) as $kind
            }
        }
    )*};
}

integers!(i8, u8, i32, u32, i64, u64);

/// A floating-point type: how it is stored, and the type in which it is computed.
macro_rules! floats {
    ($($name:ident($compute:ty, $bits:ty), $get:expr, $put:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name($compute);

        impl Element for $name {
            fn get(bytes: &[u8]) -> Self {
                let bits = bytes.first_chunk().map_or(0, |bytes| <$bits>::from_le_bytes(*bytes));
                $name($get(bits))
            }

            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&$put(self.0).to_le_bytes());
            }

            fn combine(op: CommOp, $name(a): Self, $name(b): Self) -> Self {
                let result = match op {
                    CommOp::Sum | CommOp::Avg | CommOp::PremulSum(_) => a + b,
                    CommOp::Prod => a * b,
                    CommOp::Min => a.min(b),
                    CommOp::Max => a.max(b),
                };
                $name($get($put(result)))
            }

            fn scaled(self, factor: f64) -> Self {
                let factor = $get($put(factor as $compute));
                $name($get($put(self.0 * factor)))
            }

            fn divided(self, _ranks: usize) -> Self {
                self
            }
        }
    )*};
}

fn e4m3_value(bits: u8) -> f32 {
    narrow_value(bits, Dtype::F8E4M3Fn)
}

fn e4m3_bits(value: f32) -> u8 {
    saturated_bits(value, Dtype::F8E4M3Fn)
}

fn e5m2_value(bits: u8) -> f32 {
    narrow_value(bits, Dtype::F8E5M2)
}

fn e5m2_bits(value: f32) -> u8 {
    saturated_bits(value, Dtype::F8E5M2)
}

floats! {
    Single(f32, u32), f32::from_bits, f32::to_bits;
    Double(f64, u64), f64::from_bits, f64::to_bits;
    Half(f32, u16), f16_value, f16_bits;
    Brain(f32, u16), bf16_value, bf16_bits;
    E4M3(f32, u8), e4m3_value, e4m3_bits;
    E5M2(f32, u8), e5m2_value, e5m2_bits;
}

/// Calls a generic function with the type of the elements; does nothing for types that cannot be reduced.
macro_rules! with_element {
    ($dtype:expr, $function:ident($($argument:expr),*)) => {
        match $dtype {
            Dtype::I8 => $function::<i8>($($argument),*),
            Dtype::U8 => $function::<u8>($($argument),*),
            Dtype::I32 => $function::<i32>($($argument),*),
            Dtype::U32 => $function::<u32>($($argument),*),
            Dtype::I64 => $function::<i64>($($argument),*),
            Dtype::U64 => $function::<u64>($($argument),*),
            Dtype::F32 => $function::<Single>($($argument),*),
            Dtype::F64 => $function::<Double>($($argument),*),
            Dtype::F16 => $function::<Half>($($argument),*),
            Dtype::Bf16 => $function::<Brain>($($argument),*),
            Dtype::F8E4M3Fn => $function::<E4M3>($($argument),*),
            Dtype::F8E5M2 => $function::<E5M2>($($argument),*),
            _ => {}
        }
    };
}

/// Whether elements of the type can be reduced.
pub(crate) fn is_reducible(dtype: Dtype) -> bool {
    use Dtype::{I8, I32, I64, U8, U32, U64};
    is_float(dtype) || matches!(dtype, I8 | U8 | I32 | U32 | I64 | U64)
}

fn is_float(dtype: Dtype) -> bool {
    use Dtype::{Bf16, F8E4M3Fn, F8E5M2, F16, F32, F64};
    matches!(dtype, F32 | F64 | F16 | Bf16 | F8E4M3Fn | F8E5M2)
}

/// Prepares a rank's own elements: multiplies them by its factor. Averages of floating-point numbers are sums of
/// elements that were multiplied by the inverse of the number of ranks, as in NCCL.
pub(crate) fn prepare(dtype: Dtype, op: CommOp, ranks: usize, elements: &mut [u8]) {
    match op {
        CommOp::PremulSum(factor) => with_element!(dtype, scale_all(dtype, factor, elements)),
        CommOp::Avg if is_float(dtype) => {
            with_element!(dtype, scale_all(dtype, 1.0 / ranks as f64, elements));
        }
        _ => {}
    }
}

/// Combines elements of one more rank with those of the ranks before.
pub(crate) fn combine(dtype: Dtype, op: CommOp, so_far: &mut [u8], more: &[u8]) {
    with_element!(dtype, combine_all(dtype, op, so_far, more));
}

/// What remains to be done when the elements of all ranks are combined.
pub(crate) fn finish(dtype: Dtype, op: CommOp, ranks: usize, elements: &mut [u8]) {
    if op == CommOp::Avg {
        with_element!(dtype, divide_all(dtype, ranks, elements));
    }
}

fn scale_all<E: Element>(dtype: Dtype, factor: f64, elements: &mut [u8]) {
    for place in elements.chunks_exact_mut(dtype.bytes()) {
        E::get(place).scaled(factor).put(place);
    }
}

fn combine_all<E: Element>(dtype: Dtype, op: CommOp, so_far: &mut [u8], more: &[u8]) {
    let bytes = dtype.bytes();
    for (place, other) in so_far.chunks_exact_mut(bytes).zip(more.chunks_exact(bytes)) {
        E::combine(op, E::get(place), E::get(other)).put(place);
    }
}

fn divide_all<E: Element>(dtype: Dtype, ranks: usize, elements: &mut [u8]) {
    for place in elements.chunks_exact_mut(dtype.bytes()) {
        E::get(place).divided(ranks).put(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(dtype: Dtype, op: CommOp, ranks: &[Vec<u8>]) -> Vec<u8> {
        let prepared = ranks.iter().map(|rank| {
            let mut rank = rank.clone();
            prepare(dtype, op, ranks.len(), &mut rank);
            rank
        });
        let mut all = prepared.reduce(|mut so_far, more| {
            combine(dtype, op, &mut so_far, &more);
            so_far
        });
        finish(dtype, op, ranks.len(), all.as_mut().unwrap());
        all.unwrap()
    }

    #[test]
    fn integers_wrap_and_their_average_is_cut() {
        let bytes =
            |values: &[i32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
        let ranks = [bytes(&[i32::MAX, -7, 5]), bytes(&[1, 2, 6])];
        assert_eq!(reduced(Dtype::I32, CommOp::Sum, &ranks), bytes(&[i32::MIN, -5, 11]));
        assert_eq!(reduced(Dtype::I32, CommOp::Prod, &ranks), bytes(&[i32::MAX, -14, 30]));
        assert_eq!(reduced(Dtype::I32, CommOp::Min, &ranks), bytes(&[1, -7, 5]));
        assert_eq!(reduced(Dtype::I32, CommOp::Max, &ranks), bytes(&[i32::MAX, 2, 6]));
        assert_eq!(reduced(Dtype::I32, CommOp::Avg, &ranks), bytes(&[i32::MIN / 2, -2, 5]));
        let thrice = reduced(Dtype::I32, CommOp::PremulSum(3.0), &ranks);
        assert_eq!(thrice[4..], bytes(&[-15, 33]));
    }

    #[test]
    fn narrow_floats_are_rounded_after_each_step_and_stay_finite() {
        for (dtype, largest) in [(Dtype::F8E4M3Fn, 448.0), (Dtype::F8E5M2, 57344.0)] {
            let bits = |value| saturated_bits(value, dtype);
            let sum = |values: &[f32]| {
                let ranks: Vec<Vec<u8>> = values.iter().map(|value| vec![bits(*value)]).collect();
                reduced(dtype, CommOp::Sum, &ranks)
            };
            // 16 + 1 lies between two numbers; the even one is 16, again and again.
            assert_eq!(sum(&[16.0, 1.0, 1.0, 1.0]), [bits(16.0)]);
            assert_eq!(sum(&[1.0, 1.0, 1.0, 16.0]), [bits(20.0)]);
            assert_eq!(sum(&[largest, largest]), [bits(largest)]);
            assert_eq!(sum(&[-largest, -largest]), [bits(-largest)]);
            assert!(f32::is_nan(narrow_value(sum(&[f32::NAN, 1.0])[0], dtype)));
            let ranks = [vec![bits(largest)], vec![bits(2.0)]];
            assert_eq!(reduced(dtype, CommOp::Prod, &ranks), [bits(largest)]);
            assert_eq!(reduced(dtype, CommOp::Avg, &ranks[..1]), [bits(largest)]);
        }
    }

    #[test]
    fn halves_are_rounded_after_each_step() {
        let bytes = |value: f32| f16_bits(value).to_le_bytes().to_vec();
        // 2048 + 1 is not a half; 2048 + 2 is.
        let ranks = [bytes(2048.0), bytes(1.0), bytes(1.0)];
        assert_eq!(reduced(Dtype::F16, CommOp::Sum, &ranks), bytes(2048.0));
        assert_eq!(reduced(Dtype::F16, CommOp::Avg, &ranks[..2]), bytes(1024.5));
    }
}
