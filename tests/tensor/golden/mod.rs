//! Every recorded operation, on the CPU and on a simulated device: type, sizes, strides and values are
//! PyTorch's, and so is the sense of errors.

mod call;
mod recording;

use std::collections::BTreeMap;

use sconce::*;

use crate::api::{self, CPU, Handle};
use crate::create;
use recording::{Case, Recorded};

/// How many units in the last place a value may differ: processors approximate some functions, and torch
/// calculates means and evenly spaced numbers by a rounded factor. All else is exact.
fn units(op: &str) -> f64 {
    match op {
        "exp" | "log" | "tanh" | "sigmoid" | "silu" | "pow" | "softmax" => 4.0,
        // Of 1, of which it takes a part that may be as small.
        "gelu" => 4.0,
        "linspace" => 2.0,
        "mean" => 1.0,
        _ => 0.0,
    }
}

/// Whether the sign of a zero depends on the order in which products are summed.
fn is_product(op: &str) -> bool {
    matches!(op, "matmul" | "bmm" | "addmm")
}

/// The distance between neighbours of a number in a type.
fn unit(dtype: i32, number: f64) -> f64 {
    let (bits, least) = match dtype {
        SCONCE_DTYPE_F64 => (52, -1074),
        SCONCE_DTYPE_F32 => (23, -149),
        SCONCE_DTYPE_F16 => (10, -24),
        SCONCE_DTYPE_BF16 => (7, -133),
        _ => return 0.0,
    };
    let exponent = ((number.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least + bits);
    2.0_f64.powi(exponent - bits)
}

fn wrong_values(op: &str, ours: &Handle, expected: &Recorded) -> Option<String> {
    let bytes = match ours.bytes() {
        Ok(bytes) => bytes,
        Err(failure) => return Some(format!("the values cannot be read: {}", failure.message)),
    };
    let elements = bytes.chunks_exact(api::bytes_of(expected.dtype));
    let ours: Vec<f64> = elements.map(|bytes| recording::decode(expected.dtype, bytes)).collect();
    let dtype = expected.dtype;
    let differs = |(ours, expected): (&f64, &f64)| {
        let size = if op == "gelu" { expected.abs().max(1.0) } else { *expected };
        let near = units(op) * unit(dtype, size);
        let same = ours.to_bits() == expected.to_bits() || (ours.is_nan() && expected.is_nan());
        let close = near > 0.0 || (is_product(op) && *ours == 0.0);
        !(same || (close && (ours - expected).abs() <= near))
    };
    let place = ours.iter().zip(&expected.values).position(differs)?;
    Some(format!("element {place} is {:e}, not {:e}", ours[place], expected.values[place]))
}

/// What is wrong with a result.
fn wrong_result(op: &str, ours: &Handle, expected: &Recorded, device: i32) -> Option<String> {
    if ours.dtype() != expected.dtype {
        return Some(format!("type {}, not {}", ours.dtype(), expected.dtype));
    }
    if ours.sizes() != expected.sizes {
        return Some(format!("sizes {:?}, not {:?}", ours.sizes(), expected.sizes));
    }
    let on_device = expected.device_strides.as_ref().filter(|_| device != CPU);
    let strides = on_device.unwrap_or(&expected.strides);
    if ours.strides() != *strides {
        return Some(format!("strides {:?}, not {strides:?}", ours.strides()));
    }
    if ours.device() != device {
        return Some(format!("it is on device {}", ours.device()));
    }
    wrong_values(op, ours, expected)
}

/// What is wrong where PyTorch's function takes no number, but ours does: as if it were a tensor. A tensor
/// without dimensions has more to say about the type than a number.
fn wrong_number(case: &Case, device: i32) -> Option<String> {
    let values = |tensor: &Handle| -> Result<Vec<f64>, api::Failure> {
        let (bytes, dtype) = (tensor.bytes()?, tensor.dtype());
        let elements = bytes.chunks_exact(api::bytes_of(dtype));
        Ok(elements.map(|bytes| recording::decode(dtype, bytes)).collect())
    };
    let both = || {
        let ours = call::call(case, device)?.remove(0);
        let same = call::with_number_as_tensor(case, device)?;
        let alike = ours.dtype() == same.dtype() && ours.sizes() == same.sizes();
        let no_dimensions = case.inputs[0].sizes.is_empty();
        Ok(no_dimensions || (alike && values(&ours)? == values(&same)?))
    };
    match both() {
        Ok(true) => None,
        Ok(false) => Some("a number is not what a tensor of that number is".to_owned()),
        Err(api::Failure { message, .. }) => Some(format!("failed: {message}")),
    }
}

/// What is wrong with a case.
fn wrong(case: &Case, device: i32) -> Option<String> {
    if case.expected.as_ref().is_err_and(|text| text.contains("must be Tensor, not")) {
        return wrong_number(case, device);
    }
    match (&case.expected, call::call(case, device)) {
        (Ok(expected), Ok(ours)) if ours.len() == expected.len() => {
            let mut pairs = ours.iter().zip(expected).enumerate();
            pairs.find_map(|(place, (ours, expected))| {
                let text = wrong_result(&case.op, ours, expected, device)?;
                Some(format!("result {place}: {text}"))
            })
        }
        (Ok(expected), Ok(ours)) => Some(format!("{} results, not {}", ours.len(), expected.len())),
        (Ok(_), Err(failure)) => Some(format!("failed: {}", failure.message)),
        (Err(text), Ok(_)) => Some(format!("succeeded, but PyTorch says {text}")),
        (Err(text), Err(failure)) => {
            let message = failure.message;
            (!message.contains(text)).then(|| format!("says {message:?}, not {text:?}"))
        }
    }
}

fn describe(case: &Case) -> String {
    let shape = |tensor: &Recorded| {
        format!("type {} {:?} by {:?}", tensor.dtype, tensor.sizes, tensor.strides)
    };
    let inputs: Vec<String> = case.inputs.iter().map(shape).collect();
    format!("{:?} of {inputs:?}", case.attributes)
}

fn replay(name: &str, count: usize, device: i32) {
    let _one = testkit::places::alone();
    let before = sconce_tensor_live_count();
    let mut failures: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let cases = recording::read(name);
    assert_eq!(cases.len(), count);
    for (number, case) in cases.iter().enumerate() {
        let Some(text) = wrong(case, device) else { continue };
        let line = format!("  case {number}: {text}\n    {}", describe(case));
        failures.entry(&case.op).or_default().push(line);
    }
    assert_eq!(sconce_tensor_live_count(), before);
    let report: Vec<String> = failures
        .iter()
        .map(|(op, lines)| {
            let some: Vec<&str> = lines.iter().take(6).map(String::as_str).collect();
            format!("{op}: {} cases\n{}", lines.len(), some.join("\n"))
        })
        .collect();
    assert!(report.is_empty(), "{}", report.join("\n"));
}

#[test]
fn operations_on_the_cpu_are_pytorchs() {
    replay("operations", 1497, CPU);
}

#[test]
fn operations_on_a_device_are_pytorchs() {
    replay("operations", 1497, 0);
}

#[test]
fn results_on_the_cpu_lie_in_memory_as_pytorchs() {
    replay("layouts", 1600, CPU);
}

#[test]
fn results_on_a_device_lie_in_memory_as_pytorchs() {
    replay("layouts", 1600, 0);
}

#[test]
fn layouts_are_what_pytorch_says() {
    for layout in recording::classified() {
        let steps = layout.sizes.iter().zip(&layout.strides);
        let extent = 1 + steps.map(|(size, stride)| (size - 1).max(0) * stride).sum::<i64>();
        let memory = create::full(&[extent], api::integer(1), &api::options(-1, CPU)).unwrap();
        let tensor = memory.as_strided(&layout.sizes, &layout.strides, 0).unwrap();
        let context = format!("{:?} by {:?}", layout.sizes, layout.strides);
        let is_dense = tensor.is_contiguous(SCONCE_MEMORY_FORMAT_PRESERVE);
        assert_eq!(is_dense, layout.is_dense, "{context}");
        let formats = [
            (SCONCE_MEMORY_FORMAT_CONTIGUOUS, layout.sizes.len()),
            (SCONCE_MEMORY_FORMAT_CHANNELS_LAST, 4),
            (SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D, 5),
        ];
        for (format, _) in formats.into_iter().filter(|(_, rank)| *rank == layout.sizes.len()) {
            let expected = layout.contiguous_as.contains(&i64::from(format));
            assert_eq!(tensor.is_contiguous(format), expected, "{context} as {format}");
        }
    }
}
