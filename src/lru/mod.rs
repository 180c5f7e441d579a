//! A least-recently-used map with a limit in number and one in cost.
//!
//! Entries lie without gaps in one vector, linked by their indices from the newest use to the oldest;
//! a hash table finds the index of a key. Everything takes constant time for each entry it touches.
//!
//! What has to leave is given back rather than dropped: destroying a plan may wait for a device, and
//! the caller holds a lock.

mod hash;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::hash::Hash;

use hash::WordHash;

/// No entry.
const NONE: usize = usize::MAX;

struct Entry<K, V> {
    key: K,
    value: V,
    cost: u64,
    newer: usize,
    older: usize,
}

/// See the module.
pub(crate) struct Lru<K, V> {
    places: HashMap<K, usize, WordHash>,
    entries: Vec<Entry<K, V>>,
    newest: usize,
    oldest: usize,
    most: usize,
    most_cost: u64,
    /// The sum of all entries' costs, at most `most_cost`.
    cost: u64,
}

impl<K: Eq + Hash + Clone, V> Lru<K, V> {
    /// An empty map that will keep at most `most` entries, and of those at most `most_cost` in all.
    pub(crate) fn new(most: usize, most_cost: u64) -> Self {
        Lru {
            places: HashMap::default(),
            entries: Vec::new(),
            newest: NONE,
            oldest: NONE,
            most,
            most_cost,
            cost: 0,
        }
    }

    /// The value of a key, which becomes the newest.
    pub(crate) fn get(&mut self, key: &K) -> Option<&mut V> {
        let at = *self.places.get(key)?;
        Some(self.renew(at))
    }

    /// The value that lies at `at`, which becomes the newest if it is the one: for those who know where
    /// it was ([`Lru::newest_at`]) and what tells it from others. Others may lie there now.
    #[inline]
    pub(crate) fn get_at(&mut self, at: usize, is_it: impl FnOnce(&V) -> bool) -> Option<&mut V> {
        if !is_it(&self.entries.get(at)?.value) {
            return None;
        }
        Some(self.renew(at))
    }

    /// Where the newest value lies.
    pub(crate) fn newest_at(&self) -> usize {
        self.newest
    }

    #[inline]
    fn renew(&mut self, at: usize) -> &mut V {
        if at != self.newest {
            self.unlink(at);
            self.link(at);
        }
        &mut self.entries[at].value
    }

    /// The value of a key, whose age stays.
    pub(crate) fn peek(&self, key: &K) -> Option<&V> {
        self.places.get(key).map(|&at| &self.entries[at].value)
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
        let at = self.entries.len();
        self.places.insert(key.clone(), at);
        self.entries.push(Entry { key, value, cost, newer: NONE, older: NONE });
        self.link(at);
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
            let itself = self.entries[self.oldest].key == *key;
            left.extend(self.pop_oldest());
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
        let at = self.places.remove(key)?;
        self.unlink(at);
        let entry = self.entries.swap_remove(at);
        self.cost -= entry.cost;
        // The entry that was the last in the vector lies here now.
        if let Some(moved) = self.entries.get(at) {
            let (newer, older) = (moved.newer, moved.older);
            if let Some(place) = self.places.get_mut(&moved.key) {
                *place = at;
            }
            *self.newer_link(older) = at;
            *self.older_link(newer) = at;
        }
        Some(entry.value)
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
        let key = self.entries.get(self.oldest)?.key.clone();
        self.remove(&key)
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

    /// What tells which entry is newer than the one at `at`; of none: which is the oldest.
    #[inline]
    fn newer_link(&mut self, at: usize) -> &mut usize {
        match self.entries.get_mut(at) {
            Some(entry) => &mut entry.newer,
            None => &mut self.oldest,
        }
    }

    /// What tells which entry is older than the one at `at`; of none: which is the newest.
    #[inline]
    fn older_link(&mut self, at: usize) -> &mut usize {
        match self.entries.get_mut(at) {
            Some(entry) => &mut entry.older,
            None => &mut self.newest,
        }
    }

    /// Takes an entry out of the order.
    #[inline]
    fn unlink(&mut self, at: usize) {
        let (newer, older) = (self.entries[at].newer, self.entries[at].older);
        *self.newer_link(older) = newer;
        *self.older_link(newer) = older;
    }

    /// Puts an entry into the order as the newest.
    #[inline]
    fn link(&mut self, at: usize) {
        let before = self.newest;
        self.entries[at].newer = NONE;
        self.entries[at].older = before;
        *self.newer_link(before) = at;
        self.newest = at;
    }
}
