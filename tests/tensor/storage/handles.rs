//! Handles: counted, and dead once their last owner has released them.

use std::ptr::without_provenance_mut;
use std::sync::mpsc::sync_channel;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::alone;

use super::figures::Figures;
use crate::api::{self, CPU, Handle, options, outcome, returned};
use crate::create::{empty, from_i32};
use crate::operations::{self, Operand};

fn dead(tensor: *mut sconce_tensor) {
    let mut rank = 77;
    // SAFETY: a writable place.
    let status = unsafe { sconce_tensor_get_rank(tensor, &raw mut rank) };
    assert_eq!((status, rank), (SCONCE_ERROR_INVALID_HANDLE, 77));
    assert!(last_message().contains("tensor is "), "{}", last_message());
    assert_eq!(sconce_tensor_retain(tensor), SCONCE_ERROR_INVALID_HANDLE);
    assert_eq!(sconce_tensor_assign(tensor, tensor), SCONCE_ERROR_INVALID_HANDLE);
}

#[test]
fn a_handle_is_dead_after_its_last_owner() {
    let _one = alone();
    let start = Figures::now();
    let tensor = from_i32(&[1, 2], &[2], CPU).into_raw();
    assert_eq!(sconce_tensor_retain(tensor), SCONCE_OK);
    assert_eq!(sconce_tensor_release(tensor), SCONCE_OK);
    // SAFETY: a writable place.
    let rank = api::written(0, |out| unsafe { sconce_tensor_get_rank(tensor, out) }).unwrap();
    assert_eq!((rank, sconce_tensor_live_count()), (1, 1));
    assert_eq!(sconce_tensor_release(tensor), SCONCE_OK);
    assert_eq!(sconce_tensor_live_count(), 0);
    dead(tensor);
    assert_eq!(sconce_tensor_release(tensor), SCONCE_ERROR_INVALID_HANDLE);
    let text = "tensor is not a tensor: it was released already, or never returned by this library";
    assert!(last_message().contains(text), "{}", last_message());
    // Its place is used again, under another number.
    let others: Vec<Handle> = (0..100).map(|at| from_i32(&[at], &[1], CPU)).collect();
    assert!(others.iter().all(|other| other.raw() != tensor));
    dead(tensor);
    assert_eq!(sconce_tensor_release(tensor), SCONCE_ERROR_INVALID_HANDLE);
    drop(others);
    start.assert_unchanged();
}

#[test]
fn numbers_that_are_no_handles_are_refused() {
    let _one = alone();
    let keeps = from_i32(&[1], &[1], CPU);
    let good = keeps.raw() as usize;
    for bits in [1, 8, 1 << 32, (1 << 32) | 1, 0xdead_beef, usize::MAX, good + 1, good ^ (2 << 32)]
    {
        if bits == good {
            continue;
        }
        let tensor = without_provenance_mut(bits);
        dead(tensor);
        assert_eq!(sconce_tensor_release(tensor), SCONCE_ERROR_INVALID_HANDLE, "{bits:#x}");
    }
    assert_eq!(sconce_tensor_release(std::ptr::null_mut()), SCONCE_OK);
    dead(std::ptr::null_mut());
    assert!(last_message().contains("get one from"), "{}", last_message());
    assert_eq!(keeps.i32s(), [1]);
}

#[test]
fn an_undefined_tensor_has_a_handle_and_nothing_else() {
    let _one = alone();
    let start = Figures::now();
    // SAFETY: a writable place.
    let undefined = returned(|out| unsafe { sconce_tensor_undefined(out) }).unwrap();
    assert!(!undefined.is_defined());
    assert_eq!(sconce_tensor_live_count(), 1);
    let text = "tensor is an undefined tensor; pass one that has memory";
    // SAFETY: `out` is a writable number.
    let asked = [
        api::written(7, |out| unsafe { sconce_tensor_get_dtype(undefined.raw(), out) }),
        // SAFETY: `out` is a writable number.
        api::written(7, |out| unsafe { sconce_tensor_get_device(undefined.raw(), out) }),
    ];
    for outcome in asked {
        assert!(api::refusal(outcome).contains(text));
    }
    for outcome in [
        undefined.view(&[1]),
        undefined.select(0, 0),
        undefined.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE),
        undefined.to(&options(-1, CPU), false),
        operations::unary(SCONCE_UNARY_NEG, &undefined),
        operations::binary(
            SCONCE_BINARY_ADD,
            Operand::Tensor(&undefined),
            Operand::Number(api::integer(1)),
        ),
    ] {
        assert!(api::refusal(outcome).contains("is an undefined tensor"));
    }
    assert!(api::refusal(undefined.item()).contains(text));
    let other = from_i32(&[4], &[1], CPU);
    assert!(
        api::refusal(operations::cat(&[&other, &undefined], 0))
            .contains("tensors[1] is an undefined")
    );
    let again = undefined.again();
    outcome(sconce_tensor_assign(undefined.raw(), other.raw())).unwrap();
    assert!(again.is_defined());
    assert_eq!(again.i32s(), [4]);
    // SAFETY: a writable place.
    let nothing = returned(|out| unsafe { sconce_tensor_undefined(out) }).unwrap();
    outcome(sconce_tensor_assign(other.raw(), nothing.raw())).unwrap();
    assert!(!other.is_defined());
    drop((undefined, other, again, nothing));
    start.assert_unchanged();
}

/// A call that uses a tensor works on, or says that the tensor is gone.
#[test]
fn a_tensor_may_be_released_while_another_thread_uses_it() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        let (sender, receiver) = sync_channel::<usize>(1);
        let user = std::thread::spawn(move || {
            let (mut used, mut gone) = (0, 0);
            for bits in receiver {
                let tensor = without_provenance_mut(bits);
                let mut values = [0_i32; 64];
                let room = values.as_mut_ptr().cast();
                // SAFETY: the call is passed the room's size.
                let status = unsafe { sconce_tensor_to_values(tensor, room, 256) };
                match status {
                    SCONCE_OK => {
                        used += 1;
                        let first = values[0];
                        assert!(
                            values
                                .iter()
                                .enumerate()
                                .all(|(at, value)| *value == first + at as i32)
                        );
                    }
                    SCONCE_ERROR_INVALID_HANDLE => gone += 1,
                    other => panic!("{other:?}: {}", last_message()),
                }
            }
            (used, gone)
        });
        for round in 0..3000 {
            let values: Vec<i32> = (round..round + 64).collect();
            let tensor = from_i32(&values, &[64], device);
            sender.send(tensor.raw() as usize).unwrap();
            if round % 3 == 0 {
                std::thread::yield_now();
            }
            drop(tensor);
        }
        drop(sender);
        let (used, gone) = user.join().unwrap();
        assert_eq!(used + gone, 3000);
        println!("device {device}: {used} used, {gone} gone");
    }
    start.assert_unchanged();
}

#[test]
fn many_tensors_live_at_once() {
    let _one = alone();
    let start = Figures::now();
    let tensors: Vec<Handle> =
        (0..5000).map(|_| empty(&[0], &options(SCONCE_DTYPE_F32, CPU)).unwrap()).collect();
    assert_eq!(sconce_tensor_live_count(), 5000);
    drop(tensors);
    start.assert_unchanged();
}
