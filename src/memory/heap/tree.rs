//! The free blocks of one bin, in the order in which they are handed out.
//!
//! A treap: a search tree over (size, address) that is a heap over numbers made
//! from the addresses, so that it stays shallow whatever order blocks come in. The links lie in the
//! blocks' records, and are [`NONE`] in a block that is in no tree. Most bins hold one block; nothing here costs more
//! than a comparison then.

use super::block::{BlockRecord, NONE};
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
pub(crate) fn first(blocks: &[BlockRecord], root: BlockId) -> BlockId {
    let mut id = root;
    loop {
        let left = blocks[id as usize].left;
        if left == NONE {
            return id;
        }
        id = left;
    }
}

/// The first block of at least `bytes`, or `NONE`.
#[inline]
pub(crate) fn first_of_size(blocks: &[BlockRecord], root: BlockId, bytes: u64) -> BlockId {
    let (mut id, mut best) = (root, NONE);
    while id != NONE {
        let block = &blocks[id as usize];
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
fn set(blocks: &mut [BlockRecord], root: &mut BlockId, link: Link, id: BlockId) {
    match link {
        Link::Root => *root = id,
        Link::Left(parent) => blocks[parent as usize].left = id,
        Link::Right(parent) => blocks[parent as usize].right = id,
    }
}

/// Adds a block that is in no tree.
#[inline(always)]
pub(crate) fn insert(blocks: &mut [BlockRecord], root: &mut BlockId, id: BlockId) {
    if *root == NONE {
        *root = id;
    } else {
        insert_below(blocks, root, id);
    }
}

#[inline(never)]
fn insert_below(blocks: &mut [BlockRecord], root: &mut BlockId, id: BlockId) {
    let (key, own_height) = (blocks[id as usize].key(), height(&blocks[id as usize]));
    let (mut link, mut here) = (Link::Root, *root);
    while here != NONE && height(&blocks[here as usize]) >= own_height {
        let block = &blocks[here as usize];
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
        if blocks[here as usize].key() < key {
            set(blocks, root, smaller, here);
            smaller = Link::Right(here);
            here = blocks[here as usize].right;
        } else {
            set(blocks, root, larger, here);
            larger = Link::Left(here);
            here = blocks[here as usize].left;
        }
    }
    set(blocks, root, smaller, NONE);
    set(blocks, root, larger, NONE);
}

/// Takes a block out.
#[inline(always)]
pub(crate) fn remove(blocks: &mut [BlockRecord], root: &mut BlockId, id: BlockId) {
    let block = &blocks[id as usize];
    if *root == id && block.left | block.right == NONE {
        *root = NONE;
    } else {
        remove_below(blocks, root, id);
    }
}

#[inline(never)]
fn remove_below(blocks: &mut [BlockRecord], root: &mut BlockId, id: BlockId) {
    let key = blocks[id as usize].key();
    let (mut link, mut here) = (Link::Root, *root);
    while here != id {
        let block = &blocks[here as usize];
        (link, here) = if key < block.key() {
            (Link::Left(here), block.left)
        } else {
            (Link::Right(here), block.right)
        };
    }
    let (mut left, mut right) = (blocks[id as usize].left, blocks[id as usize].right);
    while left != NONE && right != NONE {
        if height(&blocks[left as usize]) >= height(&blocks[right as usize]) {
            set(blocks, root, link, left);
            link = Link::Right(left);
            left = blocks[left as usize].right;
        } else {
            set(blocks, root, link, right);
            link = Link::Left(right);
            right = blocks[right as usize].left;
        }
    }
    set(blocks, root, link, left | right);
    let block = &mut blocks[id as usize];
    (block.left, block.right) = (NONE, NONE);
}

/// Every block of the tree, in order.
pub(crate) fn visit(blocks: &[BlockRecord], root: BlockId, mut see: impl FnMut(BlockId)) {
    let (mut above, mut here) = (Vec::new(), root);
    loop {
        while here != NONE {
            above.push(here);
            here = blocks[here as usize].left;
        }
        let Some(id) = above.pop() else { return };
        see(id);
        here = blocks[id as usize].right;
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::BlockRecords;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const STEPS: usize = if cfg!(miri) { 30 } else { 300 };

    fn add(blocks: &mut BlockRecords, units: u64, address: u64) -> BlockId {
        let bytes = units * 512;
        blocks.add(BlockRecord { bytes, address: address * 512, ..BlockRecords::blank() })
    }

    fn depth(blocks: &mut BlockRecords, root: BlockId) -> usize {
        if root == NONE {
            return 0;
        }
        let BlockRecord { left, right, .. } = blocks[root];
        1 + depth(blocks, left).max(depth(blocks, right))
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
                            insert(blocks.all(), &mut root, id);
                        }
                    }
                } else if !model.is_empty() {
                    let (key, id) =
                        *model.iter().nth(address as usize % model.len()).unwrap();
                    model.remove(&(key, id));
                    remove(blocks.all(), &mut root, id);
                }
                let mut seen = Vec::new();
                visit(blocks.all(), root, |id| seen.push(id));
                let seen: Vec<_> = seen.into_iter().map(|id| (blocks[id].key(), id)).collect();
                prop_assert_eq!(&seen, &model.iter().copied().collect::<Vec<_>>());
                let wanted = units * 512;
                let expected = model.iter().find(|(key, _)| key.0 >= wanted);
                let found = first_of_size(blocks.all(), root, wanted);
                prop_assert_eq!(found, expected.map_or(NONE, |(_, id)| *id));
                if let Some((_, id)) = model.first() {
                    prop_assert_eq!(first(blocks.all(), root), *id);
                }
            }
        }
    }

    #[test]
    fn it_stays_shallow_when_blocks_come_in_order() {
        let (mut blocks, mut root) = (BlockRecords::new(), NONE);
        for address in 0..if cfg!(miri) { 300 } else { 10_000 } {
            let id = add(&mut blocks, 1, 0x7f00_0000 + address);
            insert(blocks.all(), &mut root, id);
        }
        assert!(depth(&mut blocks, root) < 60, "{}", depth(&mut blocks, root));
    }
}
