//! A least-recently-used map with a limit in number and one in cost.
//!
//! Entries lie without gaps in one vector; a hash table finds the index of a key. Entries are
//! sorted by the last use that the map knows of. Other code may note uses without the map
//! ([`UseClock::note_use`]); the map finds them when the entry would be the next to be evicted, and
//! moves it to its place. So each use costs one step in an ordered table at most, and only if an
//! entry has to be evicted.
//!
//! Evicted values are returned rather than dropped: destroying a plan may wait for a device, and
//! the caller holds a lock.

mod age;
#[cfg(test)]
mod tests;

pub use age::{Age, Aged, UseClock};

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use crate::collections::word_hash::WordHash;

struct Entry<K, V> {
    key: K,
    value: V,
    cost: u64,
    /// The last use that the map knows of: the entry's place in the order.
    seen: u64,
}

/// See the module.
pub struct Lru<K, V> {
    clock: UseClock,
    places: HashMap<K, usize, WordHash>,
    entries: Vec<Entry<K, V>>,
    /// The index of each entry, by the last use that the map knows of.
    order: BTreeMap<u64, usize>,
    most: usize,
    most_cost: u64,
    /// The sum of all entries' costs, at most `most_cost`.
    cost: u64,
}

impl<K: Eq + Hash + Clone, V: Aged> Lru<K, V> {
    /// An empty map for at most `most` entries that cost at most `most_cost` together.
    pub fn new(most: usize, most_cost: u64) -> Self {
        Lru {
            clock: UseClock::new(),
            places: HashMap::default(),
            entries: Vec::new(),
            order: BTreeMap::new(),
            most,
            most_cost,
            cost: 0,
        }
    }

    /// The clock by which uses are noted.
    pub fn clock(&self) -> &UseClock {
        &self.clock
    }

    /// The value of a key, which becomes the newest.
    #[inline]
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        let at = *self.places.get(key)?;
        let value = &mut self.entries[at].value;
        self.clock.note_use(value.age());
        Some(value)
    }

    /// The value of a key, whose age stays.
    pub fn peek(&mut self, key: &K) -> Option<&mut V> {
        self.places.get(key).map(|&at| &mut self.entries[at].value)
    }

    /// All values, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// Inserts a value as the newest and returns the values that it replaces: the key's earlier
    /// value, and evicted ones, the oldest first. A value that costs more than the limit is itself
    /// returned.
    #[must_use]
    pub fn insert(&mut self, key: K, value: V, cost: u64) -> Vec<V> {
        let mut left: Vec<V> = self.remove(&key).into_iter().collect();
        if self.most == 0 || cost > self.most_cost {
            left.push(value);
            return left;
        }
        self.shrink(self.most - 1, self.most_cost - cost, &mut left);
        self.clock.note_use(value.age());
        let (at, seen) = (self.entries.len(), value.age().last_use());
        self.places.insert(key.clone(), at);
        self.order.insert(seen, at);
        self.entries.push(Entry { key, value, cost, seen });
        self.cost += cost;
        left
    }

    /// Sets the cost of an entry, whose age stays, and returns the evicted entries, the oldest
    /// first; the entry may be one of them. An entry that costs more than the limit is the only one
    /// evicted.
    #[must_use]
    pub fn set_cost(&mut self, key: &K, cost: u64) -> Vec<V> {
        let mut left = Vec::new();
        if cost > self.most_cost {
            left.extend(self.remove(key));
            return left;
        }
        let Some(&at) = self.places.get(key) else { return left };
        self.cost -= std::mem::replace(&mut self.entries[at].cost, 0);
        while self.cost > self.most_cost - cost {
            let Some(oldest) = self.oldest() else { break };
            let itself = self.entries[oldest].key == *key;
            left.push(self.remove_at(oldest));
            if itself {
                return left;
            }
        }
        if let Some(&at) = self.places.get(key) {
            self.entries[at].cost = cost;
            self.cost += cost;
        }
        left
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let at = *self.places.get(key)?;
        Some(self.remove_at(at))
    }

    /// Sets the greatest number of entries and returns the evicted ones, the oldest first.
    #[must_use]
    pub fn set_most(&mut self, most: usize) -> Vec<V> {
        self.most = most;
        let mut left = Vec::new();
        self.shrink(most, self.most_cost, &mut left);
        left
    }

    /// Sets the limit of the costs' sum and returns the evicted entries, the oldest first.
    #[must_use]
    pub fn set_most_cost(&mut self, most_cost: u64) -> Vec<V> {
        self.most_cost = most_cost;
        let mut left = Vec::new();
        self.shrink(self.most, most_cost, &mut left);
        left
    }

    /// Removes the entry that was not used for the longest time.
    pub fn pop_oldest(&mut self) -> Option<V> {
        let oldest = self.oldest()?;
        Some(self.remove_at(oldest))
    }

    /// Removes all entries, the oldest first. The limits stay.
    #[must_use]
    pub fn clear(&mut self) -> Vec<V> {
        let mut left = Vec::with_capacity(self.len());
        self.shrink(0, 0, &mut left);
        left
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The greatest number of entries.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The limit of the costs' sum.
    #[cfg(test)]
    pub(crate) fn most_cost(&self) -> u64 {
        self.most_cost
    }

    /// Removes the oldest entries until at most `most` are left, with a sum of at most `cost`.
    fn shrink(&mut self, most: usize, cost: u64, left: &mut Vec<V>) {
        while self.len() > most || self.cost > cost {
            let Some(oldest) = self.pop_oldest() else { return };
            left.push(oldest);
        }
    }

    /// The index of the entry that was not used for the longest time.
    fn oldest(&mut self) -> Option<usize> {
        // Each step finds the unnoticed uses of one entry. If other threads use all entries as fast
        // as this loop runs, any entry may be evicted.
        for _ in 0..self.entries.len() {
            let (&seen, &at) = self.order.first_key_value()?;
            let last_use = self.entries[at].value.age().last_use();
            if last_use == seen {
                break;
            }
            self.order.remove(&seen);
            self.order.insert(last_use, at);
            self.entries[at].seen = last_use;
        }
        self.order.first_key_value().map(|(_, &at)| at)
    }

    /// Removes the entry at an index.
    fn remove_at(&mut self, at: usize) -> V {
        let entry = self.entries.swap_remove(at);
        self.places.remove(&entry.key);
        self.order.remove(&entry.seen);
        self.cost -= entry.cost;
        // The entry that was the last in the vector is at this index now.
        if let Some(moved) = self.entries.get(at) {
            if let Some(place) = self.places.get_mut(&moved.key) {
                *place = at;
            }
            if let Some(place) = self.order.get_mut(&moved.seen) {
                *place = at;
            }
        }
        entry.value
    }
}
