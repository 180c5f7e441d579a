//! Memory lives as long as a tensor uses it.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce::*;
use testkit::places::{allocated, alone, default_stream, pooled};
use testkit::threads::{Xorshift, seconds};

use super::figures::Figures;
use crate::api::{CPU, Handle, options, outcome};
use crate::create::{empty, from_i32};

#[test]
fn views_keep_the_memory_of_a_device_until_the_last() {
    let _one = alone();
    let start = Figures::now();
    for device in [0, 1] {
        let before = allocated(device);
        let base = from_i32(&[1, 2, 3, 4, 5, 6], &[2, 3], device);
        let with_base = allocated(device);
        assert!(with_base > before);
        let row = base.select(0, 1).unwrap();
        let turned = base.transpose(0, 1).unwrap();
        let last = turned.narrow(0, 2, 1).unwrap();
        drop(base);
        drop(turned);
        assert_eq!((allocated(device), row.i32s()), (with_base, vec![4, 5, 6]));
        drop(row);
        assert_eq!((allocated(device), last.i32s()), (with_base, vec![3, 6]));
        std::thread::scope(|scope| scope.spawn(|| drop(last)).join().unwrap());
        assert_eq!(allocated(device), before);
    }
    start.assert_unchanged();
}

#[test]
fn views_keep_pinned_memory_until_the_last() {
    let _one = alone();
    let start = Figures::now();
    let options = sconce_tensor_options { pinned: CBool::TRUE, ..options(SCONCE_DTYPE_I32, CPU) };
    let base = empty(&[4], &options).unwrap();
    assert!(base.is_pinned());
    base.copy_from(&from_i32(&[7, 8, 9, 10], &[4], CPU), false).unwrap();
    assert_ne!(Figures::now(), start);
    let part = base.narrow(0, 2, 2).unwrap();
    drop(base);
    assert!(part.is_pinned());
    assert_eq!(part.i32s(), [9, 10]);
    std::thread::scope(|scope| scope.spawn(|| drop(part)).join().unwrap());
    start.assert_unchanged();
}

#[test]
fn views_keep_ordinary_memory_until_the_last() {
    let _one = alone();
    let start = Figures::now();
    let base = from_i32(&(0..1000).collect::<Vec<i32>>(), &[1000], CPU);
    let part = base.narrow(0, 990, 10).unwrap();
    drop(base);
    // Takes the memory's place if it was freed.
    let others: Vec<Handle> = (0..8).map(|_| from_i32(&[-1; 1000], &[1000], CPU)).collect();
    assert_eq!(part.i32s(), (990..1000).collect::<Vec<i32>>());
    drop((part, others));
    start.assert_unchanged();
}

#[test]
fn tensors_without_bytes_take_no_memory() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        let none = from_i32(&[], &[3, 0], device);
        assert_eq!((none.storage().1, none.bytes().unwrap()), (0, vec![]));
        assert_eq!(none.transpose(0, 1).unwrap().sizes(), [0, 3]);
        assert_eq!(allocated(0), 0);
    }
    start.assert_unchanged();
}

#[test]
fn assigning_gives_up_the_old_memory() {
    let _one = alone();
    let start = Figures::now();
    let (first, second) = (from_i32(&[1, 2], &[2], 0), from_i32(&[3], &[1], CPU));
    let view = first.again();
    outcome(sconce_tensor_assign(first.raw(), second.raw())).unwrap();
    assert_eq!(allocated(0), 0);
    assert_eq!((view.i32s(), view.device()), (vec![3], CPU));
    assert!(view.shares_storage(&second));
    outcome(sconce_tensor_assign(first.raw(), first.raw())).unwrap();
    assert_eq!(first.i32s(), [3]);
    drop((first, view, second));
    start.assert_unchanged();
}

/// Noted streams keep the memory from others until their work is done.
#[test]
fn recorded_streams_keep_memory_from_being_used_again() {
    let _one = alone();
    let start = Figures::now();
    let other = pooled(0);
    for records in [false, true] {
        let tensor = empty(&[1 << 20], &options(SCONCE_DTYPE_F32, 0)).unwrap();
        let address = tensor.data();
        assert_eq!(sconce_sim_set_manual(CBool::TRUE), sconce_status::SCONCE_OK);
        outcome(sconce_stream_sleep(other, 1000)).unwrap();
        if records {
            outcome(sconce_tensor_record_stream(tensor.raw(), other)).unwrap();
        }
        drop(tensor);
        let next = empty(&[1 << 20], &options(SCONCE_DTYPE_F32, 0)).unwrap();
        assert_eq!(next.data() == address, !records);
        assert_eq!(sconce_sim_set_manual(CBool::FALSE), sconce_status::SCONCE_OK);
        outcome(sconce_stream_synchronize(other)).unwrap();
        drop(next);
    }
    let host = from_i32(&[1], &[1], CPU);
    outcome(sconce_tensor_record_stream(host.raw(), default_stream(0))).unwrap();
    let none = from_i32(&[], &[0], 0);
    outcome(sconce_tensor_record_stream(none.raw(), default_stream(1))).unwrap();
    drop((host, none));
    // Blocks that waited for a stream are given back by the next call that looks.
    drop(empty(&[1 << 20], &options(SCONCE_DTYPE_F32, 0)).unwrap());
    start.assert_unchanged();
}

/// Threads that own, view, copy and release tensors of all places at once.
#[test]
fn threads_share_tensors() {
    let _one = alone();
    let start = Figures::now();
    let shared: Vec<Handle> = [CPU, 0, 1].map(|place| from_i32(&[1, 2, 3, 4], &[4], place)).into();
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 1..=4 {
            let (shared, ends) = (&shared, &ends);
            scope.spawn(move || {
                let mut random = Xorshift(seed);
                let mut own: Vec<Handle> = Vec::new();
                while !ends.load(Ordering::Relaxed) {
                    let tensor = &shared[random.below(shared.len())];
                    match random.below(5) {
                        0 => own.push(tensor.again()),
                        1 => own.push(tensor.narrow(0, 0, 4).unwrap()),
                        2 => own.push(tensor.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE).unwrap()),
                        3 => own.push(tensor.to(&options(-1, CPU), false).unwrap()),
                        _ if own.is_empty() => {}
                        _ => {
                            let place = random.below(own.len());
                            let tensor = own.swap_remove(place);
                            assert_eq!(tensor.i32s(), [1, 2, 3, 4]);
                        }
                    }
                    if own.len() > 20 {
                        own.truncate(10);
                    }
                }
            });
        }
        std::thread::sleep(seconds(0.5));
        ends.store(true, Ordering::Relaxed);
    });
    drop(shared);
    start.assert_unchanged();
}
