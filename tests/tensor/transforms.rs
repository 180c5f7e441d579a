//! Fourier transforms of tensors of the CPU and of devices, beside a naive sum.

use std::f64::consts::TAU;

use sconce::sconce_status::*;
use sconce::*;
use testkit::numbers::{Random, decode_all};
use testkit::places::alone;

use crate::api::{CPU, Handle, Outcome, options, returned};
use crate::convolutions::{at, places, spread};

struct Asked<'a> {
    kind: i32,
    direction: i32,
    normalization: i32,
    dims: &'a [i64],
    length: i64,
}

fn transformed(tensor: &Handle, asked: &Asked<'_>) -> Outcome<Handle> {
    let Asked { kind, direction, normalization, dims, length } = *asked;
    // SAFETY: the call is passed the slice's length.
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

pub(crate) type Complex = [f64; 2];

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

pub(crate) fn pairs_of(tensor: &Handle) -> Vec<Complex> {
    let converted = tensor.to(&options(SCONCE_DTYPE_C128, CPU), false).unwrap();
    let parts = decode_all(SCONCE_DTYPE_F64, &converted.bytes().unwrap());
    parts.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
}

#[track_caller]
pub(crate) fn assert_near(found: &[Complex], expected: &[Complex], context: &str) {
    assert_eq!(found.len(), expected.len(), "{context}");
    for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!((found - expected).abs() < 1e-4, "{context}: {found}, not {expected}");
    }
}

#[test]
fn transforms_are_those_of_a_naive_sum() {
    let _one = alone();
    let mut random = Random(9);
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
        let values: Vec<f32> = (0..count).map(|_| random.below(9) as f32 - 4.0).collect();
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
