//! When copies with shapes happen, what captures hold of them, and what a failing driver leaves behind.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::sync::atomic::{AtomicBool, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{
    self, KINDS, Kind, Place, alone, calls, copy, default_stream, inject, own_stream, pattern,
    pending, run_until_idle, set,
};
use testkit::shapes::{Axis, rows, strided};

/// Bytes of a transposed matrix of 60 by 50 words.
const BYTES: usize = 12_000;
const TRANSPOSED: [Axis; 2] = [(60, 1, 50), (50, 60, 1)];
/// Every other word.
const GAPS_IN_DST: [Axis; 1] = [(1000, 2, 1)];
const GAPS_IN_SRC: [Axis; 1] = [(1000, 1, 2)];
/// `CUDA_ERROR_UNKNOWN`.
const UNKNOWN: i32 = 999;

fn transposed(data: &[u8]) -> Vec<u8> {
    let word = |row: usize, column: usize| &data[(row * 50 + column) * 4..][..4];
    (0..50).flat_map(|column| (0..60).flat_map(move |row| word(row, column).to_vec())).collect()
}

/// Devices that do nothing unless they are stepped; also a failing test lets them go on, so that its
/// memory can be freed.
struct Manual;

impl Manual {
    fn begin() -> Manual {
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        Manual
    }
}

impl Drop for Manual {
    fn drop(&mut self) {
        assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    }
}

fn set_peers(allowed: bool) {
    for (device, peer) in [(0, 1), (1, 0)] {
        assert_eq!(sconce_sim_set_peer_access(device, peer, allowed.into()), SCONCE_OK);
    }
}

fn reset_streams() {
    for device in [0, 1] {
        assert_eq!(sconce_stream_set_current(default_stream(device)), SCONCE_OK);
    }
}

/// Memory that the library has handed out and not got back: of both devices, and pinned. What is
/// queued has ended.
fn in_use() -> (i64, i64) {
    // Looks at what freed blocks waited for.
    sconce_runtime::host_memory::empty_cache().unwrap();
    let device = |index| sconce_runtime::memory::stats(index).unwrap().allocated_bytes.all.current;
    let pinned = sconce_runtime::host_memory::stats().unwrap().active_requests.current;
    (device(0) + device(1), pinned)
}

#[test]
fn copies_on_devices_and_packed_pinned_ones_are_queued_in_order() {
    let _alone = alone();
    let data = pattern(1, BYTES);
    let [pinned, back] = [Place::holding(Kind::Pinned, &data), Place::new(Kind::Pinned, BYTES)];
    let [a, b] = [0, 0].map(|index| Place::new(Kind::Device(index), BYTES));
    let stream = own_stream(0);
    let by_hand = Manual::begin();
    let through = |dst: &Place, src: &Place| {
        let status = strided(&TRANSPOSED, 4, dst.start(), src.start(), true);
        assert_eq!(status, SCONCE_OK, "{}", last_message());
    };
    through(&a, &pinned);
    assert_eq!(copy(b.start(), a.start(), BYTES, true), SCONCE_OK);
    assert_eq!(set(a.start(), 0, BYTES), SCONCE_OK);
    through(&back, &b);
    assert!(pending(stream) >= 6);
    assert_eq!(back.read(), vec![0; BYTES]);
    run_until_idle();
    drop(by_hand);
    assert!(back.read() == transposed(&transposed(&data)));
    assert!(transposed(&data) != data && in_use() == (0, 0));
    reset_streams();
}

#[test]
fn a_copy_between_devices_comes_after_and_before_the_work_of_both_streams() {
    let _alone = alone();
    for peers in [true, false] {
        set_peers(peers);
        let data = pattern(2, BYTES);
        let pinned = Place::holding(Kind::Pinned, &data);
        let [before, after] = [0, 1].map(|_| Place::new(Kind::Pinned, BYTES));
        let [here, there] = [0, 1].map(|index| Place::new(Kind::Device(index), BYTES));
        there.fill(0x77);
        let [first, second] = [0, 1].map(own_stream);
        // What is loaded and made at first use is there already.
        let status = strided(&TRANSPOSED, 4, there.start(), here.start(), true);
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        assert_eq!(sconce_stream_synchronize(second), SCONCE_OK);
        there.fill(0x77);
        for nearer_first in [true, false] {
            there.fill(0x77);
            let by_hand = Manual::begin();
            assert_eq!(copy(before.start(), there.start(), BYTES, true), SCONCE_OK);
            assert_eq!(copy(here.start(), pinned.start(), BYTES, true), SCONCE_OK);
            let status = strided(&TRANSPOSED, 4, there.start(), here.start(), true);
            assert_eq!(status, SCONCE_OK, "{}", last_message());
            assert_eq!(set(here.start(), 0, BYTES), SCONCE_OK);
            assert_eq!(copy(after.start(), there.start(), BYTES, true), SCONCE_OK);
            for stream in if nearer_first { [first, second] } else { [second, first] } {
                places::step_all(stream);
            }
            run_until_idle();
            drop(by_hand);
            assert!(before.read() == vec![0x77; BYTES], "overwritten before it was read");
            assert!(after.read() == transposed(&data), "peers: {peers}");
        }
        reset_streams();
    }
    assert_eq!(in_use(), (0, 0));
}

