//! Every operation with every type on both sides.

use sconce::element::{Dtype, DtypeKind, bf16_value, f16_value};
use sconce::pointwise::{PointwiseOp, Scalar};

use crate::cases::{Case, Side, TYPES, Words};

use PointwiseOp::*;

const UNARY: [PointwiseOp; 27] = [
    Cast, Neg, Abs, Sign, Exp, Log, Sqrt, Rsqrt, Reciprocal, Sin, Cos, Floor, Ceil, Round, Trunc,
    Tanh, Sigmoid, Relu, GeluErf, GeluTanh, Silu, Erf, LogicalNot, BitwiseNot, IsNan, IsFinite,
    Fill,
];

const BINARY: [PointwiseOp; 22] = [
    Add,
    Sub,
    Mul,
    Div,
    FloorDivide,
    TruncDivide,
    Remainder,
    Pow,
    Minimum,
    Maximum,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
];

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
fn is_rounded(op: PointwiseOp, compute: Dtype) -> bool {
    if op == Sign && compute.kind() == DtypeKind::Complex {
        return true;
    }
    !matches!(
        op,
        Cast | Fill
            | Neg
            | Sign
            | Floor
            | Ceil
            | Round
            | Trunc
            | Relu
            | LogicalNot
            | BitwiseNot
            | IsNan
            | IsFinite
            | Minimum
            | Maximum
            | Eq
            | Ne
            | Lt
            | Le
            | Gt
            | Ge
            | LogicalAnd
            | LogicalOr
            | LogicalXor
            | BitwiseAnd
            | BitwiseOr
            | BitwiseXor
            | Clamp
            | Where
    )
}

/// How many types each type meets in an operation of two inputs.
const PAIRS: usize = 4;
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

/// What types of inputs are promoted to, roughly as torch does: any choice will do here.
fn compute_for(op: PointwiseOp, types: &[Dtype], words: &mut Words) -> Dtype {
    let fractions = matches!(
        op,
        Div | Exp
            | Log
            | Sqrt
            | Rsqrt
            | Reciprocal
            | Sin
            | Cos
            | Tanh
            | Sigmoid
            | GeluErf
            | GeluTanh
            | Silu
            | Erf
    );
    let chosen = types[words.below(types.len())];
    let is_integer = chosen.significand_bits() == 0;
    if fractions && is_integer { Dtype::F32 } else { chosen }
}

fn case(op: PointwiseOp, types: &[Dtype], words: &mut Words) -> Case {
    let inputs = types.len() - 1;
    let n = [1, 5, 64, 1500][words.below(4)];
    let compute = match op {
        Fill => types[0],
        _ => compute_for(op, &types[1..], words),
    };
    let number = |words: &mut Words| match words.below(3) {
        0 => Scalar::Int(words.below(7) as i64 - 3),
        1 => Scalar::Float(words.below(64) as f64 / 8.0 - 4.0),
        _ => Scalar::Bool(words.below(2) == 1),
    };
    let side = |index: usize, words: &mut Words| {
        let seed = words.next();
        let is_number = op == Fill || inputs > 1 && index > 0 && words.below(4) == 0;
        if is_number {
            Err(number(words))
        } else {
            Ok(Side::new(types[index + 1], &[n], &[1], seed))
        }
    };
    let inputs = (0..inputs).map(|index| side(index, words)).collect();
    let output = Side::new(types[0], &[n], &[1], 0);
    let parameters = [Scalar::Int(words.below(3) as i64), Scalar::Int(0)];
    Case { op, compute, sizes: vec![n], output, inputs, parameters }
}

#[test]
fn operations_of_one_input_agree_for_all_pairs_of_types() {
    let mut words = Words(1);
    for op in UNARY {
        for from in TYPES {
            // All results of conversions, some of other operations.
            let all = matches!(op, Cast | Fill);
            let few = [from, Dtype::F32, Dtype::Bool, TYPES[words.below(TYPES.len())]];
            for to in if all { &TYPES[..] } else { &few[..] } {
                check(&mut case(op, &[*to, from], &mut words));
            }
        }
    }
}

#[test]
fn operations_of_two_inputs_agree_for_pairs_of_types() {
    let mut words = Words(2);
    for op in BINARY {
        for first in TYPES {
            for _ in 0..PAIRS {
                let second = TYPES[words.below(TYPES.len())];
                let to = [first, second, Dtype::Bool][words.below(3)];
                check(&mut case(op, &[to, first, second], &mut words));
            }
        }
    }
}

#[test]
fn operations_of_three_inputs_agree_for_all_types() {
    let mut words = Words(3);
    for first in TYPES {
        for _ in 0..4 {
            let any = |words: &mut Words| TYPES[words.below(TYPES.len())];
            let condition = [Dtype::Bool, Dtype::U8][words.below(2)];
            let second = any(&mut words);
            check(&mut case(Where, &[first, condition, first, second], &mut words));
            check(&mut case(Clamp, &[first, first, second, first], &mut words));
        }
    }
}

