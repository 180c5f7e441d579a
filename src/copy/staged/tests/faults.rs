//! Copies that fail: the error is told, and the next copy works.

use super::support::*;
use crate::context::Simulator;
use crate::types::DeviceIndex;

const BYTES: usize = (6 << 20) + 11;

/// Copies there and back, as far as it goes; what has arrived must be right.
fn attempt(memory: &Memory, source: &[u8]) -> [bool; 2] {
    let stream = default_stream();
    let there = to_device(&stream, memory, 0, source).is_ok();
    let mut back = vec![0; source.len()];
    let here = to_host(&stream, &mut back, memory, 0).is_ok();
    if there && here {
        assert!(back == source, "a copy that failed said that it had not");
    }
    [there, here]
}

#[test]
fn a_call_that_fails_is_told_once() {
    let _turn = turn();
    let (memory, source) = (Memory::new(BYTES), pattern(9, BYTES));
    assert_eq!(attempt(&memory, &source), [true, true]);
    for call in [Call::CopyAsync, Call::EventRecord, Call::EventQuery] {
        for nth in [1, 2, 3, 5] {
            simulator().fail_call(call, nth, Simulator::LAUNCH_FAILED);
            let [there, here] = attempt(&memory, &source);
            simulator().clear_faults();
            // As many pieces as are ready go at once: one transfer each way is certain. Other records
            // and queries may be those of pinned blocks, which are made again.
            let certain = match call {
                Call::CopyAsync => nth <= 2,
                Call::EventRecord => nth == 1,
                _ => false,
            };
            assert!(!certain || !(there && here), "{} {nth} was swallowed", call.name());
            assert_eq!(attempt(&memory, &source), [true, true], "after {} {nth}", call.name());
        }
    }
}

#[test]
fn whatever_call_fails_the_next_copy_works() {
    let _turn = turn();
    let (memory, source) = (Memory::new(BYTES), pattern(10, BYTES));
    for call in Call::ALL {
        for nth in 1..4 {
            simulator().fail_call(*call, nth, Simulator::LAUNCH_FAILED);
            attempt(&memory, &source);
            simulator().clear_faults();
            assert_eq!(attempt(&memory, &source), [true, true], "after {} {nth}", call.name());
        }
    }
}

#[test]
fn a_transfer_that_fails_on_the_device_is_told() {
    let _turn = turn();
    let (memory, source) = (Memory::new(BYTES), pattern(11, BYTES));
    for nth in [1, 4, 9] {
        simulator().fail_operation(Call::CopyAsync, nth, Simulator::ILLEGAL_ADDRESS);
        assert!(!attempt(&memory, &source)[1]);
        simulator().clear_faults();
        simulator().clear_device_error(DeviceIndex::ZERO).unwrap();
        assert_eq!(attempt(&memory, &source), [true, true]);
    }
}

#[test]
fn without_pinned_memory_the_driver_copies() {
    let _turn = turn();
    let (memory, source) = (Memory::new(BYTES), pattern(12, BYTES));
    crate::host_memory::empty_cache().unwrap();
    for nth in 1..400 {
        simulator().fail_call(Call::HostAlloc, nth, Simulator::OUT_OF_MEMORY);
    }
    assert_eq!(attempt(&memory, &source), [true, true]);
    simulator().clear_faults();
    assert_eq!(attempt(&memory, &source), [true, true]);
}
