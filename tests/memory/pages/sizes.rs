//! Small and large requests share pages, and each block counts in one of torch's pools.

use sconce::memory;
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