#[test]
fn sequences_agree() {
    for dtype in TYPES {
        for n in [1, 2, 7, 1024, 5000] {
            for op in [Range, Linspace] {
                let (whole, sides) = (dtype.significand_bits() == 0, [(2, 3), (-7, 1)]);
                let compute = if whole && op == Linspace { Dtype::F32 } else { dtype };
                for (first, second) in sides {
                    let mut case = Case {
                        op,
                        compute,
                        sizes: vec![n],
                        output: Side::new(dtype, &[n], &[1], 0),
                        inputs: Vec::new(),
                        parameters: [Scalar::Int(first), Scalar::Int(second)],
                    };
                    // Numbers at equal distances may be rounded to the integer below on one side.
                    if !whole || op == Range {
                        check(&mut case);
                    }
                }
            }
        }
    }
}

#[test]
fn layouts_agree() {
    let mut words = Words(4);
    for _ in 0..500 {
        let rank = words.below(6);
        let sizes: Vec<i64> = (0..rank)
            .map(|_| [1, 2, 3, 8, 16, 33][words.below(6)])
            .scan(4000, |left, size| {
                let size = if size > *left { 1 } else { size };
                *left /= size;
                Some(size)
            })
            .collect();
        let layout = |words: &mut Words, is_output: bool| {
            let mut order: Vec<usize> = (0..rank).collect();
            for index in (1..rank).rev().filter(|_| words.below(2) == 0).collect::<Vec<_>>() {
                order.swap(index, words.below(index + 1));
            }
            let (mut strides, mut next) = (vec![0; rank], [1, 1, 2][words.below(3)]);
            for axis in order.into_iter().rev() {
                strides[axis] = next;
                next *= sizes[axis] + [0, 0, 0, 1][words.below(4)];
                if !is_output && words.below(6) == 0 {
                    strides[axis] = 0;
                }
            }
            // A negative stride would leave the memory of a large operand.
            if rank > 0 && sizes[0] > 1 && strides[0].abs() < 8 && words.below(8) == 0 {
                strides[0] = -strides[0];
            }
            strides
        };
        let op = [Cast, Neg, Add, Maximum, Eq, Where][words.below(6)];
        let dtype = TYPES[words.below(8)];
        let other = [dtype, dtype, TYPES[words.below(16)]][words.below(3)];
        let count = match op {
            Cast | Neg => 1,
            Where => 3,
            _ => 2,
        };
        let inputs = (0..count)
            .map(|index| {
                let dtype = if index == 1 { other } else { dtype };
                let dtype = if op == Where && index == 0 { Dtype::Bool } else { dtype };
                let (strides, seed) = (layout(&mut words, false), words.next());
                Ok(Side::new(dtype, &sizes, &strides, seed))
            })
            .collect();
        let strides = layout(&mut words, true);
        let to = [dtype, other, Dtype::Bool][words.below(3)];
        let output = Side::new(to, &sizes, &strides, 0);
        let parameters = [Scalar::Int(1), Scalar::Int(0)];
        check(&mut Case { op, compute: dtype, sizes, output, inputs, parameters });
    }
}

/// Few floats take other kernels than many, which lie side by side here, or repeat a row.
#[test]
fn operations_on_many_floats_agree() {
    let mut words = Words(6);
    let floats = [Dtype::F32, Dtype::F16, Dtype::Bf16];
    let parameters = [Scalar::Int(2), Scalar::Int(0)];
    for (op, count) in UNARY.map(|op| (op, 1)).into_iter().chain(BINARY.map(|op| (op, 2))) {
        let dtype = floats[words.below(3)];
        for (sizes, strides) in [([1, 66_001], [1, 1]), ([3, 44_001], [0, 1])] {
            let inputs = (0..count).map(|index| {
                let strides = if index == 0 { strides } else { [sizes[1], 1] };
                Ok(Side::new(dtype, &sizes, &strides, words.next()))
            });
            let inputs = inputs.collect();
            let output = Side::new(dtype, &sizes, &[sizes[1], 1], 0);
            let sizes = sizes.to_vec();
            check(&mut Case { op, compute: dtype, sizes, output, inputs, parameters });
        }
    }
}

#[test]
fn conversions_with_other_neighbours_agree() {
    let mut words = Words(5);
    for from in TYPES {
        let to = [from, Dtype::F32, TYPES[words.below(TYPES.len())]][words.below(3)];
        for (n, m) in [(16, 16), (64, 32), (70, 33), (200, 100)] {
            let sizes = [3, m, n];
            let seed = words.next();
            let inputs = vec![Ok(Side::new(from, &sizes, &[n * m, 1, m], seed))];
            let output = Side::new(to, &sizes, &[(n + 1) * m, n + 1, 1], 0);
            let parameters = [Scalar::Int(1), Scalar::Int(0)];
            let sizes = sizes.to_vec();
            check(&mut Case { op: Cast, compute: from, sizes, output, inputs, parameters });
        }
    }
}
