//! Outputs of other types: converted, calculated in, or refused.

use sconce::*;
use testkit::places::alone;

use super::calls;
use super::forms::{ALL, Types};
use crate::api::{CPU, Handle, options, refusal};
use crate::create;
use crate::every::operations::Tensors;
use crate::storage::figures::Figures;

fn of(dtype: i32, device: i32) -> Handle {
    create::empty(&[0], &options(dtype, device)).unwrap()
}

/// Types that every real result can be cast to.
const WIDER: [i32; 4] = [SCONCE_DTYPE_F64, SCONCE_DTYPE_F16, SCONCE_DTYPE_BF16, SCONCE_DTYPE_C64];

#[test]
fn castable_results_are_converted() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        for form in ALL.iter().filter(|form| form.types == Types::Castable) {
            let tensors = Tensors::new(device, device);
            let result = (form.new)(&tensors).unwrap().remove(0);
            let complex = result.dtype() == SCONCE_DTYPE_C64;
            let transform = form.name.ends_with("fft");
            for dtype in WIDER {
                let into = of(dtype, device);
                let written = (form.write)(&tensors, &[into.again()]);
                let is_complex = dtype == SCONCE_DTYPE_C64;
                if (complex && !is_complex) || (transform && complex != is_complex) {
                    let message = refusal(written);
                    let words = ["can't be cast", "output tensor, but got"];
                    assert!(words.iter().any(|text| message.contains(text)), "{message}");
                    continue;
                }
                written.unwrap_or_else(|failure| panic!("{}: {failure:?}", form.name));
                let converted = result.to(&options(dtype, -1), false).unwrap();
                let same = into.bytes().unwrap() == converted.bytes().unwrap();
                assert!(same, "{} to {dtype} on {device}", form.name);
            }
            if form.name != "lt" {
                let message = refusal((form.write)(&tensors, &[of(SCONCE_DTYPE_I64, device)]));
                let words = ["can't be cast to the desired output type Long", "but got Long"];
                assert!(words.iter().any(|text| message.contains(text)), "{message}");
            }
        }
    }
    start.assert_unchanged();
}

#[test]
fn exact_results_refuse_other_types() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        for form in ALL.iter().filter(|form| form.types == Types::Exact) {
            let tensors = Tensors::new(device, device);
            let results = (form.new)(&tensors).unwrap();
            for at in 0..results.len() {
                let outputs: Vec<Handle> = results
                    .iter()
                    .enumerate()
                    .map(|(each, result)| {
                        of(if each == at { SCONCE_DTYPE_F64 } else { result.dtype() }, device)
                    })
                    .collect();
                let message = refusal((form.write)(&tensors, &outputs));
                let text = if form.name == "all" {
                    "all only supports bool tensor for result, got: Double"
                } else {
                    "Expected out tensor to have dtype "
                };
                assert!(message.contains(text), "{}: {message}", form.name);
            }
        }
    }
    start.assert_unchanged();
}

/// Sums, products and running sums calculate in the output's type, as if it had been asked for.
#[test]
fn sums_calculate_in_the_type_of_the_output() {
    let _one = alone();
    for device in [CPU, 0] {
        // Rounded down one by one, the sum is 1 + 1 + 2.
        let halves = create::from_f32(&[1.5, 1.5, 2.5], &[3], device);
        let whole = of(SCONCE_DTYPE_I32, device);
        let asked = SCONCE_DTYPE_DEFAULT;
        calls::reduce(SCONCE_REDUCE_SUM, &halves, &[], false, asked, &whole).unwrap();
        assert_eq!(whole.i32s(), [4]);
        calls::reduce(SCONCE_REDUCE_PROD, &halves, &[], false, asked, &whole).unwrap();
        assert_eq!(whole.i32s(), [2]);
        let running = of(SCONCE_DTYPE_I32, device);
        calls::along(SCONCE_LINE_CUMSUM, &halves, 0, asked, &running).unwrap();
        assert_eq!(running.i32s(), [1, 2, 4]);
        let mean = of(SCONCE_DTYPE_F64, device);
        calls::reduce(SCONCE_REDUCE_MEAN, &halves, &[], false, asked, &mean).unwrap();
        assert_eq!(mean.bytes().unwrap(), (5.5_f64 / 3.0).to_le_bytes());
        let refused = calls::reduce(SCONCE_REDUCE_MEAN, &halves, &[], false, asked, &whole);
        let failure = refused.unwrap_err();
        assert!(failure.message.contains("an output of type Int holds no mean"), "{failure:?}");
        let i32 = SCONCE_DTYPE_I32;
        let refused = calls::reduce(SCONCE_REDUCE_MEAN, &halves, &[], false, i32, &whole);
        let failure = refused.unwrap_err();
        assert!(failure.message.contains("Optional dtype must be either"), "{failure:?}");
        // A type that is asked for must be the output's.
        let f64 = SCONCE_DTYPE_F64;
        let message = refusal(calls::reduce(SCONCE_REDUCE_SUM, &halves, &[], false, f64, &whole));
        assert!(
            message.contains("Expected out tensor to have dtype Double, but got Int"),
            "{message}"
        );
        let message = refusal(calls::along(SCONCE_LINE_CUMSUM, &halves, 0, f64, &running));
        assert!(
            message.contains("Expected out tensor to have dtype Double, but got Int"),
            "{message}"
        );
    }
}

/// Truth values are written as BOOL or as U8, whatever the input is.
#[test]
fn truths_are_written_as_bool_or_bytes() {
    let _one = alone();
    for device in [CPU, 0] {
        let numbers = create::from_f32(&[0.0, 3.0], &[2], device);
        for dtype in [SCONCE_DTYPE_BOOL, SCONCE_DTYPE_U8] {
            let into = of(dtype, device);
            let asked = SCONCE_DTYPE_DEFAULT;
            calls::reduce(SCONCE_REDUCE_ANY, &numbers, &[], false, asked, &into).unwrap();
            assert_eq!((into.dtype(), into.bytes().unwrap()), (dtype, vec![1]));
            calls::reduce(SCONCE_REDUCE_ALL, &numbers, &[], false, asked, &into).unwrap();
            assert_eq!((into.dtype(), into.bytes().unwrap()), (dtype, vec![0]));
        }
    }
}
