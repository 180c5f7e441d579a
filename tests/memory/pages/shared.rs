//! Blocks that other processes use, as far as one process can test it; `tests/ipc/pages` has the second process.

use sconce_runtime::memory::shared_blocks::PagedHold::{Gone, Held};
use sconce_runtime::memory::shared_blocks::SharedBlock;
use sconce_runtime::memory::{self, shared_blocks, shared_pages};
use testkit::memory::structure;

use super::{MIB, alloc, comb, figures, pool_stream, reserved, with_pages};

/// The base of a block is that of its first page, wherever its run begins, as other processes map it.
#[test]
fn the_base_of_a_block_is_its_first_page() {
    with_pages("the_base_of_a_block_is_its_first_page", "1G", || {
        let own = pool_stream();
        memory::free(alloc(20 * MIB, own)).unwrap();
        let blocks = [3, 5, 2].map(|mib| alloc(mib * MIB, own));
        let base = blocks[0];
        for (block, (first, bytes)) in blocks.iter().zip([(0, 4), (2, 6), (8, 2)]) {
            let expected = (base + first * MIB, bytes * MIB);
            assert_eq!(memory::base_of(*block + 1000).unwrap(), expected);
            let shared = shared_blocks::share(*block).unwrap();
            let Some(SharedBlock::Paged(shared)) = shared else { panic!("{shared:?}") };
            assert_eq!((shared.base, shared.bytes), expected);
        }
        blocks.into_iter().for_each(|block| memory::free(block).unwrap());
    });
}

/// A block that another process holds keeps its pages, whatever moves around it, and when nobody holds it any more it
/// is ordinary memory.
#[test]
fn pages_of_a_block_that_is_held_neither_move_nor_go_back() {
    with_pages("pages_of_a_block_that_is_held_neither_move_nor_go_back", "1G", || {
        let own = pool_stream();
        let held = comb(10, 2 * MIB, own);
        let block = alloc(9 * MIB, own);
        let shared = shared_blocks::share(block).unwrap();
        let Some(SharedBlock::Paged(shared)) = shared else { panic!("{shared:?}") };
        let handles = || -> Vec<_> {
            shared_pages::of(&shared).into_iter().map(|page| page.handle).collect()
        };
        let before = handles();
        assert_eq!(before.len(), 5);
        let Held(first) = shared_blocks::hold_paged(&shared) else { panic!("it is live") };
        let Held(second) = shared_blocks::hold_paged(&shared) else { panic!("it is live") };
        memory::free(block).unwrap();
        assert!(matches!(shared_blocks::hold_paged(&shared), Gone), "nobody new");
        for mib in [10, 30, 14, 60] {
            memory::free(alloc(mib * MIB, own)).unwrap();
            memory::empty_cache().unwrap();
            structure::assert_sound();
            assert_eq!(handles(), before);
        }
        drop(first);
        memory::free(alloc(10 * MIB, own)).unwrap();
        assert_eq!(handles(), before, "one of two is left");
        drop(second);
        held.into_iter().for_each(|block| memory::free(block).unwrap());
        memory::empty_cache().unwrap();
        assert_eq!((reserved(), figures().pages), (0, 0));
        structure::assert_sound();
    });
}
