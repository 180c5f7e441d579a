//! Threads that repeat transforms while others change the cache: results are right, figures are those
//! of what was called, and nothing stays.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sconce::sconce_status::*;
use sconce::*;
use sconce_base::types::DeviceIndex;
use testkit::libraries::fft::{desc, fresh, rows, stats};
use testkit::libraries::repeats::{Block, Call};
use testkit::places::{alone, calls, own_stream};
use testkit::simulated;

/// What the driver has left of device 0, which is not waited for.
fn free_bytes() -> usize {
    let driver = simulated::runtime().driver();
    driver.memory_info(DeviceIndex::new(0).unwrap()).unwrap().free_bytes
}

/// Says that a thread is done, however it ended.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Lets each thread repeat its shapes so many times while others go on with `meanwhile`; says how often they
/// were transformed.
fn repeated(shapes: &[&[sconce_fft_desc]], times: usize, meanwhile: &[&(dyn Fn() + Sync)]) -> u64 {
    let running = AtomicUsize::new(shapes.len());
    std::thread::scope(|scope| {
        for (thread, shapes) in shapes.iter().enumerate() {
            let running = &running;
            scope.spawn(move || {
                let _done = Done(running);
                let stream = own_stream(0);
                let sides = [0, 1].map(|_| Block::new(64 << 10));
                let calls: Vec<Call> =
                    shapes.iter().map(|desc| Call::new(*desc, thread as u64)).collect();
                for turn in 0..times {
                    let call = &calls[turn / 5 % calls.len()];
                    if turn % 5 == 0 {
                        call.put(sides[0].start());
                    }
                    call.run(sides[0].start(), sides[1].start());
                    if turn % 5 == 4 {
                        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
                        call.check(sides[1].start(), "of a thread");
                        sides[1].fill(0xFF);
                    }
                }
            });
        }
        for act in meanwhile {
            let running = &running;
            scope.spawn(move || {
                while running.load(Ordering::Acquire) > 0 {
                    act();
                    std::thread::yield_now();
                }
            });
        }
    });
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    (shapes.len() * times) as u64
}

#[test]
fn hits_only_grow_and_none_is_lost_while_plans_leave() {
    let _alone = alone();
    fresh(0);
    let (before, one) = (AtomicUsize::new(0), [rows(16, 2)]);
    let polls = || {
        let hits = stats(0).hits as usize;
        let earlier = before.swap(hits, Ordering::Relaxed);
        assert!(hits >= earlier, "{hits} after {earlier}");
    };
    let clears = || {
        // So that a plan is often used again before it goes.
        std::thread::sleep(Duration::from_micros(200));
        assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
    };
    let all = repeated(&[&one, &one, &one], 1000, &[&polls, &clears]);
    let stats = stats(0);
    assert_eq!(stats.misses, calls("fft_plan"));
    assert_eq!(stats.hits + stats.misses, all);
    assert_eq!(stats.evictions, 0);
    fresh(0);
}

#[test]
fn threads_that_take_the_place_of_each_others_plans_get_their_results() {
    let _alone = alone();
    fresh(0);
    let mut divided = rows(12, 2);
    divided.normalization = SCONCE_FFT_NORM_BY_N;
    let (one, two) = ([rows(16, 2)], [divided]);
    assert_eq!(sconce_fft_cache_set_max_size(0, 1), SCONCE_OK);
    let all = repeated(&[&one, &two], 300, &[&|| assert!(stats(0).size <= 1)]);
    let stats = stats(0);
    assert_eq!(stats.misses, calls("fft_plan"));
    assert_eq!(stats.hits + stats.misses, all);
    assert_eq!((stats.size, stats.evictions), (1, stats.misses - 1));
    fresh(0);
}

#[test]
fn a_cache_that_changes_under_repeats_changes_no_result_and_keeps_nothing() {
    let _alone = alone();
    fresh(0);
    let large = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[16, 17, 16], 1);
    let mut divided = rows(12, 2);
    divided.normalization = SCONCE_FFT_NORM_BY_N;
    let (some, others) = ([rows(16, 2), large], [divided, rows(16, 2), rows(20, 1)]);
    let turn = AtomicUsize::new(0);
    let changes = || {
        let turn = turn.fetch_add(1, Ordering::Relaxed) as i64;
        assert_eq!(sconce_fft_cache_set_max_size(0, turn % 4), SCONCE_OK);
        assert_eq!(sconce_fft_cache_set_max_bytes(0, (turn / 3 % 5) << 16), SCONCE_OK);
        if turn % 5 == 0 {
            assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
        }
        if turn % 7 == 0 {
            assert_eq!(sconce_fft_cache_reset_stats(0), SCONCE_OK);
        }
        let stats = stats(0);
        assert!(stats.hits < 1 << 20, "negative: {}", stats.hits);
    };
    let all = repeated(&[&some, &others, &others], 200, &[&changes]);
    assert_eq!(calls("fft_execute"), all);
    assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
    let kept = free_bytes();
    // One that is not kept leaves what was there: none was forgotten that would go now.
    assert_eq!(sconce_fft_cache_set_max_size(0, 0), SCONCE_OK);
    let block = Block::new(4096);
    let taken = kept - free_bytes();
    Call::new(rows(24, 1), 1).goes(0, block.start(), block.start(), "the last");
    assert_eq!((stats(0).size, stats(0).bytes), (0, 0));
    assert_eq!(free_bytes(), kept - taken);
    fresh(0);
}
