//! Results for whole tensors against formulas written out for each type.

use sconce_base::element::Dtype;

use super::*;

/// Memory that begins at address 0.
pub(super) struct Bytes(pub(super) Vec<u8>);

impl ElementMemory for Bytes {
    type Failure = String;

    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), String> {
        let from = self.0.get(address as usize..address as usize + into.len());
        into.copy_from_slice(from.ok_or_else(|| format!("read of {address}"))?);
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), String> {
        let into = self.0.get_mut(address as usize..address as usize + from.len());
        into.ok_or_else(|| format!("write of {address}"))?.copy_from_slice(from);
        Ok(())
    }
}

const OUT: u64 = 1 << 12;

/// The bytes of the one result of elements that lie side by side.
fn of_all(op: ReduceOp, [input, compute, output]: [Dtype; 3], elements: &[u8]) -> Vec<u8> {
    let mut memory = Bytes(vec![0; OUT as usize + 16]);
    memory.0[..elements.len()].copy_from_slice(elements);
    let size = (elements.len() / input.bytes()) as i64;
    let call = ReduceCall {
        op,
        input: ElementOperand { address: 0, dtype: input },
        compute,
        output: ElementOperand { address: OUT, dtype: output },
        kept: &[],
        reduced: &[ReducedAxis { size, input_stride: 1 }],
    };
    reduce(&call, &mut memory).unwrap();
    memory.0[OUT as usize..][..output.bytes()].to_vec()
}

macro_rules! bytes {
    ($($value:expr),*) => { [$(($value).to_le_bytes().as_slice()),*].concat() };
}

#[test]
fn sums_and_products_accumulate_in_the_wide_type_and_wrap() {
    let i64_of = |op, dtype, elements: &[u8]| {
        i64::from_le_bytes(
            of_all(op, [dtype, Dtype::I64, Dtype::I64], elements).try_into().unwrap(),
        )
    };
    assert_eq!(i64_of(ReduceOp::Sum, Dtype::I8, &bytes!(127_i8, 127_i8, -1_i8)), 253);
    assert_eq!(i64_of(ReduceOp::Sum, Dtype::U8, &bytes!(255_u8, 255_u8)), 510);
    assert_eq!(i64_of(ReduceOp::Sum, Dtype::Bool, &[1, 0, 1, 1]), 3);
    assert_eq!(i64_of(ReduceOp::Prod, Dtype::I32, &bytes!(1_i32 << 20, 1_i32 << 20)), 1 << 40);
    assert_eq!(i64_of(ReduceOp::Sum, Dtype::I64, &bytes!(i64::MAX, 1_i64)), i64::MIN);
    assert_eq!(i64_of(ReduceOp::Prod, Dtype::I64, &[]), 1);
    // Sums of halves are exact where halves are not: 2048 + 1 + 1.
    let halves = bytes!(0x6800_u16, 0x3c00_u16, 0x3c00_u16);
    assert_eq!(of_all(ReduceOp::Sum, [Dtype::F16; 3], &halves), bytes!(0x6801_u16));
    // The conversion comes first: 2049 is no half.
    let singles = bytes!(2049.0_f32, 1.0_f32);
    let types = [Dtype::F32, Dtype::F16, Dtype::F32];
    assert_eq!(of_all(ReduceOp::Sum, types, &singles), bytes!(2049.0_f32));
    let complex = bytes!(1.0_f32, 2.0_f32, 3.0_f32, -1.0_f32);
    assert_eq!(of_all(ReduceOp::Prod, [Dtype::C64; 3], &complex), bytes!(5.0_f32, 5.0_f32));
    assert_eq!(of_all(ReduceOp::Mean, [Dtype::C64; 3], &complex), bytes!(2.0_f32, 0.5_f32));
    // 41 times the reciprocal of 41, rounded to a single, is not 1.
    let ones: Vec<u8> = std::iter::repeat_n(bytes!(1.0_f32, 0.0_f32), 41).flatten().collect();
    let below_one = f32::from_bits(1.0_f32.to_bits() - 1);
    assert_eq!(of_all(ReduceOp::Mean, [Dtype::C64; 3], &ones), bytes!(below_one, 0.0_f32));
    let halves = bytes!(0x3c00_u16, 0x4000_u16, 0x4200_u16, 0xbc00_u16);
    assert_eq!(of_all(ReduceOp::Sum, [Dtype::C32; 3], &halves), bytes!(0x4400_u16, 0x3c00_u16));
    assert_eq!(of_all(ReduceOp::Prod, [Dtype::C32; 3], &halves), bytes!(0x4500_u16, 0x4500_u16));
    let mean = [Dtype::I16, Dtype::F64, Dtype::F64];
    assert_eq!(of_all(ReduceOp::Mean, mean, &bytes!(1_i16, 2_i16)), bytes!(1.5_f64));
    let nothing = of_all(ReduceOp::Mean, [Dtype::F32; 3], &[]);
    assert!(f32::from_le_bytes(nothing.try_into().unwrap()).is_nan());
}

