//! Reductions of random shapes and types, and of sizes that take every kind of kernel.

use sconce_base::element::Dtype;
use sconce_compute::reduction::{
    ElementOperand, KeptAxis, ReduceCall, ReduceOp, ReducedAxis, queue_reduce, reduce_on_host,
};

use testkit::twin::{Twin, runtime, stream};

/// Numbers that are not random enough for anything else.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A small whole number, or now and then a NaN, in the bytes of an element.
pub(crate) fn element(numbers: &mut Numbers, dtype: Dtype, into: &mut Vec<u8>) {
    let value = numbers.below(19) as i64 - 9;
    let nan = numbers.below(4000) == 0;
    let real = if nan { f64::NAN } else { value as f64 };
    match dtype {
        Dtype::F32 => into.extend((real as f32).to_le_bytes()),
        Dtype::F64 => into.extend(real.to_le_bytes()),
        Dtype::F16 => into.extend(sconce_base::element::f16_bits(real as f32).to_le_bytes()),
        Dtype::Bf16 => into.extend(sconce_base::element::bf16_bits(real as f32).to_le_bytes()),
        Dtype::C32 => {
            into.extend(sconce_base::element::f16_bits(real as f32).to_le_bytes());
            into.extend(sconce_base::element::f16_bits(1.0).to_le_bytes());
        }
        Dtype::C64 => {
            into.extend((real as f32).to_le_bytes());
            into.extend(1_f32.to_le_bytes());
        }
        Dtype::C128 => {
            into.extend(real.to_le_bytes());
            into.extend(1_f64.to_le_bytes());
        }
        Dtype::Bool => into.push(u8::from(value != 0)),
        _ => into.extend(&value.to_le_bytes()[..dtype.bytes()]),
    }
}

pub(crate) fn elements(numbers: &mut Numbers, dtype: Dtype, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    (0..count).for_each(|_| element(numbers, dtype, &mut bytes));
    bytes
}

/// Numbers whose product every order of multiplications calculates without rounding: 1, -1, and i and -i where the
/// type has them.
fn units(numbers: &mut Numbers, dtype: Dtype, count: usize) -> Vec<u8> {
    let (real, parts) = dtype.real();
    let mut bytes = Vec::new();
    for _ in 0..count {
        let sign: f64 = if numbers.below(2) == 0 { 1.0 } else { -1.0 };
        let part_with_it = numbers.below(parts);
        for part in 0..parts {
            let value = if part == part_with_it { sign } else { 0.0 };
            match real {
                Dtype::F32 => bytes.extend((value as f32).to_le_bytes()),
                Dtype::F64 => bytes.extend(value.to_le_bytes()),
                Dtype::F16 => {
                    bytes.extend(sconce_base::element::f16_bits(value as f32).to_le_bytes())
                }
                Dtype::Bf16 => {
                    bytes.extend(sconce_base::element::bf16_bits(value as f32).to_le_bytes())
                }
                Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => {
                    bytes.extend(&(value as i64).to_le_bytes()[..real.bytes()]);
                }
                _ => bytes.extend(&1_u64.to_le_bytes()[..real.bytes()]),
            }
        }
    }
    bytes
}

/// The types of a random call.
fn types(numbers: &mut Numbers, op: ReduceOp) -> [Dtype; 3] {
    let all = Dtype::ALL.into_iter().filter(|dtype| {
        let is_complex = matches!(dtype, Dtype::C32 | Dtype::C64 | Dtype::C128);
        dtype.bytes() > 1 && !(op.needs_order() && is_complex)
            || matches!(dtype, Dtype::Bool | Dtype::U8 | Dtype::I8)
    });
    let all: Vec<Dtype> = all.collect();
    let input = numbers.one_of(&all);
    let integer = !matches!(
        input,
        Dtype::F32 | Dtype::F64 | Dtype::F16 | Dtype::Bf16 | Dtype::C32 | Dtype::C64 | Dtype::C128
    );
    let own = match op {
        ReduceOp::Sum | ReduceOp::Prod if integer => [input, Dtype::I64, Dtype::I64],
        ReduceOp::Mean if integer => [input, Dtype::F32, Dtype::F32],
        ReduceOp::Argmax | ReduceOp::Argmin | ReduceOp::Count => [input, input, Dtype::I64],
        ReduceOp::All | ReduceOp::Any => [input, input, Dtype::Bool],
        _ => [input; 3],
    };
    // Now and then another type to calculate in.
    let other = numbers.one_of(&[Dtype::F64, Dtype::F16, Dtype::I32]);
    let convertible = matches!(op, ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Amax);
    if numbers.below(6) == 0 && convertible { [input, other, other] } else { own }
}

