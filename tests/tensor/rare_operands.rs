//! Elementwise operations of types that few use, and options that are refused.

use sconce::*;
use testkit::places::alone;

use crate::api::{CPU, options, refusal, truth};
use crate::create::from_bytes;
use crate::operations::{Operand, binary, reduce, unary, unary_into};
use crate::transforms::{Complex, assert_near, pairs_of};

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
        let new = unary(SCONCE_UNARY_SILU, &tensor).unwrap();
        assert_near(&pairs_of(&new), &expected, "a new tensor");
        unary_into(SCONCE_UNARY_SILU, &tensor, &tensor).unwrap();
        assert_near(&pairs_of(&tensor), &expected, "in place");
    }
}

#[test]
fn powers_of_truth_values_to_numbers() {
    let _one = alone();
    for device in [CPU, 0] {
        let tensor = from_bytes(&[0, 1], &[2], SCONCE_DTYPE_BOOL, device).unwrap();
        for (exponent, expected) in [(true, [0, 1]), (false, [1, 1])] {
            let exponent = Operand::Number(truth(exponent));
            let power = binary(SCONCE_BINARY_POW, Operand::Tensor(&tensor), exponent).unwrap();
            assert_eq!(
                (power.dtype(), power.bytes().unwrap()),
                (SCONCE_DTYPE_BOOL, expected.to_vec())
            );
        }
    }
}

#[test]
fn powers_of_a_complex_zero() {
    let _one = alone();
    const INFINITY: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    // Computed by PyTorch 2.11.
    let cases: [(Complex, Complex); 9] = [
        ([0.0, 0.0], [NAN, NAN]),
        ([1.0, 0.0], [0.0, 0.0]),
        ([-1.0, 0.0], [INFINITY, NAN]),
        ([0.0, 1.0], [NAN, NAN]),
        ([0.0, -1.0], [NAN, NAN]),
        ([1.0, 1.0], [0.0, 0.0]),
        ([-1.0, 1.0], [INFINITY, NAN]),
        ([-1.0, -1.0], [INFINITY, NAN]),
        ([0.5, -2.0], [0.0, 0.0]),
    ];
    let bytes = |values: &[Complex]| -> Vec<u8> {
        values.iter().flatten().flat_map(|part| (*part as f32).to_le_bytes()).collect()
    };
    let exponents: Vec<Complex> = cases.iter().map(|(exponent, _)| *exponent).collect();
    for device in [CPU, 0] {
        let sizes = [cases.len() as i64];
        let zeros = from_bytes(&bytes(&[[0.0; 2]; 9]), &sizes, SCONCE_DTYPE_C64, device).unwrap();
        let exponents = from_bytes(&bytes(&exponents), &sizes, SCONCE_DTYPE_C64, device).unwrap();
        let power = |exponent: Operand<'_>| {
            pairs_of(&binary(SCONCE_BINARY_POW, Operand::Tensor(&zeros), exponent).unwrap())
        };
        let powers = power(Operand::Tensor(&exponents));
        for (power, (exponent, expected)) in powers.iter().zip(cases) {
            let same = |part: usize| {
                power[part] == expected[part] || power[part].is_nan() && expected[part].is_nan()
            };
            assert!(same(0) && same(1), "0 to {exponent:?} is {power:?} on {device}");
        }
        // A number as the exponent: 1, as of any base.
        assert_eq!(power(Operand::Number(truth(false))), [[1.0, 0.0]; 9]);
    }
}

#[test]
fn means_multiply_on_devices_and_divide_on_the_cpu() {
    let _one = alone();
    // 3 is no divisor of a power of 2: five times the rounded reciprocal is not the rounded quotient.
    let sum = 5.0_f32;
    let bytes: Vec<u8> = [sum, 0.0, 0.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_ne!(sum * (1.0 / 3.0), sum / 3.0);
    for (device, expected) in [(CPU, sum / 3.0), (0, sum * (1.0 / 3.0))] {
        let tensor = from_bytes(&bytes, &[3], SCONCE_DTYPE_F32, device).unwrap();
        let mean = reduce(SCONCE_REDUCE_MEAN, &tensor, None, false);
        assert_eq!(mean.unwrap().bytes().unwrap(), expected.to_le_bytes(), "on {device}");
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
