//! What copies and sets do with bytes: every pairing of memory, every refusal.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::{null_mut, without_provenance_mut};

use sconce::sconce_status::*;
use sconce::*;
use sconce_base::types::DeviceIndex;
use sconce_driver::{Access, RawAddress};
use testkit::last_message;
use testkit::places::{self, KINDS, Kind, Place, alone, calls, copy, pattern, set};
use testkit::simulated::runtime;

const MIB: usize = 1 << 20;
const SIZES: [usize; 6] = [0, 1, 777, MIB - 1, MIB + 1, 8 * MIB];
/// Where the copies begin, so that nothing is aligned by chance, and how much lies around.
const DST: usize = 3;
const SRC: usize = 5;
const AROUND: usize = 16;

fn synchronize() {
    for device in [0, 1] {
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
    }
}

#[test]
fn every_pairing_copies_just_the_bytes_that_are_meant() {
    let _alone = alone();
    let most = 8 * MIB + AROUND;
    let data = pattern(7, most);
    for from in KINDS {
        let src = Place::holding(from, &data);
        for to in KINDS {
            let dst = Place::new(to, most);
            for (bytes, non_blocking) in SIZES.iter().flat_map(|n| [(*n, false), (*n, true)]) {
                let what = format!("{bytes} bytes from {from:?} to {to:?}, {non_blocking}");
                dst.write(&vec![0xEE; (bytes + AROUND).min(most)]);
                let status = copy(dst.at(DST), src.at(SRC), bytes, non_blocking);
                assert_eq!(status, SCONCE_OK, "{what}: {}", last_message());
                synchronize();
                let got = dst.read();
                assert_eq!(got[..DST], [0xEE; DST], "{what}: before");
                assert!(got[DST..DST + bytes] == data[SRC..SRC + bytes], "{what}");
                assert_eq!(got[DST + bytes..bytes + AROUND], [0xEE; AROUND - DST], "{what}: after");
            }
        }
        assert!(src.read() == data, "the source changed");
    }
}

#[test]
fn nothing_is_copied_from_anywhere_to_anywhere() {
    let _alone = alone();
    for address in [0, 1, 0xdead_0000, usize::MAX] {
        let wild = without_provenance_mut(address);
        assert_eq!(copy(wild, wild, 0, false), SCONCE_OK);
        assert_eq!(copy(null_mut(), wild, 0, true), SCONCE_OK);
        assert_eq!(set(wild, 1, 0), SCONCE_OK);
    }
}

#[test]
fn null_is_named() {
    let _alone = alone();
    for kind in KINDS {
        let place = Place::new(kind, 8);
        assert_eq!(copy(null_mut(), place.start(), 8, false), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().contains("dst is NULL"), "{}", last_message());
        assert_eq!(copy(place.start(), null_mut(), 8, true), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().contains("src is NULL"), "{}", last_message());
    }
    assert_eq!(set(null_mut(), 1, 8), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("ptr is NULL"), "{}", last_message());
}

#[test]
fn ranges_that_leave_their_allocation_are_refused_before_anything_is_queued() {
    let _alone = alone();
    const BYTES: usize = 2 * MIB;
    let other = Place::new(Kind::Ordinary, 2 * BYTES);
    for kind in [Kind::Pinned, Kind::Device(0), Kind::Device(1)] {
        let place = Place::holding(kind, &pattern(1, BYTES));
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        // Far beyond what chance may have put behind it.
        for bytes in [usize::MAX / 2, usize::MAX] {
            for non_blocking in [false, true] {
                let status = copy(place.at(1), other.start(), bytes, non_blocking);
                assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{kind:?}");
                assert!(last_message().contains("dst"), "{}", last_message());
                let status = copy(other.start(), place.at(1), bytes, non_blocking);
                assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{kind:?}");
                let status = copy(place.start(), place.at(BYTES - 1), bytes, non_blocking);
                assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{kind:?}");
            }
            if kind != Kind::Device(1) {
                assert_eq!(set(place.at(1), 9, bytes), SCONCE_ERROR_INVALID_ARGUMENT, "{kind:?}");
            }
        }
        for call in ["copy_async", "copy_peer_async", "fill_async", "event_record"] {
            assert_eq!(calls(call), 0, "{call}");
        }
        assert!(place.read() == pattern(1, BYTES), "{kind:?}");
    }
}

