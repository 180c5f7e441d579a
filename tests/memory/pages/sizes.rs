//! Small and large requests share pages, and each block counts in one of torch's pools.

use sconce_base::error::Status;
use sconce_runtime::memory;
use testkit::memory::structure;

use super::{MIB, alloc, comb, figures, pool_stream, reserved, with_pages};

/// Small requests are served from the free memory of large ones, in the smallest piece, and count as small.
#[test]
fn small_and_large_requests_share_pages() {
    with_pages("small_and_large_requests_share_pages", "1G", || {
        let own = pool_stream();
        let held = comb(4, 2 * MIB + MIB / 2, own);
        let odd = alloc(3 * MIB - 512, own);
        let before = (reserved(), memory::stats(0).unwrap(), figures());
        let small: Vec<usize> = (0..3).map(|_| alloc(MIB, own)).collect();
        assert_eq!(reserved(), before.0, "no new page");
        assert!(small[0] > odd, "the smallest piece is that behind the last block");
        let now = memory::stats(0).unwrap();
        assert_eq!((now.allocation.small_pool.current, now.allocation.large_pool.current), (3, 3));
        assert_eq!(now.allocated_bytes.small_pool.current, 3 * MIB as i64);
        assert_eq!(now.allocated_bytes.large_pool, before.1.allocated_bytes.large_pool);
        assert_eq!(now.reserved_bytes.small_pool.current, 0);
        assert_eq!(figures(), before.2, "no page has to move");
        structure::assert_sound();
        for block in small.into_iter().chain(held).chain([odd]) {
            memory::free(block).unwrap();
        }
        structure::assert_sound();
        let whole = alloc(reserved() as usize, own);
        assert_eq!(reserved(), before.0, "and what small blocks leave serves large ones");
        memory::free(whole).unwrap();
    });
}

/// Small blocks in segments of the large pool, and in pages, where the policy changes.
#[test]
fn figures_stay_right_where_the_policy_changes() {
    with_pages("figures_stay_right_where_the_policy_changes", "1G", || {
        let own = pool_stream();
        let held = comb(6, 700_000, own);
        memory::configure("policy:segments").unwrap();
        let (plain, small) = (alloc(12 * MIB, own), alloc(5000, own));
        memory::free(plain).unwrap();
        memory::configure("policy:pages").unwrap();
        // Some fit into the pages that there are, and some only into the segment.
        let sizes = [1000, 900_000, 900_000, 900_000, 2000, 900_000];
        let of_pages = sizes.map(|bytes| alloc(bytes, own));
        assert_eq!(of_pages.iter().filter(|block| block.wrapping_sub(plain) < 12 * MIB).count(), 2);
        structure::assert_sound();
        memory::configure("policy:segments").unwrap();
        let of_segments: Vec<usize> = (0..6).map(|place| alloc(1000 << place, own)).collect();
        structure::assert_sound();
        let large = alloc(3 * MIB, own);
        structure::assert_sound();
        for block in of_pages.into_iter().chain(of_segments).chain(held).chain([small, large]) {
            memory::free(block).unwrap();
            structure::assert_sound();
        }
        memory::configure("policy:pages").unwrap();
        let again = alloc(3 * MIB, own);
        let tiny = alloc(100, own);
        structure::assert_sound();
        [again, tiny].into_iter().for_each(|block| memory::free(block).unwrap());
        structure::assert_sound();
    });
}

#[test]
fn a_request_for_which_there_is_no_room_makes_no_page() {
    with_pages("a_request_for_which_there_is_no_room_makes_no_page", "1G", || {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        let own = pool_stream();
        let held = alloc(512 * MIB, own);
        let before = figures();
        for bytes in [600 * MIB, 1 << 30, 1 << 31, 1 << 40, (1 << 59) - 1, 1 << 62, usize::MAX] {
            sconce::sim_controls::reset_call_counts().unwrap();
            let error = memory::alloc_on(bytes, own).unwrap_err();
            assert_eq!(error.status(), Status::OutOfMemory, "{bytes}: {error}");
            // Each step of the miss asks at most once, and only for what the device may have.
            let asked = sconce::sim_controls::call_count("physical_create").unwrap();
            assert!(asked <= if bytes <= 1 << 30 { 4 } else { 0 }, "{bytes}: {asked}");
            assert_eq!(figures(), before, "{bytes}");
        }
        // What fits is served all the same.
        let rest = alloc(480 * MIB, own);
        memory::free(rest).unwrap();
        memory::free(held).unwrap();
        structure::assert_all_given_back(&[free_at_start]);
    });
}
