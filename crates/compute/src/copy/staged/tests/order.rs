//! Copies among other work of their stream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sconce_runtime::stream::Stream;

use super::support::*;

const BYTES: usize = (9 << 20) + 5;

fn fill(stream: &Stream, memory: &Memory, value: u8) {
    runtime().driver().fill_async(memory.ptr, value, BYTES, stream.driver_ref()).unwrap();
}

/// Runs `copy` while the device stands still, then lets the device go step by step. Says whether the
/// copy had returned before.
fn step_by_step(copy: impl FnOnce() + Send) -> bool {
    let (done, mut early) = (AtomicBool::new(false), false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            copy();
            done.store(true, Ordering::Release);
        });
        std::thread::sleep(Duration::from_millis(60));
        early = done.load(Ordering::Acquire);
        while !done.load(Ordering::Acquire) {
            simulator().run_until_idle();
            std::thread::yield_now();
        }
    });
    simulator().set_manual(false);
    early
}

#[test]
fn transfers_to_the_device_are_after_earlier_and_before_later_work() {
    let _turn = turn();
    let (stream, memory) = (pool_stream(), Memory::new(BYTES));
    let source = pattern(3, BYTES);
    simulator().set_manual(true);
    fill(&stream, &memory, 0xEE);
    step_by_step(|| to_device(&stream, &memory, 0, &source).unwrap());
    assert!(memory.read(&stream, BYTES) == source, "an earlier fill came later");

    simulator().set_manual(true);
    step_by_step(|| to_device(&stream, &memory, 0, &source).unwrap());
    fill(&stream, &memory, 0xDD);
    assert!(memory.read(&stream, BYTES).iter().all(|byte| *byte == 0xDD));
}

#[test]
fn a_copy_to_the_host_waits_for_earlier_work() {
    let _turn = turn();
    let (stream, memory) = (pool_stream(), Memory::new(BYTES));
    let mut got = vec![0; BYTES];
    fill(&stream, &memory, 1);
    runtime().driver().stream_synchronize(stream.driver_ref()).unwrap();
    simulator().set_manual(true);
    fill(&stream, &memory, 2);
    let early = step_by_step(|| to_host(&stream, &mut got, &memory, 0).unwrap());
    assert!(!early);
    assert!(got.iter().all(|byte| *byte == 2));
}

#[test]
fn a_stream_that_stands_still_keeps_no_thread_from_other_copies() {
    let _turn = turn();
    let (late, other) = (pool_stream(), pool_stream());
    // More than fits into the slots, so that the copy cannot return early.
    let much = super::super::MOST_SLOTS * super::super::pieces::LARGEST + BYTES;
    let (slow, quick) = (Memory::new(much), Memory::new(BYTES));
    let (one, two) = (pattern(5, much), pattern(6, BYTES));
    // The next record sticks, and with it all that comes after it on the stream.
    simulator().stick_record(1);
    let event = sconce_runtime::event::NativeEvent::obtain(
        runtime(),
        late.device(),
        sconce_driver::EventFlags::default(),
    );
    let event = event.unwrap();
    runtime().driver().event_record(event.handle(), late.driver_ref()).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| to_device(&late, &slow, 0, &one));
        std::thread::sleep(Duration::from_millis(30));
        for _ in 0..5 {
            to_device(&other, &quick, 0, &two).unwrap();
            assert!(quick.read(&other, BYTES) == two);
        }
        assert!(!waiting.is_finished());
        simulator().clear_faults();
        waiting.join().unwrap().unwrap();
    });
    assert!(slow.read(&late, much) == one);
}

#[test]
fn copies_that_run_far_ahead_of_their_device_wait_for_it() {
    const SIZE: usize = 256 << 10;
    let _turn = turn();
    let (late, memory) = (pool_stream(), Memory::new(SIZE));
    let source = pattern(7, SIZE);
    sconce_runtime::host_memory::empty_cache().unwrap();
    simulator().stick_record(1);
    let event = sconce_runtime::event::NativeEvent::obtain(
        runtime(),
        late.device(),
        sconce_driver::EventFlags::default(),
    );
    runtime().driver().event_record(event.unwrap().handle(), late.driver_ref()).unwrap();
    let copied = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..1200 {
                to_device(&late, &memory, 0, &source).unwrap();
                copied.fetch_add(1, Ordering::Relaxed);
            }
        });
        // 256 MiB run ahead, however slow the machine is; then one copy waits.
        let give_up = std::time::Instant::now() + Duration::from_secs(60);
        while copied.load(Ordering::Relaxed) < 1024 && std::time::Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(100));
        let ahead = copied.load(Ordering::Relaxed);
        simulator().clear_faults();
        assert!((1024..=1030).contains(&ahead), "{ahead} copies ran ahead");
    });
    assert_eq!(copied.into_inner(), 1200);
}
