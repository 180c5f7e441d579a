//! Sorts along an axis.

use sconce_base::error::Result;
use sconce_base::strided::each_run;
use sconce_math::parallel::{GRAIN, for_elements};
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::Stream;

use super::axes::{is_empty, shared_axes};
use super::calls::{INDEX_BYTES, SortCall};
use super::{host, sort_kernels};

/// Sorts memory of the stream's device, as work of the stream.
pub fn sort(runtime: &Runtime, stream: Stream, call: &SortCall<'_>) -> Result<()> {
    let (order, length) = (call.order()?, call.length()?);
    if is_empty(call.sizes) {
        return Ok(());
    }
    sort_kernels::launch(runtime, stream, call, order, length)
}

/// Sorts host memory.
pub fn sort_on_host(call: &SortCall<'_>) -> Result<()> {
    let (order, length) = (call.order()?, call.length()?);
    if is_empty(call.sizes) {
        return Ok(());
    }
    let SortCall { sizes, axis, input, values, indices, .. } = *call;
    let operands = [
        (input.strides, order.bytes),
        (values.strides, order.bytes),
        (indices.strides, INDEX_BYTES),
    ];
    let steps = operands.map(|(strides, width)| strides[axis].wrapping_mul(width as i64));
    let axes = shared_axes(sizes, axis, operands);
    let lines = axes.iter().map(|axis| axis.size).product();
    // A sort takes some hundred times as long as a sum.
    for_elements(lines, (GRAIN / 64).div_ceil(u64::from(length)), &|part| {
        let mut line = Vec::with_capacity(length as usize);
        let along = axes.first().map_or([0; 3], |inner| inner.strides);
        each_run(&axes, part, |_, begin, count| {
            for number in 0..count {
                let addresses = [input.address, values.address, indices.address];
                let [from, to, places] = std::array::from_fn(|side| {
                    let first = addresses[side].offset(begin[side] as usize);
                    host::at(first, number, along[side])
                });
                line.clear();
                for index in 0..u64::from(length) {
                    line.push(host::read(host::at(from, index, steps[0]), order.bytes)?);
                }
                for (index, place) in order.sort(&line).into_iter().enumerate() {
                    let (index, bits) = (index as u64, line[place as usize]);
                    host::write(host::at(to, index, steps[1]), order.bytes, bits)?;
                    host::write(host::at(places, index, steps[2]), INDEX_BYTES, u64::from(place))?;
                }
            }
            Ok(())
        })
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::element::Dtype;

    use super::*;
    use crate::ordering::PlacedOperand;
    use crate::ordering::host::of_test;

    #[test]
    fn lines_of_any_axis_and_stride_are_sorted() {
        // 3 x 4 x 2 in the order of the axes 2, 0, 1, with a gap.
        let (sizes, input_strides) = ([3_i64, 4, 2], [5_i64, 1, 16]);
        let mut input: Vec<i32> = (0..64).map(|i| (i * 37 % 11) - 5).collect();
        for axis in 0..3 {
            for descending in [false, true] {
                let mut values = vec![0_i32; 24];
                let mut indices = vec![-1_i64; 48];
                let strides = [[8_i64, 2, 1], [16, 4, 2]];
                let call = SortCall {
                    dtype: Dtype::I32,
                    sizes: &sizes,
                    axis,
                    descending,
                    input: PlacedOperand { address: of_test(&mut input), strides: &input_strides },
                    values: PlacedOperand { address: of_test(&mut values), strides: &strides[0] },
                    indices: PlacedOperand { address: of_test(&mut indices), strides: &strides[1] },
                };
                sort_on_host(&call).unwrap();
                let place = |at: [i64; 3], strides: [i64; 3]| -> usize {
                    at.iter().zip(strides).map(|(index, stride)| index * stride).sum::<i64>()
                        as usize
                };
                for line in 0..sizes.iter().product::<i64>() / sizes[axis] {
                    let mut at = [0; 3];
                    let others: Vec<usize> = (0..3).filter(|other| *other != axis).collect();
                    at[others[0]] = line / sizes[others[1]];
                    at[others[1]] = line % sizes[others[1]];
                    let along = |index| {
                        let mut at = at;
                        at[axis] = index;
                        at
                    };
                    let mut expected: Vec<(i32, i64)> = (0..sizes[axis])
                        .map(|index| (input[place(along(index), input_strides)], index))
                        .collect();
                    let direction = if descending { -1 } else { 1 };
                    expected.sort_by_key(|(value, _)| direction * value);
                    for (index, (value, from)) in expected.into_iter().enumerate() {
                        let at = along(index as i64);
                        assert_eq!(values[place(at, strides[0])], value, "{axis} {at:?}");
                        assert_eq!(indices[place(at, strides[1])], from, "{axis} {at:?}");
                    }
                }
                assert!(indices.iter().skip(1).step_by(2).all(|gap| *gap == -1));
            }
        }
    }

    #[test]
    fn empty_and_single_lines_are_sorted_and_others_refused() {
        let (mut input, mut values, mut indices) = ([7.0_f64], [0.0_f64], [5_i64]);
        let mut sort = |sizes: &[i64], dtype| {
            let strides = vec![1; sizes.len()];
            let operand = |address| PlacedOperand { address, strides: &strides };
            sort_on_host(&SortCall {
                dtype,
                sizes,
                axis: 0,
                descending: false,
                input: operand(of_test(&mut input)),
                values: operand(of_test(&mut values)),
                indices: operand(of_test(&mut indices)),
            })
        };
        sort(&[0], Dtype::F64).unwrap();
        sort(&[4, 0], Dtype::F64).unwrap();
        let error = sort(&[1], Dtype::C64).unwrap_err();
        assert!(error.message().ends_with("not SCONCE_DTYPE_C64"), "{}", error.message());
        let error = sort(&[1 << 31], Dtype::F64).unwrap_err();
        assert!(error.message().contains("INT_MAX"), "{}", error.message());
        // An element beyond what the caller vouches for is not read.
        assert!(sort(&[2], Dtype::F64).is_err());
        sort(&[1, 1], Dtype::F64).unwrap();
        assert_eq!((values, indices), ([7.0], [0]));
    }
}