#[test]
fn the_largest_and_the_smallest_are_the_first_ones_and_nan_beats_all() {
    let index = |op, dtype, elements: &[u8]| {
        i64::from_le_bytes(of_all(op, [dtype, dtype, Dtype::I64], elements).try_into().unwrap())
    };
    let floats = bytes!(1.0_f32, 7.0_f32, 7.0_f32, -3.0_f32, -3.0_f32);
    assert_eq!(index(ReduceOp::Argmax, Dtype::F32, &floats), 1);
    assert_eq!(index(ReduceOp::Argmin, Dtype::F32, &floats), 3);
    let nans = bytes!(1.0_f64, f64::NAN, f64::INFINITY, f64::NAN);
    for op in [ReduceOp::Argmax, ReduceOp::Argmin] {
        assert_eq!(index(op, Dtype::F64, &nans), 1);
    }
    for op in [ReduceOp::Amax, ReduceOp::Amin] {
        let found = of_all(op, [Dtype::F64; 3], &nans);
        assert!(f64::from_le_bytes(found.try_into().unwrap()).is_nan());
    }
    // Elements that equal the value of no elements.
    assert_eq!(index(ReduceOp::Argmax, Dtype::I8, &bytes!(-128_i8, -128_i8)), 0);
    let infinite = bytes!(f32::NEG_INFINITY, f32::NEG_INFINITY);
    assert_eq!(index(ReduceOp::Argmax, Dtype::F32, &infinite), 0);
    let large = bytes!(5_u64, u64::MAX, 7_u64);
    assert_eq!(index(ReduceOp::Argmax, Dtype::U64, &large), 1);
    assert_eq!(of_all(ReduceOp::Amin, [Dtype::U64; 3], &large), bytes!(5_u64));
    assert_eq!(of_all(ReduceOp::Amax, [Dtype::I16; 3], &[]), bytes!(i16::MIN));
    assert_eq!(of_all(ReduceOp::Amin, [Dtype::U8; 3], &[]), [255]);
}

#[test]
fn truth_is_looked_at_in_the_type_of_the_input() {
    let of = |op, dtype, elements: &[u8]| of_all(op, [dtype, dtype, Dtype::Bool], elements)[0] == 1;
    assert!(of(ReduceOp::All, Dtype::F32, &bytes!(f32::NAN, 1e-40_f32)));
    assert!(!of(ReduceOp::Any, Dtype::F16, &bytes!(0x8000_u16, 0_u16)));
    assert!(of(ReduceOp::All, Dtype::C64, &bytes!(0.0_f32, 1.0_f32, 2.0_f32, 0.0_f32)));
    assert!(!of(ReduceOp::All, Dtype::I64, &bytes!(1_i64 << 40, 0_i64)));
    assert!(of(ReduceOp::Any, Dtype::I64, &bytes!(1_i64 << 40, 0_i64)));
    assert!(of(ReduceOp::All, Dtype::U8, &[]) && !of(ReduceOp::Any, Dtype::U8, &[]));
}