/// Runs a call in host memory and on the device; `span` elements of input, `results` of the result.
#[track_caller]
fn compare(call: &ReduceCall<'_>, input: Vec<u8>, results: usize) {
    let mut source = Twin::new(input);
    let mut result = Twin::new(vec![0xA5; results * call.output.dtype.bytes()]);
    let at = |call: &ReduceCall<'_>, from: u64, to: u64| ElementOperandPair {
        input: ElementOperand { address: from + call.input.address, ..call.input },
        output: ElementOperand { address: to + call.output.address, ..call.output },
    };
    let stream = stream();
    let on_device = at(call, source.device().get() as u64, result.device().get() as u64);
    let device_call = ReduceCall { input: on_device.input, output: on_device.output, ..*call };
    queue_reduce(runtime(), stream, &device_call).unwrap();
    let (from, to) = (source.host(), result.host());
    let on_host = at(call, from.get() as u64, to.get() as u64);
    let host_call = ReduceCall { input: on_host.input, output: on_host.output, ..*call };
    let from = from.offset(call.input.address as usize);
    let to = to.offset(call.output.address as usize);
    reduce_on_host(&host_call, from, to).unwrap();
    let found = result.read(stream);
    close(call.output.dtype, &found, &result.host, &format!("{call:?}"));
}

struct ElementOperandPair {
    input: ElementOperand,
    output: ElementOperand,
}

/// Compares elements within the rounding of the type.
#[track_caller]
pub(crate) fn close(dtype: Dtype, found: &[u8], expected: &[u8], what: &str) {
    let width = dtype.real().0.bytes();
    for (index, (a, b)) in found.chunks(width).zip(expected.chunks(width)).enumerate() {
        let value = |bytes: &[u8]| match dtype.real().0 {
            Dtype::F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
            Dtype::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
            Dtype::F16 => f64::from(sconce_base::element::f16_value(u16::from_le_bytes(
                bytes.try_into().unwrap(),
            ))),
            Dtype::Bf16 => f64::from(sconce_base::element::bf16_value(u16::from_le_bytes(
                bytes.try_into().unwrap(),
            ))),
            _ => f64::NAN,
        };
        let (x, y) = (value(a), value(b));
        let rounding = if width == 2 { 1e-2 } else { 1e-5 };
        let near = (x - y).abs() <= rounding * y.abs().max(0.1);
        assert!(
            a == b
                || near
                || (x.is_nan() && y.is_nan() && width > 1 && dtype.real().0.is_floating()),
            "{what}: element {index} is {a:?} ({x}), not {b:?} ({y})"
        );
    }
}

/// A call with axes of these sizes, each reduced or not, in the memory order of `order`.
fn run(
    numbers: &mut Numbers,
    op: ReduceOp,
    types: [Dtype; 3],
    axes: &[(i64, bool)],
    order: &[usize],
) {
    let mut strides = vec![0; axes.len()];
    let mut reach = 1;
    for axis in order.iter().rev() {
        // Now and then a gap, or a repeated element.
        strides[*axis] = if numbers.below(12) == 0 { 0 } else { reach };
        reach *= axes[*axis].0.max(1) + i64::from(numbers.below(8) == 0);
    }
    let (mut kept, mut reduced, mut results) = (Vec::new(), Vec::new(), 1);
    for (&(size, is_reduced), &input_stride) in axes.iter().zip(&strides) {
        if is_reduced {
            reduced.push(ReducedAxis { size, input_stride });
        } else {
            kept.push(KeptAxis { size, input_stride, output_stride: 0 });
        }
    }
    for axis in kept.iter_mut().rev() {
        axis.output_stride = results;
        results *= axis.size;
    }
    let skip = numbers.below(3);
    let [input, compute, output] = types;
    let length = (reach + skip as i64) as usize;
    // A product is defined only as far as its partial products, which torch forms in no stated order: where one of them
    // leaves the range of the type, the result may be an infinity or NaN. Products of many numbers do, unless all are
    // units.
    let count: i64 = reduced.iter().map(|axis| axis.size).product();
    let is_long_product = op == ReduceOp::Prod && count > 30 && compute.real().0.is_floating();
    let data = if is_long_product {
        units(numbers, input, length)
    } else {
        elements(numbers, input, length)
    };
    let call = ReduceCall {
        op,
        input: ElementOperand { address: skip * input.bytes() as u64, dtype: input },
        compute,
        output: ElementOperand { address: 0, dtype: output },
        kept: &kept,
        reduced: &reduced,
    };
    compare(&call, data, results as usize);
}