#[test]
fn without_peer_access_the_sources_stream_goes_on_when_all_is_written() {
    let _alone = alone();
    set_peers(false);
    let [here, there] = [0, 1].map(|index| Place::new(Kind::Device(index), BYTES));
    let [first, second] = [0, 1].map(own_stream);
    let copy_once = || strided(&TRANSPOSED, 4, there.start(), here.start(), true);
    assert_eq!(copy_once(), SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_stream_synchronize(first), SCONCE_OK);
    let by_hand = Manual::begin();
    assert_eq!(copy_once(), SCONCE_OK, "{}", last_message());
    // The one has nothing before it, and the other what the first has copied.
    places::step_all(second);
    places::step_all(first);
    assert!(pending(first) > 0, "what is written on the second device is still to come");
    places::step_all(second);
    places::step_all(first);
    assert_eq!((pending(first), pending(second)), (0, 0));
    drop(by_hand);
    reset_streams();
}

#[test]
fn a_copy_whose_host_memory_is_not_packed_waits_and_no_other_does() {
    let _alone = alone();
    let host = Place::holding(Kind::Pinned, &pattern(3, BYTES));
    let device = Place::holding(Kind::Device(0), &pattern(4, BYTES));
    let stream = own_stream(0);
    let (to, from) = (device.start() as usize, host.start() as usize);
    let at = std::ptr::with_exposed_provenance_mut;
    let copies: [(bool, &(dyn Fn() -> sconce_status + Sync)); 4] = [
        (false, &|| strided(&GAPS_IN_DST, 4, at(to), at(from), true)),
        (true, &|| strided(&GAPS_IN_SRC, 4, at(to), at(from), true)),
        (false, &|| strided(&GAPS_IN_SRC, 4, at(from), at(to), true)),
        (true, &|| strided(&GAPS_IN_DST, 4, at(from), at(to), true)),
    ];
    for (waits, copy_once) in copies {
        assert_eq!(copy_once(), SCONCE_OK, "{}", last_message());
        let by_hand = Manual::begin();
        let returned = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let caller = scope.spawn(|| {
                assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
                let status = copy_once();
                returned.store(true, Ordering::Release);
                status
            });
            while pending(stream) == 0 {
                std::thread::yield_now();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert_eq!(returned.load(Ordering::Acquire), !waits);
            while !caller.is_finished() {
                run_until_idle();
            }
            assert_eq!(caller.join().unwrap(), SCONCE_OK);
        });
        run_until_idle();
        drop(by_hand);
    }
    assert_eq!(in_use(), (0, 0));
    reset_streams();
}

#[test]
fn copies_read_what_queued_work_writes_and_overwrite_what_it_has_read() {
    let _alone = alone();
    let (old, new) = (vec![0x33; BYTES], pattern(5, BYTES));
    let repeated: [Axis; 2] = [(30, 50, 0), (50, 1, 2)];
    for (from, to) in KINDS.iter().flat_map(|from| KINDS.map(|to| (*from, to))) {
        let (device, on_host) = match (from, to) {
            (Kind::Device(index), _) | (_, Kind::Device(index)) => (index, false),
            _ => (0, true),
        };
        for axes in [TRANSPOSED.as_slice(), &GAPS_IN_DST, &GAPS_IN_SRC, &repeated] {
            for non_blocking in [false, true] {
                let [model, target] = [Kind::Ordinary, to].map(|kind| Place::holding(kind, &old));
                let source = Place::holding(from, &new);
                let status = strided(axes, 4, model.start(), source.start(), false);
                assert_eq!(status, SCONCE_OK, "{}", last_message());
                let place = |kind| if kind == Kind::Pinned { Kind::Device(device) } else { kind };
                let writer = Place::holding(place(from), &new);
                let reader = Place::new(place(to), BYTES);
                let streams = [0, 1].map(own_stream);
                let is_pending = |kind| kind != Kind::Ordinary && !on_host;
                if is_pending(from) {
                    source.fill(0);
                }
                for stream in streams {
                    assert_eq!(sconce_stream_sleep(stream, 1_500_000), SCONCE_OK);
                }
                if is_pending(from) {
                    assert_eq!(copy(source.start(), writer.start(), BYTES, true), SCONCE_OK);
                }
                if is_pending(to) {
                    assert_eq!(copy(reader.start(), target.start(), BYTES, true), SCONCE_OK);
                }
                let status = strided(axes, 4, target.start(), source.start(), non_blocking);
                assert_eq!(status, SCONCE_OK, "{}", last_message());
                for stream in streams {
                    assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
                }
                let context = format!("{from:?} to {to:?}, {axes:?}, {non_blocking}");
                assert!(target.read() == model.read(), "{context}");
                assert!(!is_pending(to) || reader.read() == old, "overwritten early: {context}");
                reset_streams();
            }
        }
    }
}

