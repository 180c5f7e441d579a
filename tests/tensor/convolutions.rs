//! Convolutions of tensors of the CPU and of devices, beside a naive loop.

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::numbers::Random;
use testkit::places::alone;

use crate::api::{CPU, Handle, Outcome, options, refusal, returned};
use crate::create::{empty_strided, from_bytes, from_f32};

/// A tensor of a type with these elements in row-major order, over memory with gaps, its dimensions turned round.
pub(crate) fn spread(values: &[f32], sizes: &[i64], dtype: i32, device: i32) -> Handle {
    let mut strides = vec![0; sizes.len()];
    let mut stride = 2;
    for (at, size) in sizes.iter().enumerate() {
        strides[at] = stride;
        stride *= size.max(&1) + 1;
    }
    let tensor = empty_strided(sizes, &strides, &options(dtype, device)).unwrap();
    let packed = from_f32(values, sizes, device);
    tensor.copy_from(&packed, false).unwrap();
    tensor
}

fn as_f32s(tensor: &Handle) -> Vec<f32> {
    tensor.to(&options(SCONCE_DTYPE_F32, CPU), false).unwrap().f32s()
}

struct Steps {
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
}

fn convolved(
    input: &Handle,
    filter: &Handle,
    bias: Option<&Handle>,
    steps: &Steps,
) -> Outcome<Handle> {
    let Steps { stride, padding, dilation, groups } = steps;
    let bias = bias.map_or(null_mut(), Handle::raw);
    // SAFETY: the call is passed the slices' length.
    returned(|out| unsafe {
        sconce_tensor_convolution(
            input.raw(),
            filter.raw(),
            bias,
            stride.as_ptr(),
            padding.as_ptr(),
            dilation.as_ptr(),
            stride.len(),
            *groups,
            out,
        )
    })
}

/// Every place of a box, in row-major order.
pub(crate) fn places(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |all, size| {
        let longer = |place: Vec<i64>| (0..*size).map(move |at| [&place[..], &[at]].concat());
        all.into_iter().flat_map(longer).collect()
    })
}

pub(crate) fn at(sizes: &[i64], place: &[i64]) -> usize {
    sizes.iter().zip(place).fold(0, |index, (size, at)| index * size + at) as usize
}

/// The sum over every element of the filter, one output element after the other.
fn naive(
    (input, input_sizes): (&[f32], &[i64]),
    (filter, filter_sizes): (&[f32], &[i64]),
    bias: Option<&[f32]>,
    steps: &Steps,
) -> (Vec<f32>, Vec<i64>) {
    let spatial = steps.stride.len();
    let mut sizes = vec![input_sizes[0], filter_sizes[0]];
    for axis in 0..spatial {
        let reach = steps.dilation[axis] * (filter_sizes[2 + axis] - 1) + 1;
        let room = input_sizes[2 + axis] + 2 * steps.padding[axis] - reach;
        sizes.push(room / steps.stride[axis] + 1);
    }
    let features = filter_sizes[0] / steps.groups;
    let value = |place: &Vec<i64>| {
        let group = place[1] / features;
        let mut sum = bias.map_or(0.0, |bias| bias[place[1] as usize]);
        for tap in places(&filter_sizes[1..]) {
            let mut from = vec![place[0], group * filter_sizes[1] + tap[0]];
            from.extend((0..spatial).map(|axis| {
                place[2 + axis] * steps.stride[axis] - steps.padding[axis]
                    + tap[1 + axis] * steps.dilation[axis]
            }));
            if from.iter().zip(input_sizes).all(|(at, size)| (0..*size).contains(at)) {
                let own = [&[place[1]], &tap[..]].concat();
                sum += input[at(input_sizes, &from)] * filter[at(filter_sizes, &own)];
            }
        }
        sum
    };
    (places(&sizes).iter().map(value).collect(), sizes)
}

