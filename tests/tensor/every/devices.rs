//! Every operation of several tensors, on several devices: refused with torch's text, and nothing is written.

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::alone;

use super::operations::{ALL, Tensors};
use crate::api::{CPU, Failure, Handle, Outcome};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

fn named(device: i32) -> String {
    if device == CPU { "cpu".to_owned() } else { format!("cuda:{device}") }
}

/// What is wrong with the outcome of work across devices.
fn wrong<T>(outcome: Outcome<T>, devices: [i32; 2]) -> Option<String> {
    let Err(Failure { status, message }) = outcome else { return Some("it worked".to_owned()) };
    let [first, second] = devices.map(named);
    let text = "Expected all tensors to be on the same device, but found at least two devices, ";
    let either = [format!("{first} and {second}!"), format!("{second} and {first}!")];
    let says = either.iter().any(|pair| message.contains(&format!("{text}{pair}")));
    (status != SCONCE_ERROR_CROSS_DEVICE || !says).then(|| format!("{status:?}: {message}"))
}

const PLACES: [[i32; 2]; 4] = [[0, 1], [1, 0], [0, CPU], [CPU, 1]];

#[test]
fn operations_across_devices_are_refused() {
    let _alone = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    for devices in PLACES {
        for (number, operation) in ALL.iter().enumerate().filter(|(_, each)| each.meets) {
            let tensors = Tensors::new(devices[0], devices[1]);
            let read = |tensors: &Tensors| {
                [&tensors.matrix, &tensors.second].map(|tensor| tensor.bytes().unwrap())
            };
            let before = read(&tensors);
            let text = wrong((operation.call)(&tensors), devices)
                .or_else(|| (read(&tensors) != before).then(|| "it wrote".to_owned()));
            problems.extend(
                text.map(|text| format!("{} ({number}) {devices:?}: {text}", operation.name)),
            );
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    start.assert_unchanged();
}

type Two = fn(&Handle, &Handle, i32) -> Outcome<Handle>;

/// Each of the binary operations, with new results and in place, and the bounds and branches.
#[test]
fn every_binary_operation_across_devices_is_refused() {
    let _alone = alone();
    let start = Figures::now();
    let mut problems = Vec::new();
    let forms: [(&str, Two); 4] = [
        ("binary", |a, b, operation| {
            operations::binary(operation, Operand::Tensor(a), Operand::Tensor(b))
        }),
        ("in place", |a, b, operation| {
            operations::binary_into(operation, a, Operand::Tensor(b), a).map(|()| a.again())
        }),
        ("into another device's", |a, b, operation| {
            operations::binary_into(operation, a, Operand::Tensor(a), b).map(|()| a.again())
        }),
        ("numbers into another device's", |a, b, operation| {
            let number = match a.dtype() {
                SCONCE_DTYPE_BOOL => crate::api::truth(true),
                _ => crate::api::integer(2),
            };
            let number = Operand::Number(number);
            operations::binary_into(operation, a, number, b).map(|()| a.again())
        }),
    ];
    for devices in PLACES {
        for operation in SCONCE_BINARY_ADD..=SCONCE_BINARY_LOGICAL_XOR {
            let dtype =
                if operation < SCONCE_BINARY_EQ { SCONCE_DTYPE_F32 } else { SCONCE_DTYPE_BOOL };
            let [first, second] = devices.map(|device| {
                let asked = crate::api::options(dtype, device);
                crate::create::full(&[3], crate::api::truth(true), &asked).unwrap()
            });
            for (form, call) in forms {
                let text = wrong(call(&first, &second, operation), devices);
                problems.extend(text.map(|text| format!("{form} {operation} {devices:?}: {text}")));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    start.assert_unchanged();
}

/// A tensor of the CPU without dimensions may meet tensors of a device, as an operand but not as the output.
#[test]
fn a_number_on_the_cpu_meets_every_device() {
    let _alone = alone();
    let start = Figures::now();
    for device in [0, 1] {
        let options = crate::api::options(SCONCE_DTYPE_F32, device);
        let there = crate::create::full(&[3], crate::api::real(1.5), &options).unwrap();
        let host = crate::api::options(SCONCE_DTYPE_F32, CPU);
        let number = crate::create::full(&[], crate::api::real(2.0), &host).unwrap();
        let (tensor, value) = (Operand::Tensor(&there), Operand::Tensor(&number));
        for pair in [(tensor, value), (value, tensor)] {
            let sum = operations::binary(SCONCE_BINARY_ADD, pair.0, pair.1).unwrap();
            assert_eq!((sum.device(), sum.f32s()), (device, vec![3.5; 3]));
        }
        let into = operations::binary_into(SCONCE_BINARY_ADD, &number, tensor, &number);
        assert!(into.is_err());
        assert_eq!(number.f32s(), [2.0]);
    }
    start.assert_unchanged();
}