#[test]
fn axes_are_walked_in_row_major_order_whatever_their_strides() {
    // Element (a, b, c) of 2 by 3 by 4 is 100 a + 10 b + c, and lies transposed with room between.
    let (sizes, strides) = ([2_i64, 3, 4], [1_i64, 40, 3]);
    let mut memory = Bytes(vec![0; OUT as usize + 64]);
    for (a, b, c) in (0..24).map(|i| (i / 12, i / 4 % 3, i % 4)) {
        let at = (a * strides[0] + b * strides[1] + c * strides[2]) as usize * 4;
        let value = (100 * a + 10 * b + c) as i32;
        memory.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    let reduced = |axis: usize| ReducedAxis { size: sizes[axis], input_stride: strides[axis] };
    let kept = |axis: usize, output_stride| KeptAxis {
        size: sizes[axis],
        input_stride: strides[axis],
        output_stride,
    };
    let mut run = |op, kept: &[KeptAxis], reduced: &[ReducedAxis], results: usize| -> Vec<i64> {
        let call = ReduceCall {
            op,
            input: ElementOperand { address: 0, dtype: Dtype::I32 },
            compute: Dtype::I32,
            output: ElementOperand { address: OUT, dtype: Dtype::I64 },
            kept,
            reduced,
        };
        super::reduce(&call, &mut memory).unwrap();
        let words = memory.0[OUT as usize..].chunks_exact(8).take(results);
        words.map(|word| i64::from_le_bytes(word.try_into().unwrap())).collect()
    };
    assert_eq!(run(ReduceOp::Argmax, &[], &[0, 1, 2].map(reduced), 1), [23]);
    assert_eq!(run(ReduceOp::Sum, &[kept(1, 1)], &[reduced(0), reduced(2)], 3), [412, 492, 572]);
    // The same with the results the other way round.
    let backwards = [KeptAxis { output_stride: -1, ..kept(1, 0) }];
    let at_end = |op| ReduceCall {
        op,
        input: ElementOperand { address: 0, dtype: Dtype::I32 },
        compute: Dtype::I32,
        output: ElementOperand { address: OUT + 16, dtype: Dtype::I64 },
        kept: &backwards,
        reduced: &[],
    };
    super::reduce(&at_end(ReduceOp::Sum), &mut memory).unwrap();
    let last = memory.0[OUT as usize..][..8].try_into().unwrap();
    assert_eq!(i64::from_le_bytes(last), 20);
    // A repeated element, and an axis of nothing.
    let repeated = [ReducedAxis { size: 5, input_stride: 0 }];
    let call = ReduceCall { reduced: &repeated, kept: &[], ..at_end(ReduceOp::Prod) };
    let call = ReduceCall { input: call.input.at(strides[2] * 2), ..call };
    super::reduce(&call, &mut memory).unwrap();
    let product = memory.0[OUT as usize + 16..][..8].try_into().unwrap();
    assert_eq!(i64::from_le_bytes(product), 32);
    let nothing = [KeptAxis { size: 0, input_stride: 1, output_stride: 1 }];
    let beyond = ElementOperand { address: u64::MAX, dtype: Dtype::I64 };
    let call = ReduceCall { output: beyond, kept: &nothing, ..call };
    super::reduce(&call, &mut memory).unwrap();
}

/// The lines of a matrix of 2 by 3 singles, along the rows or the columns.
fn of_matrix(op: LineOp, along_rows: bool, matrix: [f32; 6]) -> [f32; 6] {
    let mut memory = Bytes(vec![0; OUT as usize + 24]);
    memory.0[..24]
        .copy_from_slice(&bytes!(matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5]));
    let (across, along) = if along_rows { ((2, 3), (3, 1)) } else { ((3, 1), (2, 3)) };
    let call = LineCall {
        op,
        input: ElementOperand { address: 0, dtype: Dtype::F32 },
        compute: Dtype::F32,
        output: ElementOperand { address: OUT, dtype: Dtype::F32 },
        lines: &[KeptAxis { size: across.0, input_stride: across.1, output_stride: across.1 }],
        length: along.0,
        input_stride: along.1,
        output_stride: along.1,
    };
    lines(&call, &mut memory).unwrap();
    std::array::from_fn(|i| {
        f32::from_le_bytes(memory.0[OUT as usize + 4 * i..][..4].try_into().unwrap())
    })
}

#[test]
fn lines_run_along_either_axis() {
    let matrix = [1.0, 2.0, 3.0, 10.0, 20.0, 30.0];
    assert_eq!(of_matrix(LineOp::Cumsum, true, matrix), [1.0, 3.0, 6.0, 10.0, 30.0, 60.0]);
    assert_eq!(of_matrix(LineOp::Cumsum, false, matrix), [1.0, 2.0, 3.0, 11.0, 22.0, 33.0]);
    assert_eq!(of_matrix(LineOp::Cumprod, false, matrix), [1.0, 2.0, 3.0, 10.0, 40.0, 90.0]);
}

#[test]
fn softmax_subtracts_the_largest_and_keeps_nan() {
    let large = [1000.0, 1000.0, f32::NEG_INFINITY, 0.0, 0.0, 0.0];
    let third = 1.0 / 3.0;
    let expected = [0.5, 0.5, 0.0, third, third, third];
    assert_eq!(of_matrix(LineOp::Softmax, true, large), expected);
    let logarithms = of_matrix(LineOp::LogSoftmax, true, large);
    for (found, expected) in logarithms.into_iter().zip(expected) {
        assert!(found == expected.ln() || (found - expected.ln()).abs() < 1e-6, "{found}");
    }
    let bad = [f32::NAN, 1.0, 2.0, f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
    assert!(of_matrix(LineOp::Softmax, true, bad).into_iter().all(f32::is_nan));
}