#[test]
fn convolutions_are_those_of_a_naive_loop() {
    let _one = alone();
    let mut random = Random(5);
    for round in 0..60 {
        let mut draw = |below| random.below(below);
        let spatial = 1 + round % 3;
        let steps = Steps {
            stride: (0..spatial).map(|_| 1 + draw(3)).collect(),
            padding: (0..spatial).map(|_| draw(3)).collect(),
            dilation: (0..spatial).map(|_| 1 + draw(2)).collect(),
            groups: 1 + draw(3),
        };
        let mut input_sizes = vec![1 + draw(3), steps.groups * (1 + draw(2))];
        let mut filter_sizes = vec![steps.groups * (1 + draw(3)), input_sizes[1] / steps.groups];
        for axis in 0..spatial {
            filter_sizes.push(1 + draw(3));
            let reach = steps.dilation[axis] * (filter_sizes[2 + axis] - 1) + 1;
            input_sizes.push(reach + draw(5));
        }
        // Sums of small integers are exact in every type.
        let mut numbers = |sizes: &[i64]| -> Vec<f32> {
            let count: i64 = sizes.iter().product();
            (0..count).map(|_| draw(5) as f32 - 2.0).collect()
        };
        let (input, filter) = (numbers(&input_sizes), numbers(&filter_sizes));
        let bias = numbers(&filter_sizes[..1]);
        let dtype = [SCONCE_DTYPE_F32, SCONCE_DTYPE_F64, SCONCE_DTYPE_F16, SCONCE_DTYPE_BF16]
            [round / 3 % 4];
        let with_bias = round % 2 == 0;
        let expected = naive(
            (&input, &input_sizes),
            (&filter, &filter_sizes),
            with_bias.then_some(&bias[..]),
            &steps,
        );
        for device in [CPU, 0] {
            let input = spread(&input, &input_sizes, dtype, device);
            let filter = spread(&filter, &filter_sizes, dtype, device);
            let bias = spread(&bias, &filter_sizes[..1], dtype, device);
            let found = convolved(&input, &filter, with_bias.then_some(&bias), &steps).unwrap();
            let context =
                format!("round {round}, device {device}, {input_sizes:?} {filter_sizes:?}");
            assert_eq!((found.sizes(), found.dtype()), (expected.1.clone(), dtype), "{context}");
            assert_eq!(as_f32s(&found), expected.0, "{context}");
        }
    }
}

#[test]
fn convolutions_of_nothing_and_refusals() {
    let _one = alone();
    let steps = Steps { stride: vec![1], padding: vec![0], dilation: vec![1], groups: 1 };
    for device in [CPU, 0] {
        let filter = from_f32(&[1.0; 6], &[2, 1, 3], device);
        let none = convolved(&from_f32(&[], &[0, 1, 5], device), &filter, None, &steps).unwrap();
        assert_eq!(none.sizes(), [0, 2, 3]);
        let bias = from_f32(&[3.0, 4.0], &[2], device);
        let (input, no_channels) =
            (from_f32(&[], &[1, 0, 4], device), from_f32(&[], &[2, 0, 3], device));
        let only_bias = convolved(&input, &no_channels, Some(&bias), &steps).unwrap();
        assert_eq!(only_bias.f32s(), [3.0, 3.0, 4.0, 4.0], "device {device}");
        let short = from_f32(&[1.0, 2.0], &[1, 1, 2], device);
        refusal(convolved(&short, &filter, None, &steps));
        let whole = from_bytes(&[1; 3], &[1, 1, 3], SCONCE_DTYPE_U8, device).unwrap();
        let failure = convolved(&whole, &whole, None, &steps).unwrap_err();
        assert_eq!(failure.status, SCONCE_ERROR_NOT_SUPPORTED, "{}", failure.message);
    }
    let apart = [from_f32(&[1.0; 3], &[1, 1, 3], CPU), from_f32(&[1.0; 3], &[1, 1, 3], 0)];
    let failure = convolved(&apart[0], &apart[1], None, &steps).unwrap_err();
    assert_eq!(failure.status, SCONCE_ERROR_CROSS_DEVICE, "{}", failure.message);
}

#[test]
fn results_have_their_channels_last_if_a_factor_has() {
    let _one = alone();
    let steps = Steps { stride: vec![1; 2], padding: vec![0; 2], dilation: vec![1; 2], groups: 1 };
    for device in [CPU, 0] {
        let input = from_f32(&[1.0; 2 * 4 * 25], &[2, 4, 5, 5], device);
        let filter = from_f32(&[1.0; 6 * 4 * 9], &[6, 4, 3, 3], device);
        let last = input.contiguous(SCONCE_MEMORY_FORMAT_CHANNELS_LAST).unwrap();
        let plain = convolved(&input, &filter, None, &steps).unwrap();
        let found = convolved(&last, &filter, None, &steps).unwrap();
        assert_eq!((plain.strides(), found.strides()), (vec![54, 9, 3, 1], vec![54, 1, 18, 6]));
        assert_eq!(found.f32s(), plain.f32s());
    }
}
