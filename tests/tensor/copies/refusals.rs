//! Copies and operations that are refused, in torch's words, with nothing written.

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::alone;

use crate::api::{CPU, Handle, Outcome, integer, real, refusal};
use crate::create::{from_f32, from_i32};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

const REPEATED: &str = "unsupported operation: more than one element of the written-to tensor refers to a single \
                        memory location. Please clone() the tensor before performing the operation.";
const SHARED: &str = "unsupported operation: some elements of the input tensor and the written-to tensor refer to \
                      a single memory location. Please clone() the tensor before performing the operation.";

#[track_caller]
fn refused<T>(outcome: Outcome<T>, text: &str) {
    let message = refusal(outcome);
    assert!(message.contains(text), "{message:?}\nis not\n{text:?}");
}

#[test]
fn shapes_that_do_not_fit() {
    let _one = alone();
    for device in [CPU, 0] {
        let tensor = from_i32(&[0; 6], &[2, 3], device);
        let text = "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1";
        refused(tensor.copy_from(&from_i32(&[1; 4], &[2, 2], device), false), text);
        let text = "output with shape [2, 3] doesn't match the broadcast shape [";
        refused(tensor.copy_from(&from_i32(&[1; 12], &[2, 2, 3], device), false), text);
        let one = from_i32(&[0], &[1], device);
        refused(
            one.copy_from(&from_i32(&[1; 2], &[2], device), false),
            "output with shape [1] doesn't match",
        );
        assert_eq!((tensor.i32s(), one.i32s()), (vec![0; 6], vec![0]));
    }
}

#[test]
fn memory_that_is_shared_in_part() {
    let _one = alone();
    for device in [CPU, 0] {
        let line = from_i32(&(0..8).collect::<Vec<i32>>(), &[8], device);
        let [low, high] = [0, 2].map(|start| line.narrow(0, start, 6).unwrap());
        refused(high.copy_from(&low, false), SHARED);
        refused(low.copy_from(&high, false), SHARED);
        let square = from_i32(&[1, 2, 3, 4], &[2, 2], device);
        refused(square.copy_from(&square.transpose(0, 1).unwrap(), false), SHARED);
        square.copy_from(&square.view(&[2, 2]).unwrap(), false).unwrap();
        let [first, second] = [0, 4].map(|start| line.narrow(0, start, 4).unwrap());
        second.copy_from(&first, false).unwrap();
        assert_eq!(line.i32s(), [0, 1, 2, 3, 0, 1, 2, 3]);
        let wide = from_i32(&[5], &[1], device).expand(&[3]).unwrap();
        refused(wide.copy_from(&from_i32(&[1; 3], &[3], device), false), REPEATED);
        refused(wide.fill(integer(1)), REPEATED);
        refused(operations::unary_into(SCONCE_UNARY_NEG, &high, &low), SHARED);
        refused(operations::unary_into(SCONCE_UNARY_NEG, &wide, &wide), REPEATED);
        let add = SCONCE_BINARY_ADD;
        refused(operations::binary_into(add, &low, Operand::Tensor(&high), &low), SHARED);
        refused(operations::binary_into(add, &wide, Operand::Number(integer(1)), &wide), REPEATED);
        assert_eq!((wide.i32s(), square.i32s()), (vec![5; 3], vec![1, 2, 3, 4]));
    }
}

#[test]
fn results_that_do_not_fit_into_the_given_tensor() {
    let _one = alone();
    for device in [CPU, 0] {
        let numbers = from_i32(&[1, 2], &[2], device);
        let add = SCONCE_BINARY_ADD;
        let half = Operand::Number(real(0.5));
        let text = "result type Float can't be cast to the desired output type Int";
        refused(operations::binary_into(add, &numbers, half, &numbers), text);
        let exp = SCONCE_UNARY_EXP;
        refused(operations::unary_into(exp, &numbers, &numbers), text);
        let wide = from_i32(&[1; 6], &[3, 2], device);
        let text = "doesn't match the broadcast shape [3, 2]";
        refused(operations::binary_into(add, &numbers, Operand::Tensor(&wide), &numbers), text);
        assert_eq!(numbers.i32s(), [1, 2]);
    }
}

