//! The pools that have memory of one stream.

use super::heap_records::{HeapPool, HeapRecords};

/// Pools a heap can have: their places, doubled, are kept in 16 bits.
const MOST_POOLS: usize = 1 << 15;

impl HeapRecords {
    /// The place of a pool in this heap's table; made if need be.
    pub(crate) fn pool(&mut self, number: u64) -> u16 {
        self.place_of(number, false)
    }

    /// The place of those runs of a pool that are asleep; made if need be.
    pub(super) fn place_apart(&mut self, number: u64) -> u16 {
        self.place_of(number, true)
    }

    fn place_of(&mut self, number: u64, asleep: bool) -> u16 {
        let is_it = |pool: &HeapPool| pool.number == number && pool.asleep == asleep;
        let place = self.pools.iter().position(is_it);
        place.unwrap_or_else(|| self.add_pool(number, asleep)) as u16
    }

    /// A place for a pool: that of one that is gone and empty, or a new one.
    pub(super) fn add_pool(&mut self, number: u64, asleep: bool) -> usize {
        let empty = |place: usize| {
            self.pools[place].abandoned
                && self.segments.iter().all(|(_, segment)| usize::from(segment.pool) != place)
        };
        let pool = HeapPool { number, abandoned: false, asleep };
        if let Some(place) = (0..self.pools.len()).find(|place| empty(*place)) {
            self.pools[place] = pool;
            return place;
        }
        assert!(self.pools.len() < MOST_POOLS, "too many private pools hold memory of one stream");
        self.pools.push(pool);
        self.bins.extend([None, None]);
        self.pools.len() - 1
    }

    /// A pool was destroyed.
    pub(crate) fn abandon(&mut self, number: u64) {
        for pool in &mut self.pools {
            pool.abandoned |= pool.number == number;
        }
    }
}
