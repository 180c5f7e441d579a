//! Selections and joins of every layout.

use sconce_base::element::Dtype;
use sconce_compute::ordering::{
    JoinCall, JoinPart, PlacedOperand, SelectCall, SelectIndex, join, join_on_host, select,
    select_on_host,
};
use testkit::numbers::Random;

use crate::layout::strides;
use testkit::twin::{Twin, runtime, stream};

const TYPES: [Dtype; 5] = [Dtype::U8, Dtype::Bf16, Dtype::F32, Dtype::I64, Dtype::C128];

/// Bytes that tell elements apart.
fn numbered(bytes: usize, random: &mut Random) -> Vec<u8> {
    (0..bytes).map(|_| random.below(256) as u8).collect()
}

#[track_caller]
fn assert_same(what: &str, got: &[u8], expected: &[u8]) {
    let wrong = got.iter().zip(expected).position(|(got, expected)| got != expected);
    assert_eq!(wrong, None, "{what}: first wrong byte");
}

#[test]
fn selections_along_every_axis_are_those_of_the_host() {
    let mut random = Random(1);
    let orders: [[&[usize]; 2]; 3] =
        [[&[2, 1, 0], &[2, 1, 0]], [&[0, 2, 1], &[2, 1, 0]], [&[2, 1, 0], &[1, 0, 2]]];
    for dtype in TYPES {
        for orders in orders {
            for (gap, shape) in [(0, [5, 6, 8]), (1, [3, 4, 5]), (0, [2, 700, 3])] {
                for axis in 0..3 {
                    for (wide, index_stride) in [(true, 1), (false, 2), (true, 0)] {
                        let mut sizes = shape;
                        sizes[axis] = 9;
                        let (input_strides, input_elements) = strides(&shape, orders[0], gap);
                        let (output_strides, output_elements) = strides(&sizes, orders[1], gap);
                        let index: Vec<u8> = (0..18)
                            .flat_map(|_| {
                                let index = random.below(shape[axis] as u64).to_le_bytes();
                                index[..if wide { 8 } else { 4 }].to_vec()
                            })
                            .collect();
                        let width = dtype.bytes();
                        let mut input = Twin::new(numbered(input_elements * width, &mut random));
                        let mut index = Twin::new(index);
                        let mut output = Twin::new(vec![0xA5; output_elements * width]);
                        let call = |input, output, index| SelectCall {
                            dtype,
                            sizes: &sizes,
                            axis,
                            input_size: shape[axis],
                            input: PlacedOperand { address: input, strides: &input_strides },
                            output: PlacedOperand { address: output, strides: &output_strides },
                            index: SelectIndex {
                                address: index,
                                dtype: if wide { Dtype::I64 } else { Dtype::I32 },
                                stride: index_stride,
                            },
                        };
                        select_on_host(&call(input.host(), output.host(), index.host())).unwrap();
                        let stream = stream();
                        let on_device = call(input.device(), output.device(), index.device());
                        select(runtime(), stream, &on_device).unwrap();
                        let what = format!("{dtype:?} {sizes:?} {axis} {orders:?} {index_stride}");
                        assert_same(&what, &output.read(stream), &output.host);
                    }
                }
            }
        }
    }
}

#[test]
fn joins_along_every_axis_are_those_of_the_host() {
    let mut random = Random(2);
    let packed: &[usize] = &[2, 1, 0];
    for dtype in TYPES {
        for (out_gap, parts) in [
            (0, &[(4, packed, 0), (1, packed, 0)][..]),
            (0, &[(3, packed, 0), (0, packed, 0), (5, packed, 2), (2, &[1, 0, 2], 0)]),
            (1, &[(2, packed, 0), (3, packed, 0)]),
            (0, &[(1, packed, 0); 20]),
            (0, &[(900, packed, 0), (7, &[0, 1, 2], 0), (128, packed, 0)]),
        ] {
            for axis in 0..3 {
                let mut sizes = [2, 3, 4];
                let shapes: Vec<[i64; 3]> = parts
                    .iter()
                    .map(|(size, ..)| {
                        sizes[axis] = *size;
                        sizes
                    })
                    .collect();
                sizes[axis] = parts.iter().map(|(size, ..)| size).sum();
                let width = dtype.bytes();
                let (output_strides, output_elements) = strides(&sizes, packed, out_gap);
                let mut output = Twin::new(vec![0xA5; output_elements * width]);
                let layouts: Vec<_> = parts
                    .iter()
                    .zip(&shapes)
                    .map(|((_, order, gap), shape)| strides(shape, order, *gap))
                    .collect();
                let mut inputs: Vec<Twin> = layouts
                    .iter()
                    .map(|(_, elements)| Twin::new(numbered(elements * width, &mut random)))
                    .collect();
                let on_host: Vec<_> = inputs.iter_mut().map(Twin::host).collect();
                let on_device: Vec<_> = inputs.iter().map(Twin::device).collect();
                let place = |addresses: &[_]| -> Vec<JoinPart<'_>> {
                    (0..parts.len())
                        .map(|part| JoinPart {
                            size: parts[part].0,
                            operand: PlacedOperand {
                                address: addresses[part],
                                strides: &layouts[part].0,
                            },
                        })
                        .collect()
                };
                let (on_host, on_device) = (place(&on_host), place(&on_device));
                let [to_host, to_device] = [output.host(), output.device()];
                let call = |address, parts| JoinCall {
                    dtype,
                    sizes: &sizes,
                    axis,
                    output: PlacedOperand { address, strides: &output_strides },
                    parts,
                };
                join_on_host(&call(to_host, &on_host)).unwrap();
                let stream = stream();
                join(runtime(), stream, &call(to_device, &on_device)).unwrap();
                let what = format!("{dtype:?} {axis} {shapes:?}");
                assert_same(&what, &output.read(stream), &output.host);
            }
        }
    }
}