#[track_caller]
fn apart<T: std::fmt::Debug>(outcome: Outcome<T>, first: &str, second: &str) {
    let failure = outcome.unwrap_err();
    assert_eq!(failure.status, SCONCE_ERROR_CROSS_DEVICE, "{}", failure.message);
    let text = "Expected all tensors to be on the same device, but found at least two devices, ";
    let message = failure.message;
    let named = |one: &str, other: &str| message.contains(&format!("{text}{one} and {other}!"));
    assert!(named(first, second) || named(second, first), "{message}");
}

#[test]
fn operations_across_devices() {
    let _one = alone();
    let start = Figures::now();
    let make = |device| from_f32(&[1.0, 2.0, 3.0, 4.0], &[2, 2], device);
    let names = [(0, "cuda:0"), (1, "cuda:1"), (CPU, "cpu")];
    for ((one, first), (other, second)) in
        names.iter().flat_map(|one| names.iter().map(move |other| (*one, *other)))
    {
        if one == other {
            continue;
        }
        let (a, b) = (make(one), make(other));
        let tensors = (Operand::Tensor(&a), Operand::Tensor(&b));
        for operation in [SCONCE_BINARY_ADD, SCONCE_BINARY_LT, SCONCE_BINARY_POW] {
            apart(operations::binary(operation, tensors.0, tensors.1), first, second);
        }
        apart(operations::clamp(&a, tensors.1, Operand::Missing), first, second);
        let condition =
            crate::create::from_bytes(&[1; 4], &[2, 2], SCONCE_DTYPE_BOOL, one).unwrap();
        apart(operations::choose(&condition, tensors.0, tensors.1), first, second);
        apart(operations::choose(&condition, tensors.1, tensors.1), first, second);
        apart(operations::cat(&[&a, &b], 0), first, second);
        apart(operations::stack(&[&a, &a, &b], 0), first, second);
        apart(operations::matmul(&a, &b), first, second);
        apart(operations::addmm(&a, &a, &b), first, second);
        apart(operations::addmm(&b, &a, &a), first, second);
        apart(operations::equal(&a, &b), first, second);
        let index = from_i32(&[0], &[1], other);
        apart(operations::index_select(&a, 0, &index), first, second);
        apart(operations::unary_into(SCONCE_UNARY_NEG, &a, &b), first, second);
        let own = Operand::Tensor(&a);
        apart(operations::binary_into(SCONCE_BINARY_ADD, &a, own, &b), first, second);
        assert_eq!(b.f32s(), [1.0, 2.0, 3.0, 4.0]);
    }
    start.assert_unchanged();
}

/// A tensor of the CPU without dimensions is as good as a number.
#[test]
fn tensors_of_the_cpu_without_dimensions_meet_those_of_a_device() {
    let _one = alone();
    let start = Figures::now();
    let tensor = from_f32(&[1.0, 2.0], &[2], 1);
    let two = from_f32(&[2.0], &[], CPU);
    let tensors: [(&Handle, &Handle); 2] = [(&tensor, &two), (&two, &tensor)];
    for (first, second) in tensors {
        let sum =
            operations::binary(SCONCE_BINARY_ADD, Operand::Tensor(first), Operand::Tensor(second));
        let sum = sum.unwrap();
        assert_eq!((sum.device(), sum.f32s()), (1, vec![3.0, 4.0]));
    }
    // One of a device does not meet those of another, nor one of the CPU with dimensions.
    let one = from_f32(&[2.0], &[], 0);
    let sum =
        operations::binary(SCONCE_BINARY_ADD, Operand::Tensor(&tensor), Operand::Tensor(&one));
    apart(sum, "cuda:1", "cuda:0");
    let line = from_f32(&[2.0], &[1], CPU);
    let sum =
        operations::binary(SCONCE_BINARY_ADD, Operand::Tensor(&line), Operand::Tensor(&tensor));
    apart(sum, "cpu", "cuda:1");
    drop((tensor, two, one, line));
    start.assert_unchanged();
}