#[test]
fn random_reductions_equal_those_of_the_host() {
    let mut numbers = Numbers(7);
    for _ in 0..600 {
        let op = numbers.one_of(&ReduceOp::ALL);
        let types = types(&mut numbers, op);
        let rank = numbers.below(5) as usize;
        let sizes = [1, 2, 3, 4, 7, 8, 16, 33];
        let axes: Vec<(i64, bool)> =
            (0..rank).map(|_| (numbers.one_of(&sizes), numbers.below(2) == 0)).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        if rank > 1 && numbers.below(2) == 0 {
            order.rotate_left(1 + numbers.below(rank as u64 - 1) as usize);
        }
        run(&mut numbers, op, types, &axes, &order);
    }
}

#[test]
fn nothing_is_reduced_to_what_nothing_is() {
    let mut numbers = Numbers(3);
    for op in ReduceOp::ALL {
        for input in [Dtype::F32, Dtype::Bf16, Dtype::I8, Dtype::U64, Dtype::Bool] {
            let output = match op {
                _ if op.is_index() || op == ReduceOp::Count => Dtype::I64,
                ReduceOp::Mean => Dtype::F32,
                _ => input,
            };
            let compute = if op == ReduceOp::Mean { Dtype::F32 } else { input };
            let types = [input, compute, output];
            run(&mut numbers, op, types, &[(3, false), (0, true), (2, true)], &[0, 1, 2]);
            run(&mut numbers, op, types, &[(0, false), (4, true)], &[0, 1]);
        }
    }
}

#[test]
fn many_axes_and_long_ones_are_split() {
    let mut numbers = Numbers(11);
    // Neighbouring axes of a transposed tensor do not become one.
    let many: Vec<(i64, bool)> = (0..11).map(|axis| (2, axis % 2 == 0)).collect();
    let turned = [10, 8, 6, 4, 2, 0, 9, 7, 5, 3, 1];
    let mixed = [1, 4, 7, 10, 0, 3, 6, 9, 2, 5, 8];
    let all: Vec<(i64, bool)> = (0..11).map(|_| (2, true)).collect();
    for op in ReduceOp::ALL {
        let output = match op {
            ReduceOp::All | ReduceOp::Any => Dtype::Bool,
            _ if op.is_index() || op == ReduceOp::Count => Dtype::I64,
            _ => Dtype::F32,
        };
        let types = [Dtype::F32, Dtype::F32, output];
        for order in [turned, mixed] {
            run(&mut numbers, op, types, &many, &order);
            run(&mut numbers, op, types, &all, &order);
        }
        // Rows in parts, columns in parts, and a strided axis in parts.
        run(&mut numbers, op, types, &[(2, false), (70_001, true)], &[0, 1]);
        run(&mut numbers, op, types, &[(9_001, true), (12, false)], &[0, 1]);
        run(&mut numbers, op, types, &[(70_001, true), (2, false)], &[1, 0]);
        run(&mut numbers, op, types, &[(300, true), (3, false), (301, true)], &[0, 1, 2]);
        run(&mut numbers, op, types, &[(300, true), (301, true)], &[1, 0]);
    }
    for dtype in [Dtype::I16, Dtype::U64, Dtype::F64, Dtype::Bf16] {
        for op in [ReduceOp::Argmin, ReduceOp::Amin, ReduceOp::Argmax, ReduceOp::Prod] {
            let output = if op.is_index() { Dtype::I64 } else { dtype };
            run(&mut numbers, op, [dtype, dtype, output], &[(200_003, true)], &[0]);
        }
    }
}

#[test]
fn shapes_of_every_kind_of_kernel_are_reduced() {
    let mut numbers = Numbers(21);
    let calls = [
        (ReduceOp::Sum, [Dtype::F32; 3]),
        (ReduceOp::Mean, [Dtype::F16; 3]),
        (ReduceOp::Amin, [Dtype::F64; 3]),
        (ReduceOp::Argmin, [Dtype::F32, Dtype::F32, Dtype::I64]),
        (ReduceOp::Sum, [Dtype::Bool, Dtype::I64, Dtype::I64]),
        (ReduceOp::All, [Dtype::I32, Dtype::I32, Dtype::Bool]),
    ];
    for (op, types) in calls {
        for (r, c) in [(40, 600), (5, 5000), (64, 1024), (700, 12), (300, 600)] {
            run(&mut numbers, op, types, &[(r, false), (c, true)], &[0, 1]);
            run(&mut numbers, op, types, &[(c, true), (r, false)], &[0, 1]);
        }
        run(&mut numbers, op, types, &[(20, true), (6, false), (49, true)], &[0, 1, 2]);
        run(&mut numbers, op, types, &[(30, false), (8, true), (4, false)], &[0, 1, 2]);
        run(&mut numbers, op, types, &[(30, false), (9, true), (40, false)], &[0, 1, 2]);
    }
}
