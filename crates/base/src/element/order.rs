//! The order of values in a sort: the bits of an element as an unsigned number that grows with the value.
//!
//! The order is torch's: a NaN is larger than every number, all NaNs are equal, and so are both zeros.

use super::dtype::{Dtype, DtypeKind};

/// How the elements of a type are turned into keys, ascending or descending. The kernels of
/// `kernels/sort_*.cu` calculate the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyOrder {
    /// Bytes of an element and of its key.
    pub bytes: usize,
    /// What is exclusive-ored to the bits of an integer, and to the ascending key of a float.
    pub mask: u64,
    /// The bits of the positive infinity of a float; 0 for integers.
    pub infinity: u64,
}

impl KeyOrder {
    /// The order of a type; none for types without one, which are complex numbers and floats of 8 bits
    /// and less.
    pub fn of(dtype: Dtype, descending: bool) -> Option<KeyOrder> {
        let (_, parts) = dtype.real();
        if parts != 1 {
            return None;
        }
        let bytes = dtype.bytes();
        let all = u64::MAX >> (64 - 8 * bytes);
        let sign = 1 << (8 * bytes - 1);
        let flip = if descending { all } else { 0 };
        let infinity = match dtype {
            Dtype::F16 => 0x7c00,
            Dtype::Bf16 => 0x7f80,
            Dtype::F32 => u64::from(f32::INFINITY.to_bits()),
            Dtype::F64 => f64::INFINITY.to_bits(),
            _ => 0,
        };
        let mask = match dtype.kind() {
            DtypeKind::SignedInteger => sign ^ flip,
            DtypeKind::UnsignedInteger | DtypeKind::Bool => flip,
            DtypeKind::Float if infinity != 0 => flip,
            DtypeKind::Float | DtypeKind::Complex => return None,
        };
        Some(KeyOrder { bytes, mask, infinity })
    }

    /// The key of an element, given its bits. Keys have as many bits as elements.
    #[inline]
    pub fn key(&self, bits: u64) -> u64 {
        if self.infinity == 0 {
            return bits ^ self.mask;
        }
        let all = u64::MAX >> (64 - 8 * self.bytes);
        let sign = 1 << (8 * self.bytes - 1);
        let size = bits & !sign;
        let ascending = if size > self.infinity {
            all
        } else if size == 0 || bits & sign == 0 {
            size | sign
        } else {
            bits ^ all
        };
        ascending ^ self.mask
    }

    /// The places of the elements of a line in sorted order. Equal elements keep their order.
    pub fn sort(&self, line: &[u64]) -> Vec<u32> {
        let mut places: Vec<u32> = (0..line.len() as u32).collect();
        places.sort_by_cached_key(|place| self.key(line[*place as usize]));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{bf16_value, f16_value};
    use std::cmp::Ordering;

    /// The order of two floats, as torch has it.
    fn floats(a: f64, b: f64) -> Ordering {
        a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
    }

    fn check(dtype: Dtype, bits: &[u64], compare: impl Fn(u64, u64) -> Ordering) {
        let [up, down] = [false, true].map(|down| KeyOrder::of(dtype, down).unwrap());
        for a in bits {
            for b in bits {
                let expected = compare(*a, *b);
                assert_eq!(up.key(*a).cmp(&up.key(*b)), expected, "{dtype:?} {a:#x} {b:#x}");
                assert_eq!(down.key(*b).cmp(&down.key(*a)), expected, "{dtype:?} {a:#x} {b:#x}");
                let width = 8 * dtype.bytes() as u32;
                assert!(width == 64 || (up.key(*a) | down.key(*a)) >> width == 0, "{dtype:?}");
            }
        }
    }

    #[test]
    fn keys_are_in_the_order_of_the_values() {
        let words: Vec<u64> = (0..64)
            .flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, !(1 << bit), u64::MAX << bit])
            .collect();
        let cut = |bits: u32| words.iter().map(|word| word << (64 - bits) >> (64 - bits)).collect();
        let (bytes, halves, singles): (Vec<u64>, Vec<u64>, Vec<u64>) = (cut(8), cut(16), cut(32));
        check(Dtype::Bool, &[0, 1], |a, b| a.cmp(&b));
        check(Dtype::U8, &bytes, |a, b| a.cmp(&b));
        check(Dtype::U16, &halves, |a, b| a.cmp(&b));
        check(Dtype::U32, &singles, |a, b| a.cmp(&b));
        check(Dtype::U64, &words, |a, b| a.cmp(&b));
        check(Dtype::I8, &bytes, |a, b| (a as i8).cmp(&(b as i8)));
        check(Dtype::I16, &halves, |a, b| (a as i16).cmp(&(b as i16)));
        check(Dtype::I32, &singles, |a, b| (a as i32).cmp(&(b as i32)));
        check(Dtype::I64, &words, |a, b| (a as i64).cmp(&(b as i64)));
        let half = |bits| f64::from(f16_value(bits as u16));
        let brain = |bits| f64::from(bf16_value(bits as u16));
        let single = |bits| f64::from(f32::from_bits(bits as u32));
        let f16: Vec<u64> = [0x7c00, 0xfc00, 0x7c01, 0xfe00].into_iter().chain(halves).collect();
        check(Dtype::F16, &f16, |a, b| floats(half(a), half(b)));
        let bf16: Vec<u64> = [0x7f80, 0xff80, 0x7f81, 0xffc0].into_iter().chain(f16).collect();
        check(Dtype::Bf16, &bf16, |a, b| floats(brain(a), brain(b)));
        let f32: Vec<u64> = bf16.iter().map(|bits| bits << 16).chain(singles).collect();
        check(Dtype::F32, &f32, |a, b| floats(single(a), single(b)));
        let f64: Vec<u64> =
            f32.iter().map(|bits| single(*bits).to_bits()).chain(words.clone()).collect();
        check(Dtype::F64, &f64, |a, b| floats(f64::from_bits(a), f64::from_bits(b)));
    }

    #[test]
    fn types_that_torch_does_not_sort_have_no_order() {
        let without: Vec<_> =
            Dtype::ALL.into_iter().filter(|dtype| KeyOrder::of(*dtype, false).is_none()).collect();
        assert_eq!(without.len(), 3 + 6);
        assert!(without.iter().all(|dtype| dtype.real().1 == 2 || dtype.bytes() == 1));
    }

    #[test]
    fn equal_elements_keep_their_order_in_both_directions() {
        let line = [-0.0_f32, f32::NAN, 0.0, -f32::NAN, 1.0, -0.0].map(|v| u64::from(v.to_bits()));
        assert_eq!(KeyOrder::of(Dtype::F32, false).unwrap().sort(&line), [0, 2, 5, 4, 1, 3]);
        assert_eq!(KeyOrder::of(Dtype::F32, true).unwrap().sort(&line), [1, 3, 4, 0, 2, 5]);
    }
}