#[test]
fn captures_hold_what_need_not_wait_and_refuse_the_rest_unspoilt() {
    let _alone = alone();
    let [ordinary, pinned, device, _] = KINDS.map(|kind| Place::new(kind, BYTES));
    let other = Place::new(Kind::Device(0), BYTES);
    for place in [&ordinary, &pinned, &device, &other] {
        place.fill(0x11);
    }
    let copy_all = |axes: &[Axis], dst: &Place, src: &Place, non_blocking| {
        strided(axes, 4, dst.start(), src.start(), non_blocking)
    };
    // What is loaded and made at first use is there already.
    assert_eq!(copy_all(&TRANSPOSED, &device, &pinned, false), SCONCE_OK);
    device.fill(0x22);
    let stream = own_stream(0);
    assert_eq!(sconce_sim_begin_capture(stream, 0), SCONCE_OK);
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    let refused = |status, reason| {
        assert_eq!(status, SCONCE_ERROR_INVALID_STATE, "{}", last_message());
        assert!(last_message().contains(reason), "{}", last_message());
    };
    for axes in [TRANSPOSED.as_slice(), &GAPS_IN_DST] {
        refused(copy_all(axes, &device, &ordinary, true), "pinned");
        refused(copy_all(axes, &device, &pinned, false), "non_blocking");
    }
    refused(copy_all(&TRANSPOSED, &ordinary, &device, true), "pinned");
    refused(copy_all(&GAPS_IN_SRC, &device, &pinned, true), "not packed");
    refused(copy_all(&GAPS_IN_DST, &pinned, &device, true), "not packed");
    let (there, here) = ((device.start(), 100), (pinned.start(), 120));
    refused(rows(there, here, 80, 90, false), "non_blocking");
    refused(rows(there, (ordinary.start(), 120), 80, 90, true), "pinned");
    for call in ["copy_async", "copy_2d_async", "kernel_launch"] {
        assert_eq!(calls(call), 0, "{call}");
    }
    assert_eq!(copy_all(&TRANSPOSED, &device, &other, false), SCONCE_OK, "{}", last_message());
    assert_eq!(copy_all(&TRANSPOSED, &device, &pinned, true), SCONCE_OK, "{}", last_message());
    assert_eq!(copy_all(&TRANSPOSED, &pinned, &other, true), SCONCE_OK, "{}", last_message());
    assert_eq!(rows(there, here, 80, 90, true), SCONCE_OK, "{}", last_message());
    let from_other = (other.start(), 120);
    assert_eq!(rows(there, from_other, 80, 90, false), SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_sim_end_capture(stream), SCONCE_OK, "spoilt: {}", last_message());
    assert!(device.read() == vec![0x22; BYTES] && pinned.read() == vec![0x11; BYTES]);
    assert_eq!(in_use(), (0, 0));
    reset_streams();
}

#[test]
fn every_failure_is_told_and_leaves_nothing_behind() {
    let _alone = alone();
    let streams = [0, 1].map(own_stream);
    let mut struck = std::collections::BTreeSet::new();
    for (from, to) in KINDS.iter().flat_map(|from| KINDS.map(|to| (*from, to))) {
        let (dst, src) = (Place::new(to, BYTES), Place::new(from, BYTES));
        for axes in [TRANSPOSED.as_slice(), &GAPS_IN_DST, &GAPS_IN_SRC] {
            for call in [
                "pointer_info",
                "stream_is_capturing",
                "event_create",
                "event_record",
                "stream_wait_event",
                "copy_async",
                "copy_peer_async",
                "kernel_launch",
                "stream_synchronize",
            ] {
                for nth in 1.. {
                    assert!(nth < 30, "{call} is called for ever");
                    set_peers(call == "event_record");
                    inject(call, nth, UNKNOWN);
                    let status = strided(axes, 4, dst.start(), src.start(), false);
                    assert_eq!(sconce_sim_clear_faults(), SCONCE_OK);
                    for stream in streams {
                        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
                    }
                    assert_eq!(in_use(), (0, 0), "{call} {nth} from {from:?} to {to:?}");
                    if status == SCONCE_OK {
                        break;
                    }
                    assert_eq!(status, SCONCE_ERROR_DRIVER, "{call} {nth}: {}", last_message());
                    let again = strided(axes, 4, dst.start(), src.start(), true);
                    assert_eq!(again, SCONCE_OK, "{call} {nth}, again: {}", last_message());
                    struck.insert(call);
                }
            }
        }
    }
    assert!(struck.len() >= 8, "{struck:?}");
    reset_streams();
}
