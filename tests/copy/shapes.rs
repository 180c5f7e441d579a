//! Copies and sets of rows, and what copies with shapes refuse and how they go about it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::ptr::{null_mut, without_provenance_mut};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::places::{KINDS, Kind, Place, alone, calls, pattern};
use testkit::shapes::{Axis, rows, set_rows, strided};

/// Width, height and both pitches.
const SHAPES: [(usize, usize, usize, usize); 6] = [
    (1, 1, 5, 9),
    (4, 7, 4, 4),
    (4, 7, 4, 9),
    (100, 33, 130, 100),
    (3000, 20, 3001, 3100),
    (70_000, 40, 70_000, 70_016),
];

fn synchronize() {
    for device in [0, 1] {
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
    }
}

fn set_peers(allowed: bool) {
    for (device, peer) in [(0, 1), (1, 0)] {
        assert_eq!(sconce_sim_set_peer_access(device, peer, allowed.into()), SCONCE_OK);
    }
}

#[test]
fn rows_are_copied_between_all_memories_and_nothing_else_is() {
    let _alone = alone();
    for (from, to) in KINDS.iter().flat_map(|from| KINDS.map(|to| (*from, to))) {
        for (width, height, dst_pitch, src_pitch) in SHAPES {
            let content = pattern(7, src_pitch * height + 3);
            let before = vec![0xEE; dst_pitch * height + 16];
            let mut expected = before.clone();
            for row in 0..height {
                let line = &content[3 + row * src_pitch..][..width];
                expected[5 + row * dst_pitch..][..width].copy_from_slice(line);
            }
            let src = Place::holding(from, &content);
            for (non_blocking, peers) in [(false, true), (true, true), (true, false)] {
                set_peers(peers);
                let dst = Place::holding(to, &before);
                let (there, here) = ((dst.at(5), dst_pitch), (src.at(3), src_pitch));
                let what = format!("{width} × {height} from {from:?} to {to:?}");
                let status = rows(there, here, width, height, non_blocking);
                assert_eq!(status, SCONCE_OK, "{what}: {}", last_message());
                synchronize();
                assert!(dst.read() == expected, "{what}");
            }
        }
    }
}

#[test]
fn rows_of_any_alignment_are_copied_by_kernels_between_devices() {
    let _alone = alone();
    set_peers(true);
    let heights = [2, 5, 66_000];
    for (from, height) in [0, 1].into_iter().flat_map(|from| heights.map(|height| (from, height))) {
        let widths: &[usize] = if height > 100 { &[1, 6] } else { &[1, 2, 3, 4, 8, 16, 255, 4100] };
        for width in widths {
            for (dst_start, src_start) in [(0, 0), (1, 1), (0, 4), (8, 0), (15, 2)] {
                for (dst_more, src_more) in [(0, 1), (16, 0), (4, 12), (3, 35)] {
                    let (dst_pitch, src_pitch) = (width + dst_more, width + src_more);
                    let content = pattern(9, src_start + src_pitch * height);
                    let mut expected = vec![0xEE; dst_start + dst_pitch * height + 16];
                    let src = Place::holding(Kind::Device(from), &content);
                    let dst = Place::holding(Kind::Device(0), &expected);
                    for row in 0..height {
                        let line = &content[src_start + row * src_pitch..][..*width];
                        expected[dst_start + row * dst_pitch..][..*width].copy_from_slice(line);
                    }
                    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
                    let (there, here) =
                        ((dst.at(dst_start), dst_pitch), (src.at(src_start), src_pitch));
                    assert_eq!(rows(there, here, *width, height, true), SCONCE_OK);
                    assert_eq!(["copy_2d_async", "kernel_launch"].map(calls), [0, 1]);
                    synchronize();
                    assert!(dst.read() == expected, "{width} × {height}, {there:?} {here:?}");
                }
            }
        }
    }
}

