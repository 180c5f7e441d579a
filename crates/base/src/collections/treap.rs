//! Ordered sets whose links lie in the records of a table.
//!
//! A treap is a search tree over keys that is also a heap over numbers without a pattern, so that it stays
//! shallow whatever order keys come in. A set is the number of its root. Nothing here allocates. A set of one record
//! costs no more than a comparison.

/// No record. It is 0, so that the union of two links of which one leads nowhere is the other one.
pub const NONE: u32 = 0;

/// A table whose records can be members of treaps, each of one at a time. No member has the number [`NONE`].
pub trait TreapTable {
    /// What a treap is ordered by. No two members of one have the same.
    type Key: Ord;

    /// The key of a record.
    fn key(&self, id: u32) -> Self::Key;
    /// Decides which of two records stands higher; without a pattern.
    fn height(&self, id: u32) -> u64;
    /// The children of a record: of lower keys, and of higher keys. Both are [`NONE`] in a record that is in no treap.
    fn children(&mut self, id: u32) -> &mut [u32; 2];
    /// The same to read.
    fn children_of(&self, id: u32) -> [u32; 2];
}

/// A record that a slice holds at the place of its number.
pub trait TreapRecord {
    /// What a treap is ordered by. No two members of one have the same.
    type Key: Ord;

    /// The key of the record.
    fn key(&self) -> Self::Key;
    /// Decides which of two records stands higher; without a pattern.
    fn height(&self) -> u64;
    /// The children of the record: of lower keys, and of higher keys. Both are [`NONE`] in a record that is in no
    /// treap.
    fn children(&mut self) -> &mut [u32; 2];
    /// The same to read.
    fn children_of(&self) -> [u32; 2];
}

impl<R: TreapRecord> TreapTable for [R] {
    type Key = R::Key;

    #[inline]
    fn key(&self, id: u32) -> R::Key {
        self[id as usize].key()
    }

    #[inline]
    fn height(&self, id: u32) -> u64 {
        self[id as usize].height()
    }

    #[inline]
    fn children(&mut self, id: u32) -> &mut [u32; 2] {
        self[id as usize].children()
    }

    #[inline]
    fn children_of(&self, id: u32) -> [u32; 2] {
        self[id as usize].children_of()
    }
}

const LOWER: usize = 0;
const HIGHER: usize = 1;

/// The place that a link to a record lies in.
#[derive(Clone, Copy)]
enum TreapLink {
    Root,
    Child(u32, usize),
}

#[inline]
fn set<T: TreapTable + ?Sized>(table: &mut T, root: &mut u32, link: TreapLink, id: u32) {
    match link {
        TreapLink::Root => *root = id,
        TreapLink::Child(parent, side) => table.children(parent)[side] = id,
    }
}

/// The member with the lowest key. The treap must have one.
#[inline]
pub fn first<T: TreapTable + ?Sized>(table: &T, root: u32) -> u32 {
    let mut id = root;
    loop {
        let [lower, _] = table.children_of(id);
        if lower == NONE {
            return id;
        }
        id = lower;
    }
}

/// The member with the lowest key of at least `key`, or [`NONE`].
#[inline]
pub fn first_from<T: TreapTable + ?Sized>(table: &T, root: u32, key: &T::Key) -> u32 {
    let (mut id, mut best) = (root, NONE);
    while id != NONE {
        let [lower, higher] = table.children_of(id);
        if table.key(id) >= *key {
            best = id;
            id = lower;
        } else {
            id = higher;
        }
    }
    best
}

/// Adds a record that is in no treap.
#[inline(always)]
pub fn insert<T: TreapTable + ?Sized>(table: &mut T, root: &mut u32, id: u32) {
    if *root == NONE {
        *root = id;
    } else {
        insert_below(table, root, id);
    }
}

#[inline(never)]
fn insert_below<T: TreapTable + ?Sized>(table: &mut T, root: &mut u32, id: u32) {
    let (key, height) = (table.key(id), table.height(id));
    let (mut link, mut here) = (TreapLink::Root, *root);
    while here != NONE && table.height(here) >= height {
        let side = if key < table.key(here) { LOWER } else { HIGHER };
        (link, here) = (TreapLink::Child(here, side), table.children_of(here)[side]);
    }
    set(table, root, link, id);
    // What stood here is cut in two: lower keys go to one side, higher ones to the other.
    let (mut lower, mut higher) = (TreapLink::Child(id, LOWER), TreapLink::Child(id, HIGHER));
    while here != NONE {
        if table.key(here) < key {
            set(table, root, lower, here);
            lower = TreapLink::Child(here, HIGHER);
            here = table.children_of(here)[HIGHER];
        } else {
            set(table, root, higher, here);
            higher = TreapLink::Child(here, LOWER);
            here = table.children_of(here)[LOWER];
        }
    }
    set(table, root, lower, NONE);
    set(table, root, higher, NONE);
}

