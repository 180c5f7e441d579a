//! When copies happen and when their calls return, shown on simulated devices that do nothing unless
//! they are stepped.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{
    Kind, Place, alone, copy, default_stream, own_stream, pattern, pending, run_until_idle, set,
    step_all,
};
use testkit::{in_child, last_message};

const BYTES: usize = 3000;
/// More than the simulated driver copies aside before it returns.
const LARGE: usize = 8 << 20;

fn manual(on: bool) {
    assert_eq!(sconce_sim_set_manual(on.into()), SCONCE_OK);
}

/// Runs `call` on a thread of its own and lets the devices work only once it is seen to wait for
/// the default stream of device 0.
#[track_caller]
fn returns_only_after_the_work(call: impl FnOnce() -> sconce_status + Send) {
    let returned = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let caller = scope.spawn(|| {
            let status = call();
            returned.store(true, Ordering::Release);
            status
        });
        let deadline = Instant::now() + Duration::from_secs(20);
        while pending(default_stream(0)) == 0 && !caller.is_finished() {
            assert!(Instant::now() < deadline, "nothing was queued");
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(20));
        let early = returned.load(Ordering::Acquire);
        while !caller.is_finished() {
            run_until_idle();
            std::thread::yield_now();
        }
        assert_eq!(caller.join().unwrap(), SCONCE_OK);
        assert!(!early, "the call returned before the work was done");
    });
}

/// An address that another thread may use.
#[derive(Clone, Copy)]
struct Address(usize);

impl Address {
    fn of(place: &Place) -> Address {
        Address(place.start() as usize)
    }