#[test]
fn rows_are_set_and_nothing_else_is() {
    let _alone = alone();
    for kind in [Kind::Ordinary, Kind::Pinned, Kind::Device(0)] {
        for (width, height, pitch, _) in SHAPES {
            let mut expected = vec![0xEE; pitch * height + 16];
            let place = Place::holding(kind, &expected);
            (0..height).for_each(|row| expected[5 + row * pitch..][..width].fill(0x4C));
            let status = set_rows((place.at(5), pitch), 0x4C, width, height);
            assert_eq!(status, SCONCE_OK, "{}", last_message());
            synchronize();
            assert!(place.read() == expected, "{width} × {height} on {kind:?}");
        }
    }
    let far = Place::new(Kind::Device(1), 4096);
    set_peers(false);
    assert_eq!(set_rows((far.start(), 64), 1, 32, 4), SCONCE_ERROR_CROSS_DEVICE);
    assert!(last_message().contains("device 1"), "{}", last_message());
}

#[test]
fn nothing_is_copied_from_anywhere_to_anywhere() {
    let _alone = alone();
    for address in [0, 1, 0xdead_0000, usize::MAX] {
        let wild = without_provenance_mut(address);
        for (width, height) in [(0, 5), (5, 0), (0, usize::MAX), (usize::MAX, 0)] {
            assert_eq!(rows((wild, 1), (null_mut(), 1), width, height, false), SCONCE_OK);
            assert_eq!(set_rows((wild, 1), 1, width, height), SCONCE_OK);
        }
        for axes in [&[(0, 1, 1)][..], &[(3, 0, 0), (0, 0, 0)], &[(i64::MAX, 9, 9), (0, 1, 1)]] {
            assert_eq!(strided(axes, 4, wild, null_mut(), true), SCONCE_OK);
        }
    }
}

/// Sees that a call is refused, for a reason that its words name.
#[track_caller]
fn refused(status: sconce_status, reason: &str) {
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT, "{}", last_message());
    assert!(last_message().contains(reason), "{}", last_message());
}

#[test]
fn bad_shapes_and_ranges_are_refused_before_anything_is_queued() {
    let _alone = alone();
    const BYTES: usize = 1 << 16;
    let other = Place::new(Kind::Ordinary, 4 * BYTES);
    for kind in [Kind::Pinned, Kind::Device(0), Kind::Device(1)] {
        let place = Place::holding(kind, &pattern(1, BYTES));
        let (here, there) = (place.start(), other.start());
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        for non_blocking in [false, true] {
            refused(rows((here, 7), (there, 8), 8, 2, non_blocking), "dst_pitch_bytes is 7");
            refused(rows((here, 8), (there, 7), 8, 2, non_blocking), "src_pitch_bytes is 7");
            refused(rows((null_mut(), 9), (there, 9), 8, 2, non_blocking), "dst is NULL");
            refused(rows((here, 9), (null_mut(), 9), 8, 2, non_blocking), "src is NULL");
            refused(rows((here, 1 << 40), (there, 9), 8, 9, non_blocking), "dst");
            refused(rows((here, 9), (there, usize::MAX / 2), 8, 4, non_blocking), "src");

            let copy = |axes: &[Axis], dst, src| strided(axes, 4, dst, src, non_blocking);
            refused(strided(&[(4, 1, 1)], 0, here, there, non_blocking), "element_bytes");
            refused(copy(&[(4, 2, 1)], null_mut(), there), "dst is NULL");
            refused(copy(&[(4, 2, 1)], here, null_mut()), "src is NULL");
            for overlapping in [&[(4, 0, 1)][..], &[(3, 1, 1), (2, 2, 3)], &[(3, 2, 1), (2, 3, 1)]]
            {
                refused(copy(overlapping, here, there), "overlap");
            }
            refused(copy(&[(1 << 40, 1 << 40, 1)], here, there), "address space");
            // Far forwards, and backwards.
            refused(copy(&[(5, 1 << 38, 1)], here, there), "dst");
            refused(copy(&[(5, 2, 1 << 38)], here, here), "src");
            refused(copy(&[(5, -(1 << 36), 1)], here, there), "dst");
            refused(copy(&[(5, 1, -(1 << 36))], there, here), "src");
            refused(copy(&[(3, -(1 << 61) / 4, 1)], here, there), "dst");
        }
        refused(set_rows((here, 7), 1, 8, 2), "pitch_bytes is 7");
        refused(set_rows((null_mut(), 9), 1, 8, 2), "ptr is NULL");
        if kind != Kind::Device(1) {
            refused(set_rows((here, 1 << 40), 1, 8, 9), "ptr");
        }
        for call in ["copy_async", "copy_2d_async", "fill_2d_async", "kernel_launch"] {
            assert_eq!(calls(call), 0, "{call}");
        }
        assert!(place.read() == pattern(1, BYTES), "{kind:?}");
    }
}

