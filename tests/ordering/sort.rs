//! Sorts of every type, length and layout.

use sconce_base::element::{Dtype, KeyOrder};
use sconce_compute::ordering::{PlacedOperand, SortCall, sort, sort_on_host};
use testkit::numbers::Random;

use crate::layout::strides;
use testkit::twin::{Twin, runtime, stream};

/// Elements of a type: few values, so that many are equal, and what floats have beside numbers.
fn elements(dtype: Dtype, count: usize, random: &mut Random) -> Vec<u8> {
    let order = KeyOrder::of(dtype, false).unwrap();
    let sign = 1_u64 << (8 * order.bytes - 1);
    let few: Vec<u64> = (0..20).map(|_| random.below(u64::MAX) as u64).collect();
    let mut bytes = Vec::with_capacity(count * order.bytes);
    for _ in 0..count {
        let any = random.below(u64::MAX) as u64;
        let bits = match any % 8 {
            0 => order.infinity | any >> 8 & sign,
            1 => order.infinity | (1 + (any >> 60)) | any >> 8 & sign,
            2 => any >> 8 & sign,
            3 | 4 => few[any as usize / 8 % few.len()],
            _ => random.below(u64::MAX) as u64,
        };
        let bits = if dtype == Dtype::Bool { bits & 1 } else { bits };
        bytes.extend_from_slice(&bits.to_le_bytes()[..order.bytes]);
    }
    bytes
}

/// A shape whose axes lie in three orders and with gaps: those of input, values and indices.
struct Case<'a> {
    dtype: Dtype,
    sizes: &'a [i64],
    axis: usize,
    descending: bool,
    orders: [&'a [usize]; 3],
    gaps: [i64; 3],
}

#[track_caller]
fn check(case: &Case<'_>, random: &mut Random) {
    let [input, values, indices] =
        [0, 1, 2].map(|side| strides(case.sizes, case.orders[side], case.gaps[side]));
    let width = case.dtype.bytes();
    let mut twins = [
        Twin::new(elements(case.dtype, input.1, random)),
        Twin::new(vec![0xA5; values.1 * width]),
        Twin::new(vec![0xA5; indices.1 * 8]),
    ];
    let on_host = [0, 1, 2].map(|side: usize| twins[side].host());
    let on_device = [0, 1, 2].map(|side: usize| twins[side].device());
    let call = |addresses: [_; 3]| {
        let [from, to, places] = addresses;
        SortCall {
            dtype: case.dtype,
            sizes: case.sizes,
            axis: case.axis,
            descending: case.descending,
            input: PlacedOperand { address: from, strides: &input.0 },
            values: PlacedOperand { address: to, strides: &values.0 },
            indices: PlacedOperand { address: places, strides: &indices.0 },
        }
    };
    sort_on_host(&call(on_host)).unwrap();
    let stream = stream();
    sort(runtime(), stream, &call(on_device)).unwrap();
    let what = format!("{:?} {:?} {} {}", case.dtype, case.sizes, case.axis, case.descending);
    for (name, twin) in ["input", "values", "indices"].iter().zip(&twins) {
        let got = twin.read(stream);
        let wrong = got.iter().zip(&twin.host).position(|(got, expected)| got != expected);
        assert_eq!(wrong, None, "{what}: first wrong byte of the {name}");
    }
}

/// Types with a kernel of their own, and types whose orders differ within a kernel.
const TYPES: [Dtype; 13] = [
    Dtype::Bool,
    Dtype::I8,
    Dtype::U8,
    Dtype::I16,
    Dtype::U16,
    Dtype::F16,
    Dtype::Bf16,
    Dtype::I32,
    Dtype::U32,
    Dtype::F32,
    Dtype::I64,
    Dtype::U64,
    Dtype::F64,
];

#[test]
fn lines_of_every_length_are_sorted() {
    let mut random = Random(7);
    for (at, dtype) in TYPES.into_iter().enumerate() {
        for (step, length) in
            [1, 2, 3, 8, 9, 31, 100, 1000, 2047, 2048, 2049, 4608, 6144, 6145, 40_000]
                .into_iter()
                .enumerate()
        {
            let sizes = [length];
            let orders: [&[usize]; 3] = [&[0]; 3];
            let descending = (at + step) % 2 == 1;
            check(
                &Case { dtype, sizes: &sizes, axis: 0, descending, orders, gaps: [0; 3] },
                &mut random,
            );
        }
    }
}

#[test]
fn lines_of_every_layout_are_sorted() {
    let mut random = Random(8);
    let orders: [[&[usize]; 3]; 3] = [
        [&[2, 1, 0], &[2, 1, 0], &[2, 1, 0]],
        [&[0, 2, 1], &[1, 0, 2], &[2, 1, 0]],
        [&[1, 2, 0], &[0, 1, 2], &[1, 0, 2]],
    ];
    for dtype in [Dtype::U8, Dtype::Bf16, Dtype::I32, Dtype::F64] {
        for (at, orders) in orders.into_iter().enumerate() {
            for axis in 0..3 {
                for length in [5, 300, 2500] {
                    let mut sizes = [2, 3, 2];
                    sizes[axis] = length;
                    let gaps = if at == 0 { [0; 3] } else { [1, 0, 2] };
                    let descending = axis == 1;
                    check(
                        &Case { dtype, sizes: &sizes, axis, descending, orders, gaps },
                        &mut random,
                    );
                }
            }
        }
    }
}

#[test]
fn many_axes_and_many_lines_are_sorted() {
    let mut random = Random(9);
    // Five axes of lines that do not join.
    let sizes = [2, 3, 2, 6, 3, 2];
    let orders: [&[usize]; 3] = [&[5, 3, 1, 4, 2, 0], &[0, 1, 2, 3, 4, 5], &[5, 4, 3, 2, 1, 0]];
    let case =
        Case { dtype: Dtype::F32, sizes: &sizes, axis: 3, descending: true, orders, gaps: [0; 3] };
    check(&case, &mut random);
    let sizes = [5000, 3];
    let orders: [&[usize]; 3] = [&[1, 0]; 3];
    let case =
        Case { dtype: Dtype::I16, sizes: &sizes, axis: 1, descending: false, orders, gaps: [0; 3] };
    check(&case, &mut random);
    let case =
        Case { dtype: Dtype::I64, sizes: &sizes, axis: 0, descending: false, orders, gaps: [0; 3] };
    check(&case, &mut random);
}
