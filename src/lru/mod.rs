//! A least-recently-used map with a limit in number and one in cost.
//!
//! Entries lie without gaps in one vector; a hash table finds the index of a key. What an entry is
//! sorted by is the last use that the map has seen of it. Others may note uses that the map does not see
//! ([`Clock::note_use`]); they come to light when the entry would be the next to leave, and it is put
//! where it belongs. So each use is paid for once, by a step in an ordered table, and only if something
//! has to leave.
//!
//! What has to leave is given back rather than dropped: destroying a plan may wait for a device, and
//! the caller holds a lock.

mod age;
mod hash;
#[cfg(test)]
mod tests;

pub(crate) use age::{Age, Aged, Clock};

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use hash::WordHash;

struct Entry<K, V> {
    key: K,
    value: V,
    cost: u64,
    /// The last use that was seen: its place in the order.
    seen: u64,
}

/// See the module.
pub(crate) struct Lru<K, V> {
    clock: Clock,
    places: HashMap<K, usize, WordHash>,
    entries: Vec<Entry<K, V>>,
    /// From the last use that was seen of an entry to where it lies.
    order: BTreeMap<u64, usize>,
    most: usize,
    most_cost: u64,
    /// The sum of all entries' costs, at most `most_cost`.
    cost: u64,
}

impl<K: Eq + Hash + Clone, V: Aged> Lru<K, V> {
    /// An empty map that will keep at most `most` entries, and of those at most `most_cost` in all.
    pub(crate) fn new(most: usize, most_cost: u64) -> Self {
        Lru {
            clock: Clock::new(),
            places: HashMap::default(),
            entries: Vec::new(),
            order: BTreeMap::new(),
            most,
            most_cost,
            cost: 0,
        }
    }

    /// What uses of entries are noted by.
    pub(crate) fn clock(&self) -> &Clock {
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

    /// Puts a value in as the newest, and gives what left for it: the value that the key had, and
    /// the oldest others, oldest first. A value that costs more than all may is given back itself.
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

    /// Sets what an entry costs, its age stays, and gives what leaves for it, the oldest first, which
    /// may be the entry. One that costs more than all may leaves alone.
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

    /// Takes a key out.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let at = *self.places.get(key)?;
        Some(self.remove_at(at))
    }

    /// Sets the most entries, and gives those that leave, the oldest first.
    #[must_use]
    pub(crate) fn set_most(&mut self, most: usize) -> Vec<V> {
        self.most = most;
        let mut left = Vec::new();
        self.shrink(most, self.most_cost, &mut left);
        left
    }

    /// Sets the most that all may cost, and gives the entries that leave, the oldest first.
    #[must_use]
    pub(crate) fn set_most_cost(&mut self, most_cost: u64) -> Vec<V> {
        self.most_cost = most_cost;
        let mut left = Vec::new();
        self.shrink(self.most, most_cost, &mut left);
        left
    }

    /// Takes out the entry that was not used for longest.
    pub(crate) fn pop_oldest(&mut self) -> Option<V> {
        let oldest = self.oldest()?;
        Some(self.remove_at(oldest))
    }

    /// Takes all out, the oldest first. Limits stay.
    #[must_use]
    pub(crate) fn clear(&mut self) -> Vec<V> {
        let mut left = Vec::with_capacity(self.len());
        self.shrink(0, 0, &mut left);
        left
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The most entries.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The most that all may cost.
    pub(crate) fn most_cost(&self) -> u64 {
        self.most_cost
    }

    /// Takes the oldest out until no more than `most` are left that cost no more than `cost`.
    fn shrink(&mut self, most: usize, cost: u64, left: &mut Vec<V>) {
        while self.len() > most || self.cost > cost {
            let Some(oldest) = self.pop_oldest() else { return };
            left.push(oldest);
        }
    }

    /// Where the entry lies that was not used for longest.
    fn oldest(&mut self) -> Option<usize> {
        // Each step brings the uses of one entry to light. Where all are used as fast as this goes on,
        // any may leave.
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

    /// Takes out the entry that lies there.
    fn remove_at(&mut self, at: usize) -> V {
        let entry = self.entries.swap_remove(at);
        self.places.remove(&entry.key);
        self.order.remove(&entry.seen);
        self.cost -= entry.cost;
        // The entry that was the last in the vector lies here now.
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
