//! Elements as real or whole numbers of 64 bits, many at a time. [`Number`] stands for any of them, and has to be asked
//! which it is for each element.

use sconce_base::element::{Dtype, DtypeKind, bf16_bits, bf16_value, f16_bits, f16_value};

use super::call::is_known;
use super::number::Number;

/// A kind of numbers of which all elements of a call are, as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Real,
    Whole,
}

impl ValueKind {
    /// The kind of the elements of a type.
    pub(super) fn of(dtype: Dtype) -> Option<ValueKind> {
        match dtype.kind() {
            DtypeKind::Float if is_known(dtype) => Some(ValueKind::Real),
            DtypeKind::SignedInteger | DtypeKind::UnsignedInteger | DtypeKind::Bool => {
                (dtype != Dtype::U64).then_some(ValueKind::Whole)
            }
            _ => None,
        }
    }

    /// The kind of elements that conversion to another type leaves as they are.
    pub(super) fn of_unchanged(dtype: Dtype, compute: Dtype) -> Option<ValueKind> {
        let is_wider = match compute {
            Dtype::F64 => dtype.kind() == DtypeKind::Float,
            Dtype::F32 => matches!(dtype, Dtype::F16 | Dtype::Bf16),
            Dtype::I64 => true,
            _ => false,
        };
        let (kind, other) = (ValueKind::of(dtype), ValueKind::of(compute));
        kind.filter(|_| kind == other && (dtype == compute || is_wider))
    }
}

/// A number of 64 bits.
pub(super) trait FoldValue: Copy + Default + PartialOrd + Send + Sync {
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn is_nan(self) -> bool;
    fn is_nonzero(self) -> bool;
    fn number(self) -> Number;
    /// Of a number that is of this kind.
    fn of(number: Number) -> Self;
    /// The numbers in the bytes of elements of this kind.
    fn load_all(dtype: Dtype, bytes: &[u8], values: &mut [Self]);
    /// Writes numbers, converted to the type, into the bytes of elements.
    fn store_all(values: &[Self], dtype: Dtype, bytes: &mut [u8]);

    /// Whether the number is to be preferred to another one, as [`Number::beats`].
    #[inline(always)]
    fn beats(self, best: Self, smallest: bool) -> bool {
        let further = if smallest { self < best } else { self > best };
        !best.is_nan() && (further || self.is_nan())
    }
}

#[inline(always)]
fn load<V, const BYTES: usize>(bytes: &[u8], values: &mut [V], value: impl Fn([u8; BYTES]) -> V) {
    for (into, bytes) in values.iter_mut().zip(bytes.as_chunks::<BYTES>().0) {
        *into = value(*bytes);
    }
}

#[inline(always)]
fn store<V: Copy, const BYTES: usize>(
    values: &[V],
    bytes: &mut [u8],
    element: impl Fn(V) -> [u8; BYTES],
) {
    for (value, into) in values.iter().zip(bytes.as_chunks_mut::<BYTES>().0) {
        *into = element(*value);
    }
}

/// Stores numbers one by one.
fn store_any<V: FoldValue>(values: &[V], dtype: Dtype, bytes: &mut [u8]) {
    for (value, into) in values.iter().zip(bytes.chunks_exact_mut(dtype.bytes())) {
        value.number().store(dtype, into);
    }
}

