//! A least-recently-used map with a limit in number and one in cost.
//!
//! Entries are in one vector without gaps; a hash table finds the index of a key. Entries are sorted by the
//! last use that the map has seen. Uses can be noted without the map ([`UseClock::note_use`]); the map sees
//! them when the entry would be evicted next, and then moves the entry to its true place. So each use costs
//! at most one step in an ordered table, and only if an entry has to leave.
//!
//! Entries that leave are returned rather than dropped: destroying a plan may wait for a device, and the
//! caller holds a lock.

mod age;
mod hash;
#[cfg(test)]
mod tests;

pub(crate) use age::{Age, Aged, UseClock};

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use hash::WordHash;

struct Entry<K, V> {
    key: K,
    value: V,
    cost: u64,
    /// The last use that the map has seen: the key of the order.
    seen: u64,
}

/// See the module.
pub(crate) struct Lru<K, V> {
    clock: UseClock,
    places: HashMap<K, usize, WordHash>,
    entries: Vec<Entry<K, V>>,
    /// From the last use that was seen of an entry to its index.
    order: BTreeMap<u64, usize>,
    most: usize,
    most_cost: u64,
    /// The sum of all entries' costs, at most `most_cost`.
    cost: u64,
}

impl<K: Eq + Hash + Clone, V: Aged> Lru<K, V> {
    /// An empty map for at most `most` entries that cost at most `most_cost` together.
    pub(crate) fn new(most: usize, most_cost: u64) -> Self {
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

    /// The clock by which uses of entries are noted.
    pub(crate) fn clock(&self) -> &UseClock {
        &self.clock
    }

    /// The value of a key, which becomes the newest.
    #[inline]
    pub(crate) fn get(&mut self, key: &K) -> Option<&mut V> {
        let at = *self.places.get(key)?;
        let value = &mut self.entries[at].value;
        self.clock.note_use(value.age());
        Some(value)
    }

    /// The value of a key, whose age stays.
    pub(crate) fn peek(&mut self, key: &K) -> Option<&mut V> {
        self.places.get(key).map(|&at| &mut self.entries[at].value)
    }

    /// All values, in no order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// Inserts a value as the most recently used. Returns the values that leave: the one that the key had, and
    /// the least recently used others, the oldest first; the value itself if it costs more than the limit.
    #[must_use]
    pub(crate) fn insert(&mut self, key: K, value: V, cost: u64) -> Vec<V> {
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

    /// Sets the cost of an entry, whose age stays. Returns the values that leave, the oldest first, which may
    /// include the entry; only the entry if it costs more than the limit.
    #[must_use]
    pub(crate) fn set_cost(&mut self, key: &K, cost: u64) -> Vec<V> {
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
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let at = *self.places.get(key)?;
        Some(self.remove_at(at))
    }

    /// Sets the limit of entries. Returns the values that leave, the oldest first.
    #[must_use]
    pub(crate) fn set_most(&mut self, most: usize) -> Vec<V> {
        self.most = most;
        let mut left = Vec::new();
        self.shrink(most, self.most_cost, &mut left);
        left
    }

    /// Sets the limit of the costs. Returns the values that leave, the oldest first.
    #[must_use]
    pub(crate) fn set_most_cost(&mut self, most_cost: u64) -> Vec<V> {
        self.most_cost = most_cost;
        let mut left = Vec::new();
        self.shrink(self.most, most_cost, &mut left);
        left
    }

    /// Removes the least recently used entry.
    pub(crate) fn pop_oldest(&mut self) -> Option<V> {
        let oldest = self.oldest()?;
        Some(self.remove_at(oldest))
    }

    /// Removes all entries, the oldest first. Limits stay.
    #[must_use]
    pub(crate) fn clear(&mut self) -> Vec<V> {
        let mut left = Vec::with_capacity(self.len());
        self.shrink(0, 0, &mut left);
        left
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The limit of entries.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The limit of the costs.
    pub(crate) fn most_cost(&self) -> u64 {
        self.most_cost
    }

    /// Removes the oldest entries until at most `most` are left, which cost at most `cost`.
    fn shrink(&mut self, most: usize, cost: u64, left: &mut Vec<V>) {
        while self.len() > most || self.cost > cost {
            let Some(oldest) = self.pop_oldest() else { return };
            left.push(oldest);
        }
    }

    /// The index of the least recently used entry.
    fn oldest(&mut self) -> Option<usize> {
        // Each step sees the uses of one entry. If other threads use all entries as fast, any may leave.
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
        // The last entry of the vector is at this index now.
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
