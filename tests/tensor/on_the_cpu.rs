//! Convolutions and Fourier transforms of tensors of the CPU and of devices, beside naive ones.

use std::f64::consts::TAU;
use std::ptr::null_mut;

use sconce::ffi::sconce_status::*;
use sconce::ffi::*;
use testkit::places::alone;

use crate::api::{CPU, Handle, Outcome, options, refusal, returned};
use crate::create::{empty_strided, from_bytes, from_f32};

fn next(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 33) % below
}

/// A tensor of a type with these elements in row-major order, over memory with gaps, its dimensions turned round.
fn spread(values: &[f32], sizes: &[i64], dtype: i32, device: i32) -> Handle {
    let mut strides = vec![0; sizes.len()];
    let mut stride = 2;
    for (at, size) in sizes.iter().enumerate() {
        strides[at] = stride;
        stride *= size.max(&1) + 1;
    }
    let tensor = empty_strided(sizes, &strides, &options(dtype, device)).unwrap();
    let packed = from_f32(values, sizes, device);
    let status = sconce_tensor_copy(tensor.raw(), packed.raw(), CBool::FALSE);
    assert_eq!(status, SCONCE_OK, "{}", testkit::last_message());
    tensor
}

fn as_f32s(tensor: &Handle) -> Vec<f32> {
    let wanted = options(SCONCE_DTYPE_F32, CPU);
    // SAFETY: valid options and a writable place.
    let converted = returned(|out| unsafe {
        sconce_tensor_to(tensor.raw(), &raw const wanted, CBool::FALSE, CBool::FALSE, out)
    });
    converted.unwrap().f32s()
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
    // SAFETY: the slices are as long as the call hears.
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
fn places(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |all, size| {
        let longer = |place: Vec<i64>| (0..*size).map(move |at| [&place[..], &[at]].concat());
        all.into_iter().flat_map(longer).collect()
    })
}

fn at(sizes: &[i64], place: &[i64]) -> usize {
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
    let mut state = 5;
    for round in 0..60 {
        let mut draw = |below| next(&mut state, below) as i64;
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

struct Asked<'a> {
    kind: i32,
    direction: i32,
    normalization: i32,
    dims: &'a [i64],
    length: i64,
}

fn transformed(tensor: &Handle, asked: &Asked<'_>) -> Outcome<Handle> {
    let Asked { kind, direction, normalization, dims, length } = *asked;
    // SAFETY: the slice is as long as the call hears.
    returned(|out| unsafe {
        sconce_tensor_fft(
            tensor.raw(),
            kind,
            direction,
            normalization,
            dims.as_ptr(),
            dims.len(),
            length,
            out,
        )
    })
}

type Complex = [f64; 2];

/// The sum over every place of the transformed dimensions, one result after the other.
fn naive_fft(
    values: &[Complex],
    sizes: &[i64],
    dims: &[usize],
    sign: f64,
    factor: f64,
) -> Vec<Complex> {
    let all = places(sizes);
    let value = |to: &Vec<i64>| {
        let mut sum = [0.0; 2];
        for from in &all {
            if (0..sizes.len()).any(|dim| !dims.contains(&dim) && from[dim] != to[dim]) {
                continue;
            }
            let turns: f64 =
                dims.iter().map(|dim| (from[*dim] * to[*dim]) as f64 / sizes[*dim] as f64).sum();
            let (sine, cosine) = (sign * TAU * turns).sin_cos();
            let [re, im] = values[at(sizes, from)];
            sum = [sum[0] + re * cosine - im * sine, sum[1] + re * sine + im * cosine];
        }
        sum.map(|part| part * factor)
    };
    all.iter().map(value).collect()
}

fn pairs_of(tensor: &Handle) -> Vec<Complex> {
    let wide = options(SCONCE_DTYPE_C128, CPU);
    // SAFETY: valid options and a writable place.
    let converted = returned(|out| unsafe {
        sconce_tensor_to(tensor.raw(), &raw const wide, CBool::FALSE, CBool::FALSE, out)
    });
    let bytes = converted.unwrap().bytes().unwrap();
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks_exact(16).map(|pair| [number(&pair[..8]), number(&pair[8..])]).collect()
}

#[track_caller]
fn assert_near(found: &[Complex], expected: &[Complex], context: &str) {
    assert_eq!(found.len(), expected.len(), "{context}");
    for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!((found - expected).abs() < 1e-4, "{context}: {found}, not {expected}");
    }
}