impl FoldValue for f64 {
    const ONE: f64 = 1.0;
    #[inline(always)]
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    #[inline(always)]
    fn times(self, other: f64) -> f64 {
        self * other
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
    #[inline(always)]
    fn is_nonzero(self) -> bool {
        self != 0.0
    }
    fn number(self) -> Number {
        Number::Real(self)
    }
    fn of(number: Number) -> f64 {
        number.real()
    }
    // One copy of the loops, not one for each that calls them.
    #[inline(never)]
    fn load_all(dtype: Dtype, bytes: &[u8], values: &mut [f64]) {
        match dtype {
            Dtype::F32 => load(bytes, values, |bytes| f64::from(f32::from_le_bytes(bytes))),
            Dtype::F16 => {
                load(bytes, values, |bytes| f64::from(f16_value(u16::from_le_bytes(bytes))));
            }
            Dtype::Bf16 => {
                load(bytes, values, |bytes| f64::from(bf16_value(u16::from_le_bytes(bytes))));
            }
            _ => load(bytes, values, f64::from_le_bytes),
        }
    }
    #[inline(never)]
    fn store_all(values: &[f64], dtype: Dtype, bytes: &mut [u8]) {
        match dtype {
            Dtype::F64 => store(values, bytes, f64::to_le_bytes),
            Dtype::F32 => store(values, bytes, |value| (value as f32).to_le_bytes()),
            Dtype::F16 => store(values, bytes, |value| f16_bits(value as f32).to_le_bytes()),
            Dtype::Bf16 => store(values, bytes, |value| bf16_bits(value as f32).to_le_bytes()),
            other => store_any(values, other, bytes),
        }
    }
}

impl FoldValue for i64 {
    const ONE: i64 = 1;
    #[inline(always)]
    fn plus(self, other: i64) -> i64 {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn times(self, other: i64) -> i64 {
        self.wrapping_mul(other)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn is_nonzero(self) -> bool {
        self != 0
    }
    fn number(self) -> Number {
        Number::Whole(self)
    }
    fn of(number: Number) -> i64 {
        match number {
            Number::Whole(value) => value,
            other => other.real() as i64,
        }
    }
    #[inline(never)]
    fn load_all(dtype: Dtype, bytes: &[u8], values: &mut [i64]) {
        match dtype {
            Dtype::I8 => load(bytes, values, |bytes| i64::from(i8::from_le_bytes(bytes))),
            Dtype::I16 => load(bytes, values, |bytes| i64::from(i16::from_le_bytes(bytes))),
            Dtype::I32 => load(bytes, values, |bytes| i64::from(i32::from_le_bytes(bytes))),
            Dtype::U8 => load(bytes, values, |[byte]: [u8; 1]| i64::from(byte)),
            Dtype::U16 => load(bytes, values, |bytes| i64::from(u16::from_le_bytes(bytes))),
            Dtype::U32 => load(bytes, values, |bytes| i64::from(u32::from_le_bytes(bytes))),
            Dtype::Bool => load(bytes, values, |[byte]: [u8; 1]| i64::from(byte != 0)),
            _ => load(bytes, values, i64::from_le_bytes),
        }
    }
    #[inline(never)]
    fn store_all(values: &[i64], dtype: Dtype, bytes: &mut [u8]) {
        match dtype {
            Dtype::I64 => store(values, bytes, i64::to_le_bytes),
            other => store_any(values, other, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values and their elements are those of single numbers.
    fn agrees<V: FoldValue + std::fmt::Debug>(dtype: Dtype) {
        let width = dtype.bytes();
        let bytes: Vec<u8> = (0..width * 300).map(|at| (at * 89 + at / 7) as u8).collect();
        let mut values = vec![V::default(); 300];
        V::load_all(dtype, &bytes, &mut values);
        for (value, bytes) in values.iter().zip(bytes.chunks_exact(width)) {
            let (number, single) = (value.number(), Number::load(dtype, bytes));
            assert!(number == single || value.is_nan() && single.real().is_nan(), "{dtype:?}");
        }
        for to in Dtype::ALL.into_iter().filter(|to| is_known(*to)) {
            let (mut all, mut single) = (vec![0; to.bytes() * 300], vec![0; to.bytes()]);
            V::store_all(&values, to, &mut all);
            for (value, bytes) in values.iter().zip(all.chunks_exact(to.bytes())) {
                value.number().store(to, &mut single);
                assert!(single == bytes || value.is_nan(), "{value:?} to {to:?}");
            }
        }
    }

    #[test]
    fn many_elements_are_read_and_written_as_single_ones() {
        for dtype in Dtype::ALL {
            match ValueKind::of(dtype) {
                Some(ValueKind::Real) => agrees::<f64>(dtype),
                Some(ValueKind::Whole) => agrees::<i64>(dtype),
                None => {}
            }
        }
    }

    #[test]
    fn elements_stay_as_they_are_in_wider_types_alone() {
        use Dtype::{Bf16, Bool, C64, F16, F32, F64, I32, I64, U64};
        for (dtype, compute, kind) in [
            (F32, F32, Some(ValueKind::Real)),
            (F16, F32, Some(ValueKind::Real)),
            (F32, F64, Some(ValueKind::Real)),
            (Bool, I64, Some(ValueKind::Whole)),
            (I32, I32, Some(ValueKind::Whole)),
            (F64, F32, None),
            (F16, Bf16, None),
            (I64, I32, None),
            (I64, F64, None),
            (U64, U64, None),
            (U64, I64, None),
            (C64, C64, None),
            (Dtype::F8E5M2, F32, None),
        ] {
            assert_eq!(ValueKind::of_unchanged(dtype, compute), kind, "{dtype:?} to {compute:?}");
        }
    }
}
