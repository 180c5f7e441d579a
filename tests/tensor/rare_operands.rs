//! Elementwise operations of types that few use, and options that are refused.

use std::ptr::null_mut;

use sconce::ffi::sconce_status::*;
use sconce::ffi::*;
use testkit::places::alone;

use crate::api::{CPU, options, refusal, returned};
use crate::create::from_bytes;
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