#[test]
fn backwards_out_of_an_allocation_is_seen_to_the_byte() {
    let _alone = alone();
    let host = Place::new(Kind::Ordinary, 64);
    let device = Place::holding(Kind::Device(0), &[1; 4096]);
    assert_eq!(strided(&[(4, -1, 1)], 4, device.at(12), host.start(), false), SCONCE_OK);
    refused(strided(&[(4, -1, 1)], 4, device.at(11), host.start(), false), "dst");
    refused(strided(&[(4, 1, -1)], 4, host.start(), device.at(11), false), "src");
    assert_eq!(strided(&[(4, 2, 1)], 4, device.at(4096 - 28), host.start(), false), SCONCE_OK);
    refused(strided(&[(4, 2, 1)], 4, device.at(4096 - 27), host.start(), false), "dst");
}

#[test]
fn the_driver_copies_what_it_is_good_at_and_kernels_the_rest() {
    let _alone = alone();
    let [ordinary, pinned, here, there] = KINDS.map(|kind| Place::new(kind, 1 << 16));
    let queued = |dst: &Place, src: &Place, axes: &[Axis]| {
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        let status = strided(axes, 4, dst.start(), src.start(), true);
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        synchronize();
        ["copy_async", "copy_2d_async", "kernel_launch"].map(calls)
    };
    let packed = [(8, 40, 40), (8, 5, 5), (5, 1, 1)];
    let wide = [(8, 40, 50), (32, 1, 1)];
    let narrow = [(8, 40, 50), (3, 1, 1)];
    let transposed = [(8, 1, 20), (20, 8, 1)];
    let [vast_here, vast_there] = [0, 1].map(|device| Place::new(Kind::Device(device), 3 << 20));
    let vast = [(2, 1 << 18, 3 << 17), (1 << 18, 1, 1)];
    let almost_vast = [(2, 1 << 18, 3 << 17), ((1 << 18) - 1, 1, 1)];
    for (dst, src) in [(&here, &here), (&here, &there)] {
        let vast_src = if std::ptr::eq(src, &raw const here) { &vast_here } else { &vast_there };
        assert_eq!(queued(&vast_here, vast_src, &vast), [0, 1, 0]);
        assert_eq!(queued(&vast_here, vast_src, &almost_vast), [0, 0, 1]);
        assert_eq!(queued(dst, src, &packed), [1, 0, 0]);
        assert_eq!(queued(dst, src, &wide), [0, 0, 1]);
        assert_eq!(queued(dst, src, &narrow), [0, 0, 1]);
        assert_eq!(queued(dst, src, &transposed), [0, 0, 1]);
    }
    for host in [&ordinary, &pinned] {
        for (dst, src) in [(host, &here), (&here, host)] {
            assert_eq!(queued(dst, src, &packed), [1, 0, 0]);
            assert_eq!(queued(dst, src, &transposed), [1, 0, 1], "through the device's memory");
        }
        assert_eq!(queued(host, &here, &[(8, 32, 50), (32, 1, 1)]), [0, 1, 0]);
        assert_eq!(queued(&here, host, &[(8, 50, 32), (32, 1, 1)]), [0, 1, 0]);
        // The host packs what is not packed there.
        assert_eq!(queued(host, &here, &[(8, 2, 1)]), [1, 0, 0]);
        assert_eq!(queued(&here, host, &[(8, 3, 2)]), [1, 0, 1]);
    }
    assert_eq!(queued(&pinned, &ordinary, &transposed), [0, 0, 0]);
}
