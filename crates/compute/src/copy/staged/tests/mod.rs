//! Staged copies on the simulator.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod faults;
mod order;
mod speed;
mod support;

use sconce_base::types::DeviceIndex;
use sconce_driver::EventFlags;
use sconce_runtime::event::NativeEvent;

use super::MOST_SLOTS;
use super::pieces::{LARGEST, SMALLEST};
use support::*;

#[test]
fn every_byte_arrives_whatever_the_size_and_the_alignment() {
    let _turn = turn();
    let sizes = [
        1,
        SMALLEST + 1,
        4 * SMALLEST - 1,
        4 * SMALLEST,
        MOST_SLOTS * LARGEST - 1,
        MOST_SLOTS * LARGEST,
        MOST_SLOTS * LARGEST + 1,
        (5 << 20) + 4097,
        (33 << 20) + 7,
    ];
    for bytes in sizes {
        for (host, device) in [(0, 0), (1, 3), (63, 511)] {
            round_trip(&default_stream(), bytes, host, device);
        }
    }
}

#[test]
fn the_source_may_be_changed_as_soon_as_the_call_returns() {
    let _turn = turn();
    let memory = Memory::new(4 << 20);
    let mut source = pattern(1, 4 << 20);
    let wanted = source.clone();
    // It fits into the slots, so nothing is waited for.
    simulator().set_manual(true);
    to_device(&default_stream(), &memory, 0, &source).unwrap();
    source.fill(0xEE);
    let pending = simulator().pending(default_stream().driver_ref()).unwrap();
    simulator().set_manual(false);
    assert!(pending > 0, "nothing was pending, so nothing was tested");
    assert_eq!(memory.read(&default_stream(), 4 << 20), wanted);
}

#[test]
fn pinned_memory_of_pending_transfers_is_left_alone() {
    let _turn = turn();
    let bytes = 3 << 20;
    let (early, late) = (Memory::new(bytes), Memory::new(bytes));
    let (one, two) = (pattern(1, bytes), pattern(2, bytes));
    let (first, second) = (pool_stream(), pool_stream());
    // So that the cache has no other block.
    sconce_runtime::host_memory::empty_cache().unwrap();
    simulator().set_latency_ns(1_000_000);
    to_device(&first, &early, 0, &one).unwrap();
    to_device(&second, &late, 0, &two).unwrap();
    simulator().set_latency_ns(0);
    assert!(early.read(&first, bytes) == one, "the second copy wrote over what the first had");
    assert!(late.read(&second, bytes) == two);
}

#[test]
fn threads_copy_on_streams_of_their_own_at_the_same_time() {
    let _turn = turn();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let stream = pool_stream();
                for round in 0..6 {
                    round_trip(&stream, (3 << 20) + round * 70_001, round, 2 * round);
                }
            });
        }
    });
}

#[test]
fn pinned_memory_is_used_again() {
    let _turn = turn();
    let rest = || runtime().driver().device_synchronize(DeviceIndex::ZERO).unwrap();
    // How many transfers are under way depends on the machine. Two copies have no more than these, 20 have many more.
    let event = || NativeEvent::obtain(runtime(), DeviceIndex::ZERO, EventFlags::default());
    drop((0..3 * MOST_SLOTS).map(|_| event().unwrap()).collect::<Vec<_>>());
    // The copy to the device is under way when the copy back begins, so each has pinned memory of its own.
    simulator().set_latency_ns(20_000_000);
    round_trip(&default_stream(), 8 << 20, 0, 0);
    simulator().set_latency_ns(0);
    rest();
    simulator().reset_call_counts();
    for _ in 0..20 {
        round_trip(&default_stream(), 8 << 20, 0, 0);
        // A copy that is still under way on a slow machine would rightly be given memory of its own.
        rest();
    }
    assert_eq!(simulator().call_count(Call::HostAlloc), 0);
    assert_eq!(simulator().call_count(Call::EventCreate), 0);
}
