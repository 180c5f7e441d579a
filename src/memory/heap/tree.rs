//! The free blocks of one bin, in the order in which they are handed out.
//!
//! A treap: a search tree over (size, address) that is a heap over numbers made
//! from the addresses, so that it stays shallow whatever order blocks come in. The links lie in the
//! blocks' records. Most bins hold one block; nothing here costs more than a comparison then.

use super::block::{BlockRecord, BlockRecords, NONE};
use crate::caching::BlockId;
use crate::collections::word_hash::scatter;

/// What decides which of two blocks stands higher.
#[inline]
fn height(block: &BlockRecord) -> u64 {
    // Two rounds, since addresses come in regular steps.
    let mixed = scatter(block.address >> 9);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// The first block of the tree.
#[inline]
pub(crate) fn first(blocks: &BlockRecords, root: BlockId) -> BlockId {
    let mut id = root;
    loop {
        let left = blocks[id].left;
        if left == NONE {
            return id;
        }
        id = left;
    }
}

/// The first block of at least `bytes`, or `NONE`.
#[inline]
pub(crate) fn first_of_size(blocks: &BlockRecords, root: BlockId, bytes: u64) -> BlockId {
    let (mut id, mut best) = (root, NONE);
    while id != NONE {
        let block = &blocks[id];
        if block.bytes >= bytes {
            best = id;
            id = block.left;
        } else {
            id = block.right;
        }
    }
    best
}

/// The place that a link to a block lies in.
#[derive(Clone, Copy)]
enum Link {
    Root,
    Left(BlockId),
    Right(BlockId),
}

#[inline]
fn set(blocks: &mut BlockRecords, root: &mut BlockId, link: Link, id: BlockId) {
    match link {
        Link::Root => *root = id,
        Link::Left(parent) => blocks[parent].left = id,
        Link::Right(parent) => blocks[parent].right = id,
    }
}

/// Adds a block.
#[inline(always)]
pub(crate) fn insert(blocks: &mut BlockRecords, root: &mut BlockId, id: BlockId) {
    let block = &mut blocks[id];
    block.left = NONE;
    block.right = NONE;
    if *root == NONE {
        *root = id;
    } else {
        insert_below(blocks, root, id);
    }
}

#[inline(never)]
fn insert_below(blocks: &mut BlockRecords, root: &mut BlockId, id: BlockId) {
    let (key, own_height) = (blocks[id].key(), height(&blocks[id]));
    let (mut link, mut here) = (Link::Root, *root);
    while here != NONE && height(&blocks[here]) >= own_height {
        let block = &blocks[here];
        (link, here) = if key < block.key() {
            (Link::Left(here), block.left)
        } else {
            (Link::Right(here), block.right)
        };
    }
    set(blocks, root, link, id);
    // What stood here is cut in two: smaller blocks go to the left, larger ones to the right.
    let (mut smaller, mut larger) = (Link::Left(id), Link::Right(id));
    while here != NONE {
        if blocks[here].key() < key {
            set(blocks, root, smaller, here);
            smaller = Link::Right(here);
            here = blocks[here].right;
        } else {
            set(blocks, root, larger, here);
            larger = Link::Left(here);
            here = blocks[here].left;
        }
    }
    set(blocks, root, smaller, NONE);
    set(blocks, root, larger, NONE);
}

/// Takes a block out.
#[inline]
pub(crate) fn remove(blocks: &mut BlockRecords, root: &mut BlockId, id: BlockId) {
    let block = &blocks[id];
    if *root == id && block.left == NONE && block.right == NONE {
        *root = NONE;
    } else {
        remove_below(blocks, root, id);
    }
}

#[inline(never)]
fn remove_below(blocks: &mut BlockRecords, root: &mut BlockId, id: BlockId) {
    let key = blocks[id].key();
    let (mut link, mut here) = (Link::Root, *root);
    while here != id {
        let block = &blocks[here];
        (link, here) = if key < block.key() {
            (Link::Left(here), block.left)
        } else {
            (Link::Right(here), block.right)
        };
    }
    let (mut left, mut right) = (blocks[id].left, blocks[id].right);
    while left != NONE && right != NONE {
        if height(&blocks[left]) >= height(&blocks[right]) {
            set(blocks, root, link, left);
            link = Link::Right(left);
            left = blocks[left].right;
        } else {
            set(blocks, root, link, right);
            link = Link::Left(right);
            right = blocks[right].left;
        }
    }
    set(blocks, root, link, if left == NONE { right } else { left });
}

/// Every block of the tree, in order.
pub(crate) fn visit(blocks: &BlockRecords, root: BlockId, mut see: impl FnMut(BlockId)) {
    let (mut above, mut here) = (Vec::new(), root);
    loop {
        while here != NONE {
            above.push(here);
            here = blocks[here].left;
        }
        let Some(id) = above.pop() else { return };
        see(id);
        here = blocks[id].right;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const STEPS: usize = if cfg!(miri) { 30 } else { 300 };

    fn add(blocks: &mut BlockRecords, units: u64, address: u64) -> BlockId {
        let bytes = units * 512;
        blocks.add(BlockRecord { bytes, address: address * 512, ..BlockRecords::blank() })
    }

    fn depth(blocks: &BlockRecords, root: BlockId) -> usize {
        if root == NONE {
            return 0;
        }
        1 + depth(blocks, blocks[root].left).max(depth(blocks, blocks[root].right))
    }

    proptest! {
        #[test]
        fn it_answers_as_an_ordered_set(
            steps in prop::collection::vec((any::<bool>(), 1_u64..6, 0_u64..400), 1..STEPS)
        ) {
            let mut blocks = BlockRecords::new();
            let mut root = NONE;
            let mut model = BTreeSet::new();
            for (adding, units, address) in steps {
                if adding {
                    let id = add(&mut blocks, units, address);
                    if model.insert((blocks[id].key(), id)) {
                        let twin = model.iter().any(|(key, other)| {
                            *key == blocks[id].key() && *other != id
                        });
                        if twin {
                            model.remove(&(blocks[id].key(), id));
                        } else {
                            insert(&mut blocks, &mut root, id);
                        }
                    }
                } else if !model.is_empty() {
                    let (key, id) =
                        *model.iter().nth(address as usize % model.len()).unwrap();
                    model.remove(&(key, id));
                    remove(&mut blocks, &mut root, id);
                }
                let mut seen = Vec::new();
                visit(&blocks, root, |id| seen.push((blocks[id].key(), id)));
                prop_assert_eq!(&seen, &model.iter().copied().collect::<Vec<_>>());
                let wanted = units * 512;
                let expected = model.iter().find(|(key, _)| key.0 >= wanted);
                let found = first_of_size(&blocks, root, wanted);
                prop_assert_eq!(found, expected.map_or(NONE, |(_, id)| *id));
                if let Some((_, id)) = model.first() {
                    prop_assert_eq!(first(&blocks, root), *id);
                }
            }
        }
    }

    #[test]
    fn it_stays_shallow_when_blocks_come_in_order() {
        let (mut blocks, mut root) = (BlockRecords::new(), NONE);
        for address in 0..if cfg!(miri) { 300 } else { 10_000 } {
            let id = add(&mut blocks, 1, 0x7f00_0000 + address);
            insert(&mut blocks, &mut root, id);
        }
        assert!(depth(&blocks, root) < 60, "{}", depth(&blocks, root));
    }
}