#[test]
fn one_byte_too_many_is_seen() {
    let _alone = alone();
    let driver = runtime().driver();
    let one = DeviceIndex::new(1).unwrap();
    let unit = driver.virtual_granularity(DeviceIndex::ZERO).unwrap();
    let range = driver.virtual_reserve(4 * unit).unwrap();
    let memory = driver.physical_create(DeviceIndex::ZERO, unit, false).unwrap();
    let others = driver.physical_create(DeviceIndex::ZERO, unit, false).unwrap();
    let far = driver.physical_create(one, unit, false).unwrap();
    driver.virtual_map(range, unit, memory, 0).unwrap();
    driver.virtual_map(range.offset(2 * unit as u64), unit, far, 0).unwrap();
    driver.virtual_map(range.offset(unit as u64), unit, others, 0).unwrap();
    driver.virtual_set_access(range, 2 * unit, DeviceIndex::ZERO, Access::ReadWrite).unwrap();
    driver.virtual_set_access(range.offset(2 * unit as u64), unit, one, Access::ReadWrite).unwrap();
    let at = |distance: usize| without_provenance_mut(range.0 as usize + distance);
    let data = pattern(5, 2 * unit);
    let host = Place::holding(Kind::Ordinary, &pattern(5, 2 * unit + 1));
    let back = Place::new(Kind::Pinned, 2 * unit + 1);

    // Two mappings that adjoin are one range, and it ends where the next is of another device.
    assert_eq!(copy(at(0), host.start(), 2 * unit, false), SCONCE_OK, "{}", last_message());
    assert_eq!(copy(back.start(), at(0), 2 * unit, false), SCONCE_OK, "{}", last_message());
    assert!(back.read()[..2 * unit] == data);
    assert_eq!(copy(at(0), host.start(), 2 * unit + 1, false), SCONCE_ERROR_INVALID_ARGUMENT);
    assert_eq!(copy(back.start(), at(1), 2 * unit, true), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("src"), "{}", last_message());
    assert_eq!(set(at(1), 0, 2 * unit - 1), SCONCE_OK);
    assert_eq!(set(at(1), 0, 2 * unit), SCONCE_ERROR_INVALID_ARGUMENT);
    synchronize();

    driver.virtual_unmap(range.offset(2 * unit as u64), unit).unwrap();
    assert_eq!(copy(at(0), host.start(), 2 * unit + 1, false), SCONCE_ERROR_INVALID_ARGUMENT);
    assert_eq!(set(at(1), 0, 2 * unit), SCONCE_ERROR_INVALID_ARGUMENT, "nothing is there");
    synchronize();

    driver.virtual_unmap(range, 2 * unit).unwrap();
    for handle in [memory, others, far] {
        driver.physical_release(handle).unwrap();
    }
    driver.virtual_release(range, 4 * unit).unwrap();
}

#[test]
fn memory_pinned_in_pieces_is_one_range() {
    let _alone = alone();
    let driver = runtime().driver();
    const PIECE: usize = 1 << 16;
    let host = Place::new(Kind::Pinned, 8); // Starts the device's context.
    drop(host);
    let mut memory = vec![0_u8; 4 * PIECE];
    let start = (memory.as_mut_ptr() as usize).next_multiple_of(PIECE);
    // SAFETY: inside `memory`, which outlives the registration.
    let address = |distance| unsafe { RawAddress::from_caller(start + distance) };
    driver.host_register(DeviceIndex::ZERO, address(0), PIECE).unwrap();
    driver.host_register(DeviceIndex::ZERO, address(PIECE), PIECE).unwrap();
    let data = pattern(3, 2 * PIECE);
    let device = Place::holding(Kind::Device(0), &data);
    let host = std::ptr::with_exposed_provenance_mut(start);
    assert_eq!(copy(host, device.start(), 2 * PIECE, true), SCONCE_OK, "{}", last_message());
    synchronize();
    // SAFETY: inside `memory`.
    let got = unsafe { std::slice::from_raw_parts(start as *const u8, 2 * PIECE) };
    assert!(got == data);
    assert_eq!(copy(device.start(), host, 2 * PIECE, true), SCONCE_OK);
    synchronize();
    driver.host_unregister(start + PIECE).unwrap();
    let status = copy(device.start(), host, PIECE + 1, true);
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "half of it is no longer pinned");
    driver.host_unregister(start).unwrap();
}

#[test]
fn host_ranges_may_overlap() {
    let _alone = alone();
    for kind in [Kind::Ordinary, Kind::Pinned] {
        let data = pattern(9, 1000);
        let place = Place::holding(kind, &data);
        assert_eq!(copy(place.at(100), place.start(), 900, false), SCONCE_OK);
        assert!(place.read()[100..] == data[..900], "{kind:?}");
        place.write(&data);
        assert_eq!(copy(place.start(), place.at(100), 900, true), SCONCE_OK);
        assert!(place.read()[..900] == data[100..], "{kind:?}");
    }
    assert_eq!(calls("copy_async"), 0, "host memory needs no device");
}