/// Takes a member out.
#[inline(always)]
pub fn remove<T: TreapTable + ?Sized>(table: &mut T, root: &mut u32, id: u32) {
    let [lower, higher] = table.children_of(id);
    if *root == id && lower | higher == NONE {
        *root = NONE;
    } else {
        remove_below(table, root, id);
    }
}

#[inline(never)]
fn remove_below<T: TreapTable + ?Sized>(table: &mut T, root: &mut u32, id: u32) {
    let key = table.key(id);
    let (mut link, mut here) = (TreapLink::Root, *root);
    while here != id {
        let side = if key < table.key(here) { LOWER } else { HIGHER };
        (link, here) = (TreapLink::Child(here, side), table.children_of(here)[side]);
    }
    let [mut lower, mut higher] = table.children_of(id);
    while lower != NONE && higher != NONE {
        if table.height(lower) >= table.height(higher) {
            set(table, root, link, lower);
            link = TreapLink::Child(lower, HIGHER);
            lower = table.children_of(lower)[HIGHER];
        } else {
            set(table, root, link, higher);
            link = TreapLink::Child(higher, LOWER);
            higher = table.children_of(higher)[LOWER];
        }
    }
    set(table, root, link, lower | higher);
    *table.children(id) = [NONE; 2];
}

/// Every member, in order.
pub fn visit<T: TreapTable + ?Sized>(table: &T, root: u32, mut see: impl FnMut(u32)) {
    let (mut above, mut here) = (Vec::new(), root);
    loop {
        while here != NONE {
            above.push(here);
            [here, _] = table.children_of(here);
        }
        let Some(id) = above.pop() else { return };
        see(id);
        [_, here] = table.children_of(id);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::collections::word_hash::scatter;

    const STEPS: usize = if cfg!(miri) { 30 } else { 300 };

    struct Table(Vec<(u64, [u32; 2])>);

    impl Table {
        /// With a record for the number that no member has.
        fn new() -> Table {
            Table(vec![(0, [NONE; 2])])
        }

        fn add(&mut self, key: u64) -> u32 {
            self.0.push((key, [NONE; 2]));
            self.0.len() as u32 - 1
        }
    }

    impl TreapTable for Table {
        type Key = u64;

        fn key(&self, id: u32) -> u64 {
            self.0[id as usize].0
        }

        fn height(&self, id: u32) -> u64 {
            let mixed = scatter(self.key(id));
            scatter(mixed ^ mixed >> 29)
        }

        fn children(&mut self, id: u32) -> &mut [u32; 2] {
            &mut self.0[id as usize].1
        }

        fn children_of(&self, id: u32) -> [u32; 2] {
            self.0[id as usize].1
        }
    }

    fn depth(table: &Table, root: u32) -> usize {
        if root == NONE {
            return 0;
        }
        let [lower, higher] = table.children_of(root);
        1 + depth(table, lower).max(depth(table, higher))
    }

    proptest! {
        #[test]
        fn it_answers_as_an_ordered_map(
            steps in prop::collection::vec((any::<bool>(), 0_u64..400), 1..STEPS)
        ) {
            let mut table = Table::new();
            let mut root = NONE;
            let mut model = BTreeMap::new();
            for (adding, key) in steps {
                if adding && !model.contains_key(&key) {
                    let id = table.add(key);
                    model.insert(key, id);
                    insert(&mut table, &mut root, id);
                } else if let Some((&key, &id)) = model.range(key..).next() {
                    model.remove(&key);
                    remove(&mut table, &mut root, id);
                    prop_assert_eq!(table.children_of(id), [NONE; 2]);
                }
                let mut seen = Vec::new();
                visit(&table, root, |id| seen.push(id));
                prop_assert_eq!(&seen, &model.values().copied().collect::<Vec<_>>());
                let expected = model.range(key..).next().map_or(NONE, |(_, id)| *id);
                prop_assert_eq!(first_from(&table, root, &key), expected);
                if let Some(lowest) = model.values().next() {
                    prop_assert_eq!(first(&table, root), *lowest);
                }
            }
        }
    }

    #[test]
    fn it_stays_shallow_when_keys_come_in_order() {
        let (mut table, mut root) = (Table::new(), NONE);
        for key in 0..if cfg!(miri) { 300 } else { 10_000 } {
            let id = table.add(key);
            insert(&mut table, &mut root, id);
        }
        assert!(depth(&table, root) < 60, "{}", depth(&table, root));
    }
}
