//! From the address at which a block begins to the block.
//!
//! A table of pairs, at most half full. A pair lies at the place that the hash of its address names, or at the next
//! place that was empty when it came. A pair that goes makes room for those behind it that belong further ahead, so
//! that a search ends at the first empty place.

use sconce_base::collections::word_hash::scatter;

use super::rounding::UNIT;
use crate::caching::BlockId;

/// No block begins here.
const EMPTY: usize = 0;
const FIRST_PLACES: usize = 64;

/// Every block by its first address.
pub(crate) struct AddressTable {
    /// A power of two of places; none before the first block.
    pairs: Vec<(usize, BlockId)>,
    count: usize,
    /// The bits of a hash that are not used.
    shift: u32,
}

impl AddressTable {
    pub(crate) const fn new() -> AddressTable {
        AddressTable { pairs: Vec::new(), count: 0, shift: u64::BITS - 1 }
    }

    #[inline]
    fn home(&self, address: usize) -> usize {
        (scatter((address / UNIT) as u64) >> self.shift) as usize
    }

    /// The place of an address, or the empty place where it belongs.
    #[inline]
    fn find(&self, address: usize) -> Option<usize> {
        let last = self.pairs.len().wrapping_sub(1);
        let mut place = self.home(address);
        loop {
            let (found, _) = *self.pairs.get(place)?;
            if found == address || found == EMPTY {
                return Some(place);
            }
            place = (place + 1) & last;
        }
    }

    /// The block that begins at an address.
    #[inline]
    pub(crate) fn get(&self, address: usize) -> Option<BlockId> {
        let (found, id) = self.pairs[self.find(address)?];
        (found != EMPTY).then_some(id)
    }

    /// Adds a block; none begins at its address yet, which is not 0.
    #[inline]
    pub(crate) fn insert(&mut self, address: usize, id: BlockId) {
        debug_assert!(address != EMPTY && self.get(address).is_none());
        if self.count * 2 >= self.pairs.len() {
            self.grow();
        }
        if let Some(place) = self.find(address) {
            self.pairs[place] = (address, id);
            self.count += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let places = (self.pairs.len() * 2).max(FIRST_PLACES);
        let before = std::mem::replace(&mut self.pairs, vec![(EMPTY, 0); places]);
        self.shift = u64::BITS - places.trailing_zeros();
        for (address, id) in before.into_iter().filter(|(address, _)| *address != EMPTY) {
            if let Some(place) = self.find(address) {
                self.pairs[place] = (address, id);
            }
        }
    }

    /// Takes the block out that begins at an address.
    #[inline]
    pub(crate) fn remove(&mut self, address: usize) {
        let Some(mut hole) = self.find(address) else { return };
        if self.pairs[hole].0 == EMPTY {
            return;
        }
        self.count -= 1;
        let last = self.pairs.len() - 1;
        let mut place = hole;
        loop {
            place = (place + 1) & last;
            let (address, _) = self.pairs[place];
            if address == EMPTY {
                break;
            }
            // Steps from where the pair belongs: one that would have to go back past its home stays.
            let home = self.home(address);
            if (place.wrapping_sub(home) & last) >= (place.wrapping_sub(hole) & last) {
                self.pairs[hole] = self.pairs[place];
                hole = place;
            }
        }
        self.pairs[hole] = (EMPTY, 0);
    }

    /// How many blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const STEPS: usize = if cfg!(miri) { 60 } else { 2000 };

    proptest! {
        #[test]
        fn it_answers_as_a_map(
            // Few addresses, so that they come and go again, and share places.
            steps in prop::collection::vec((any::<bool>(), 1_usize..200, 0_u32..8), 1..STEPS)
        ) {
            let mut table = AddressTable::new();
            let mut model = HashMap::new();
            for (i, (adding, number, power)) in steps.into_iter().enumerate() {
                let address = (number << power) * UNIT;
                if adding && !model.contains_key(&address) {
                    model.insert(address, i as BlockId);
                    table.insert(address, i as BlockId);
                } else {
                    model.remove(&address);
                    table.remove(address);
                }
                prop_assert_eq!(table.len(), model.len());
                prop_assert_eq!(table.get(address), model.get(&address).copied());
            }
            for number in 1..200 {
                for power in 0..8 {
                    let address = (number << power) * UNIT;
                    prop_assert_eq!(table.get(address), model.get(&address).copied());
                }
            }
            prop_assert_eq!(table.get(EMPTY), None);
        }
    }
}