#[test]
fn transforms_are_those_of_a_naive_sum() {
    let _one = alone();
    let mut state = 9;
    let cases: [(&[i64], &[i64]); 7] = [
        (&[6], &[0]),
        (&[3, 4], &[1]),
        (&[3, 4], &[0]),
        (&[2, 3, 5], &[0, 2]),
        (&[2, 3, 5], &[2, 0]),
        (&[4, 2, 3], &[0, 1, 2]),
        (&[7, 1], &[1, 0]),
    ];
    let norms = [SCONCE_FFT_NORM_NONE, SCONCE_FFT_NORM_BY_ROOT_N, SCONCE_FFT_NORM_BY_N];
    for (case, (sizes, dims)) in cases.into_iter().enumerate() {
        let count = sizes.iter().product::<i64>() as usize;
        let values: Vec<f32> = (0..count).map(|_| next(&mut state, 9) as f32 - 4.0).collect();
        let of: Vec<usize> = dims.iter().map(|dim| *dim as usize).collect();
        let n = of.iter().map(|dim| sizes[*dim] as f64).product::<f64>();
        let real: Vec<Complex> = values.iter().map(|value| [f64::from(*value), 0.0]).collect();
        for (norm, factor) in norms.into_iter().zip([1.0, 1.0 / n.sqrt(), 1.0 / n]) {
            for (device, dtype) in
                [(CPU, SCONCE_DTYPE_F32), (CPU, SCONCE_DTYPE_F64), (0, SCONCE_DTYPE_F32)]
            {
                let context = format!("case {case}, norm {norm}, device {device}, type {dtype}");
                let tensor = spread(&values, sizes, dtype, device);
                let ask = |kind, direction, length| Asked {
                    kind,
                    direction,
                    normalization: norm,
                    dims,
                    length,
                };
                let whole =
                    transformed(&tensor, &ask(SCONCE_FFT_C2C, SCONCE_FFT_FORWARD, -1)).unwrap();
                let expected = naive_fft(&real, sizes, &of, -1.0, factor);
                assert_near(&pairs_of(&whole), &expected, &format!("{context}, forward"));
                let back =
                    transformed(&whole, &ask(SCONCE_FFT_C2C, SCONCE_FFT_INVERSE, -1)).unwrap();
                let twice = naive_fft(&expected, sizes, &of, 1.0, factor);
                assert_near(&pairs_of(&back), &twice, &format!("{context}, inverse"));
                let half =
                    transformed(&tensor, &ask(SCONCE_FFT_R2C, SCONCE_FFT_FORWARD, -1)).unwrap();
                let last = of[of.len() - 1];
                let mut half_sizes = sizes.to_vec();
                half_sizes[last] = sizes[last] / 2 + 1;
                assert_eq!(half.sizes(), half_sizes, "{context}");
                let kept: Vec<Complex> =
                    places(&half_sizes).iter().map(|place| expected[at(sizes, place)]).collect();
                assert_near(&pairs_of(&half), &kept, &format!("{context}, real"));
                let real_again =
                    transformed(&half, &ask(SCONCE_FFT_C2R, SCONCE_FFT_INVERSE, sizes[last]))
                        .unwrap();
                assert_near(&pairs_of(&real_again), &twice, &format!("{context}, to real"));
                assert_eq!(real_again.dtype(), dtype, "{context}");
            }
        }
    }
}

#[test]
fn the_cpu_transforms_no_halves() {
    let _one = alone();
    let halves = spread(&[1.0; 4], &[4], SCONCE_DTYPE_F16, CPU);
    let (kind, direction) = (SCONCE_FFT_R2C, SCONCE_FFT_FORWARD);
    let asked =
        Asked { kind, direction, normalization: SCONCE_FFT_NORM_NONE, dims: &[0], length: -1 };
    let failure = transformed(&halves, &asked).unwrap_err();
    assert_eq!(failure.status, SCONCE_ERROR_NOT_SUPPORTED);
    assert!(failure.message.contains("Unsupported dtype Half"), "{}", failure.message);
}

#[test]
fn silu_of_complex_numbers() {
    let _one = alone();
    // Computed by PyTorch 2.11.
    let cases: [(Complex, Complex); 3] = [
        ([1.0, 2.0], [0.214_537_963, 2.446_269_512]),
        ([3.0, -1.0], [2.876_897_335, -1.091_173_172]),
        ([0.0, 0.0], [0.0, 0.0]),
    ];
    let values: Vec<u8> = cases
        .iter()
        .flat_map(|(value, _)| value.map(|part| (part as f32).to_le_bytes()))
        .flatten()
        .collect();
    let expected: Vec<Complex> = cases.iter().map(|(_, silu)| *silu).collect();
    for device in [CPU, 0] {
        let tensor = from_bytes(&values, &[3], SCONCE_DTYPE_C64, device).unwrap();
        // SAFETY: writable places.
        let new = returned(|out| unsafe {
            sconce_tensor_unary(SCONCE_UNARY_SILU, tensor.raw(), null_mut(), out)
        });
        assert_near(&pairs_of(&new.unwrap()), &expected, "a new tensor");
        // SAFETY: no place for a handle, as the call allows.
        let status = unsafe {
            sconce_tensor_unary(SCONCE_UNARY_SILU, tensor.raw(), tensor.raw(), null_mut())
        };
        assert_eq!(status, SCONCE_OK, "{}", testkit::last_message());
        assert_near(&pairs_of(&tensor), &expected, "in place");
    }
}

#[test]
fn powers_of_truth_values_to_numbers() {
    let _one = alone();
    for device in [CPU, 0] {
        let tensor = from_bytes(&[0, 1], &[2], SCONCE_DTYPE_BOOL, device).unwrap();
        for (exponent, expected) in [(true, [0, 1]), (false, [1, 1])] {
            let exponent = crate::api::truth(exponent);
            // SAFETY: a valid number and a writable place.
            let power = returned(|out| unsafe {
                sconce_tensor_binary(
                    SCONCE_BINARY_POW,
                    tensor.raw(),
                    std::ptr::null(),
                    null_mut(),
                    &raw const exponent,
                    std::ptr::null(),
                    null_mut(),
                    out,
                )
            });
            let power = power.unwrap();
            assert_eq!(
                (power.dtype(), power.bytes().unwrap()),
                (SCONCE_DTYPE_BOOL, expected.to_vec())
            );
        }
    }
}

#[test]
fn reserved_bytes_of_options_are_0() {
    let _one = alone();
    for place in 0..7 {
        let mut asked = options(SCONCE_DTYPE_F32, CPU);
        asked.reserved[place] = 1;
        let text = refusal(crate::create::empty(&[2], &asked));
        assert!(text.contains("options.reserved is not 0"), "{text}");
    }
}