#[test]
fn sets_reach_every_memory() {
    let _alone = alone();
    for kind in KINDS {
        let index = if let Kind::Device(index) = kind { index } else { 0 };
        let place = Place::holding(kind, &pattern(2, 3 * MIB));
        assert_eq!(sconce_device_set_current(index), SCONCE_OK);
        for bytes in SIZES.into_iter().filter(|bytes| *bytes < 3 * MIB) {
            place.fill(0xEE);
            assert_eq!(set(place.at(DST), 0x5A, bytes), SCONCE_OK, "{}", last_message());
            synchronize();
            let got = place.read();
            assert_eq!(got[..DST], [0xEE; DST]);
            assert!(got[DST..DST + bytes].iter().all(|byte| *byte == 0x5A), "{kind:?} {bytes}");
            assert_eq!(got[DST + bytes..DST + bytes + AROUND], [0xEE; AROUND]);
        }
    }
    assert_eq!(sconce_device_set_current(0), SCONCE_OK);
}

#[test]
fn the_current_device_and_streams_stay() {
    let _alone = alone();
    let places = KINDS.map(|kind| Place::new(kind, 4 * MIB));
    let streams = [0, 1].map(places::own_stream);
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    for current in [1, 0] {
        assert_eq!(sconce_device_set_current(current), SCONCE_OK);
        for (dst, src) in places.iter().flat_map(|a| places.iter().map(move |b| (a, b))) {
            for bytes in [8, 4 * MIB] {
                assert_eq!(copy(dst.start(), src.at(0), bytes, true), SCONCE_OK);
            }
        }
        let mut device = -7;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_device_get_current(&raw mut device) }, SCONCE_OK);
        assert_eq!(device, current);
        for stream in streams {
            let mut found = sconce_stream { id: -1, device: -1, reserved: -1 };
            // SAFETY: a good place.
            let status = unsafe { sconce_stream_get_current(stream.device, &raw mut found) };
            assert_eq!(status, SCONCE_OK);
            assert_eq!(found.id, stream.id);
        }
    }
    synchronize();
    assert_eq!(calls("bind_device") + calls("unbind_device"), 2, "the two switches of this test");
    for device in [0, 1] {
        assert_eq!(sconce_stream_set_current(places::default_stream(device)), SCONCE_OK);
    }
}

#[test]
fn a_pinned_copy_asks_the_driver_for_no_more_than_it_must() {
    let _alone = alone();
    let (pinned, device) = (Place::new(Kind::Pinned, 64), Place::new(Kind::Device(0), 64));
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    assert_eq!(copy(device.start(), pinned.start(), 64, true), SCONCE_OK);
    let counted = ["pointer_info", "copy_async", "stream_is_capturing", "stream_synchronize"];
    assert_eq!(counted.map(calls), [2, 1, 0, 0]);
    synchronize();
}

#[test]
fn a_copy_stays_in_the_blocks_of_this_library() {
    let _alone = alone();
    runtime();
    let mut blocks = [null_mut(); 2];
    let mut pinned = [null_mut(); 2];
    for (block, pin) in blocks.iter_mut().zip(&mut pinned) {
        // SAFETY: a writable place.
        assert_eq!(unsafe { sconce_memory_alloc(512, block) }, SCONCE_OK);
        // SAFETY: a writable place.
        assert_eq!(unsafe { sconce_host_memory_alloc(512, pin) }, SCONCE_OK);
    }
    let host = Place::holding(Kind::Ordinary, &pattern(3, 1024));
    let inside = pinned[0].wrapping_byte_add(512 - 8);
    for (dst, bytes) in [(blocks[0], 513), (blocks[0], 1024), (pinned[0], 513), (inside, 9)] {
        assert_eq!(copy(dst, host.at(0), bytes, false), SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(last_message().contains("dst"), "{}", last_message());
        assert!(last_message().contains("less than"), "{}", last_message());
        assert_eq!(set(dst, 1, bytes), SCONCE_ERROR_INVALID_ARGUMENT);
    }
    assert_eq!(copy(blocks[0], host.at(0), 512, false), SCONCE_OK);
    assert_eq!(copy(inside, host.at(0), 8, false), SCONCE_OK);
    assert_eq!(sconce_host_memory_free(pinned[0]), SCONCE_OK);
    assert_eq!(copy(blocks[0], pinned[0], 8, true), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("freed"), "{}", last_message());
    assert_eq!(sconce_host_memory_free(pinned[1]), SCONCE_OK);
    for block in blocks {
        assert_eq!(sconce_memory_free(block), SCONCE_OK);
    }
}