    fn get(self) -> *mut std::ffi::c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

#[test]
fn pinned_copies_that_do_not_block_happen_in_the_streams_order() {
    let _alone = alone();
    let stream = own_stream(0);
    let (pinned, device) = (Place::new(Kind::Pinned, BYTES), Place::new(Kind::Device(0), BYTES));
    let (second, back) = (Place::new(Kind::Device(0), BYTES), Place::new(Kind::Pinned, BYTES));
    manual(true);
    assert_eq!(copy(device.start(), pinned.start(), BYTES, true), SCONCE_OK);
    assert_eq!(copy(second.start(), device.start(), BYTES, false), SCONCE_OK);
    assert_eq!(set(device.start(), 0x77, BYTES), SCONCE_OK);
    assert_eq!(copy(back.start(), second.start(), BYTES, true), SCONCE_OK);
    assert_eq!(pending(stream), 4, "each is work of the current stream");
    // Written after the calls, and copied all the same: nothing has happened yet.
    pinned.write(&pattern(1, BYTES));
    assert_eq!(back.read(), vec![0; BYTES]);
    run_until_idle();
    assert!(back.read() == pattern(1, BYTES));
    manual(false);
    assert_eq!(device.read(), vec![0x77; BYTES]);
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}

#[test]
fn blocking_pinned_copies_return_when_they_are_done() {
    let _alone = alone();
    let pinned = Place::holding(Kind::Pinned, &pattern(4, BYTES));
    let (device, back) = (Place::new(Kind::Device(0), BYTES), Place::new(Kind::Pinned, BYTES));
    let [from, on, to] = [&pinned, &device, &back].map(Address::of);
    manual(true);
    returns_only_after_the_work(|| copy(on.get(), from.get(), BYTES, false));
    returns_only_after_the_work(|| copy(to.get(), on.get(), BYTES, false));
    assert!(back.read() == pattern(4, BYTES));
    manual(false);
}

#[test]
fn an_ordinary_source_may_be_changed_once_the_call_returns() {
    let _alone = alone();
    for bytes in [BYTES, LARGE] {
        let data = pattern(5, bytes);
        let source = Place::holding(Kind::Ordinary, &data);
        let device = Place::new(Kind::Device(0), bytes);
        let (from, on) = (Address::of(&source), Address::of(&device));
        manual(true);
        let upload = || {
            let status = copy(on.get(), from.get(), bytes, true);
            // SAFETY: the memory of `source`, which nobody else uses.
            unsafe { from.get().cast::<u8>().write_bytes(0xEE, bytes) };
            status
        };
        std::thread::scope(|scope| {
            let caller = scope.spawn(upload);
            while !caller.is_finished() {
                // What is small is read in the call, before anything happens.
                if bytes > BYTES {
                    run_until_idle();
                }
                std::thread::yield_now();
            }
            assert_eq!(caller.join().unwrap(), SCONCE_OK, "{}", last_message());
        });
        run_until_idle();
        manual(false);
        assert!(device.read() == data, "{bytes}");
    }
}

#[test]
fn a_blocking_copy_of_ordinary_memory_returns_when_it_is_done() {
    let _alone = alone();
    for bytes in [BYTES, LARGE] {
        let source = Place::holding(Kind::Ordinary, &pattern(6, bytes));
        let device = Place::new(Kind::Device(0), bytes);
        let (from, on) = (Address::of(&source), Address::of(&device));
        manual(true);
        returns_only_after_the_work(|| copy(on.get(), from.get(), bytes, false));
        assert_eq!(pending(default_stream(0)), 0);
        manual(false);
        assert!(device.read() == pattern(6, bytes));
    }
}

#[test]
fn ordinary_memory_is_written_when_the_call_returns_whatever_was_asked() {
    let _alone = alone();
    for (bytes, non_blocking) in [(BYTES, false), (BYTES, true), (LARGE, false), (LARGE, true)] {
        let device = Place::holding(Kind::Device(0), &pattern(8, bytes));
        let back = Place::new(Kind::Ordinary, bytes);
        let (on, to) = (Address::of(&device), Address::of(&back));
        manual(true);
        returns_only_after_the_work(|| copy(to.get(), on.get(), bytes, non_blocking));
        assert!(back.read() == pattern(8, bytes), "{bytes} {non_blocking}");
        manual(false);
    }
}

#[test]
fn copies_and_sets_on_a_device_never_wait_but_host_memory_is_done_at_once() {
    let _alone = alone();
    let (a, b) = (Place::new(Kind::Device(0), BYTES), Place::new(Kind::Device(0), BYTES));
    let pinned = Place::holding(Kind::Pinned, &pattern(2, BYTES));
    let ordinary = Place::new(Kind::Ordinary, BYTES);
    manual(true);
    assert_eq!(set(a.start(), 0x21, BYTES), SCONCE_OK);
    assert_eq!(copy(b.start(), a.start(), BYTES, false), SCONCE_OK);
    assert_eq!(pending(default_stream(0)), 2);
    assert_eq!(copy(ordinary.start(), pinned.start(), BYTES, true), SCONCE_OK);
    assert!(ordinary.read() == pattern(2, BYTES), "the calling thread copies");
    assert_eq!(set(pinned.start(), 0x44, BYTES), SCONCE_OK);
    assert_eq!(pinned.read(), vec![0x44; BYTES], "the calling thread sets");
    assert_eq!(pending(default_stream(0)), 2);
    assert_eq!(step_all(default_stream(0)), 2);
    manual(false);
    assert_eq!(b.read(), vec![0x21; BYTES]);
}

#[test]
fn the_stream_is_that_of_the_devices_side_not_of_the_current_device() {
    let _alone = alone();
    let pinned = Place::new(Kind::Pinned, BYTES);
    let device = Place::new(Kind::Device(1), BYTES);
    let stream = own_stream(1);
    manual(true);
    assert_eq!(copy(device.start(), pinned.start(), BYTES, true), SCONCE_OK);
    assert_eq!(copy(pinned.start(), device.start(), BYTES, true), SCONCE_OK);
    assert_eq!(copy(device.at(BYTES / 2), device.start(), BYTES / 2, true), SCONCE_OK);
    assert_eq!((pending(stream), pending(default_stream(0))), (3, 0));
    manual(false);
    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    assert_eq!(sconce_stream_set_current(default_stream(1)), SCONCE_OK);
}

/// Whether the stream is idle right after each call that only queues.
fn idle_after_calls() -> Vec<bool> {
    let _alone = alone();
    let pinned = Place::new(Kind::Pinned, BYTES);
    let places = [Kind::Device(0), Kind::Device(1)].map(|kind| Place::new(kind, BYTES));
    // Long enough to be still running when it is asked about.
    assert_eq!(sconce_sim_set_latency_ns(30_000_000), SCONCE_OK);
    let idle = |status: sconce_status| {
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        let mut done = false;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_stream_query(default_stream(0), &raw mut done) }, SCONCE_OK);
        done
    };
    let [here, there] = &places;
    let found = vec![
        idle(copy(here.start(), pinned.start(), BYTES, true)),
        idle(copy(pinned.start(), here.start(), BYTES, true)),
        idle(copy(here.at(BYTES / 2), here.start(), BYTES / 2, true)),
        idle(copy(there.start(), here.start(), BYTES, true)),
        idle(set(here.start(), 1, BYTES)),
    ];
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
    assert_eq!(sconce_sim_set_latency_ns(0), SCONCE_OK);
    found
}

#[test]
fn launch_blocking_makes_every_call_wait() {
    in_child("launch_blocking_makes_every_call_wait", &[("CUDA_LAUNCH_BLOCKING", "1")], || {
        assert_eq!(idle_after_calls(), [true; 5]);
    });
}

#[test]
fn otherwise_nothing_waits() {
    in_child("otherwise_nothing_waits", &[], || {
        assert_eq!(idle_after_calls(), [false; 5]);
    });
}
