//! What results may differ in between the host and a device.

use sconce_base::element::{Dtype, DtypeKind, bf16_value, f16_value};
use sconce_compute::pointwise::{ElementOperation, ResultType};

use crate::cases::Case;

use ElementOperation::*;

/// The numbers of an element's parts. Of a narrow float the code is the number, unless it is NaN.
fn parts(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    let real = dtype.real().0;
    let narrow = |code: u8, is_nan: bool| if is_nan { f64::NAN } else { f64::from(code) };
    bytes
        .chunks_exact(real.bytes())
        .map(|part| match real {
            Dtype::F64 => f64::from_le_bytes(part.try_into().unwrap()),
            Dtype::F32 => f64::from(f32::from_le_bytes(part.try_into().unwrap())),
            Dtype::F16 => f64::from(f16_value(u16::from_le_bytes(part.try_into().unwrap()))),
            Dtype::Bf16 => f64::from(bf16_value(u16::from_le_bytes(part.try_into().unwrap()))),
            Dtype::F8E4M3Fn => narrow(part[0], part[0] & 0x7f == 0x7f),
            Dtype::F8E5M2 => narrow(part[0], part[0] & 0x7f > 0x7c),
            Dtype::F8E8M0Fnu => narrow(part[0], part[0] == 0xff),
            _ => narrow(part[0], part[0] == 0x80),
        })
        .collect()
}

/// Whether an operation's results may differ between processors. The sign of a complex number is a quotient.
fn is_rounded(op: ElementOperation, compute: Dtype) -> bool {
    if op == Sign && compute.kind() == DtypeKind::Complex {
        return true;
    }
    let is_function = op.result() == ResultType::Fraction || !op.takes(Dtype::I32);
    let is_arithmetic = matches!(
        op,
        Abs | Add | Sub | Mul | FloorDivide | TruncDivide | Remainder | Pow | Range | Linspace
    );
    is_function || is_arithmetic
}

/// How far results may be apart, in the last digits of the type.
const DIGITS: f64 = 16.0;

/// How far the results of an element may be apart.
fn tolerance(case: &Case, parts: &[f64]) -> f64 {
    let dtype = case.output.dtype;
    if !is_rounded(case.op, case.compute) {
        return 0.0;
    }
    // Codes of narrow floats are neighbours where their values are.
    if dtype.bytes() == 1 {
        return 1.0;
    }
    let digits = case.compute.significand_bits().min(dtype.significand_bits()).max(2);
    let least = match case.op {
        // A sequence through 0 is as exact as its ends.
        Range | Linspace => 8.0,
        // Of negative numbers the host's is a difference of numbers near 1, which kernels of 16 bits do not form.
        GeluErf | GeluTanh => 1e-3,
        // Numbers below the smallest normal one have fewer digits.
        _ if digits <= 24 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE * 1e20,
    };
    let size = parts.iter().fold(least, |size, part| size.max(part.abs()));
    2.0_f64.powi(-(digits as i32)) * DIGITS * size
}

/// Whether an integer type has a number's whole part. What a number beyond becomes is undefined in torch. Here it is
/// what a GPU converts it to, which `Cast` compares exactly; but the lowest bits of such a number are those of its
/// rounding, which may differ between processors.
fn has_whole_part(dtype: Dtype, value: f64) -> bool {
    let bits = 8 * dtype.bytes() as i32;
    let (least, beyond) = match dtype.kind() {
        DtypeKind::SignedInteger => (-(2.0_f64.powi(bits - 1)), 2.0_f64.powi(bits - 1)),
        _ => (0.0, 2.0_f64.powi(bits)),
    };
    (least..beyond).contains(&value.trunc())
}

/// Whether integers are equal, or one apart where a function's value is rounded: one that is all but an integer is cut
/// to one. `values` are the function's values.
fn are_neighbours(dtype: Dtype, values: &[f64], host: &[u8], device: &[u8]) -> bool {
    let bytes = dtype.bytes();
    let number = |element: &[u8]| {
        let mut wide = [0; 8];
        wide[8 - bytes..].copy_from_slice(element);
        i64::from_le_bytes(wide)
    };
    let apart = 1_i64 << (8 * (8 - bytes));
    let mut pairs = values.iter().zip(host.chunks(bytes).zip(device.chunks(bytes)));
    pairs.all(|(value, (host, device))| {
        !has_whole_part(dtype, *value)
            || [0, apart, -apart].contains(&number(host).wrapping_sub(number(device)))
    })
}

/// Compares both sides: bits, where functions are computed numbers. A NaN is as good as another.
pub(crate) fn check(case: &mut Case) {
    let Some([host, device]) = case.results() else { return };
    if host == device {
        return;
    }
    let (dtype, bytes) = (case.output.dtype, case.output.dtype.bytes());
    if !matches!(dtype.kind(), DtypeKind::Float | DtypeKind::Complex) {
        // The arithmetic of integers, and conversions, are exact.
        let may_differ = dtype != Dtype::Bool
            && is_rounded(case.op, case.compute)
            && case.compute.significand_bits() != 0;
        let agree = may_differ && {
            let (values, written) = (case.unconverted(), case.written());
            let [host_written, device_written] =
                [&host, &device].map(|side| &side[written.clone()]);
            host[..written.start] == device[..written.start]
                && host[written.end..] == device[written.end..]
                && are_neighbours(dtype, &values, host_written, device_written)
        };
        assert!(agree, "{}", case.describe());
        return;
    }
    for (at, (host, device)) in host.chunks(bytes).zip(device.chunks(bytes)).enumerate() {
        if host == device {
            continue;
        }
        let [host, device] = [host, device].map(|element| parts(dtype, element));
        let allowed = tolerance(case, &host);
        for (one, other) in host.iter().zip(&device) {
            let is_near =
                one == other || (one - other).abs() <= allowed || one.is_nan() && other.is_nan();
            assert!(is_near, "{}: element {at}: {host:?} {device:?}", case.describe());
        }
    }
}

#[test]
fn integers_are_neighbours_where_their_type_has_them() {
    let words = |words: [i16; 4]| words.map(i16::to_le_bytes).concat();
    let values = [7.0, -32768.5, 32768.0, f64::NAN];
    let agree =
        |device| are_neighbours(Dtype::I16, &values, &words([7, -32768, -1, 0]), &words(device));
    assert!(agree([7, -32768, -1, 0]));
    assert!(agree([6, 32767, 99, 99]));
    assert!(!agree([5, -32768, -1, 0]));
    assert!(!agree([7, -32766, -1, 0]));
    for (value, has) in [(-0.9, true), (-1.0, false), (255.9, true), (256.0, false)] {
        assert_eq!(has_whole_part(Dtype::U8, value), has, "{value}");
    }
}
