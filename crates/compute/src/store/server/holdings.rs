//! The memory of a table: what its entries are counted as, and containers that give memory back when they empty.
//!
//! Entries are counted with the capacity of their containers, so the count is not below what the table
//! takes from the system's allocator. A container has a capacity of at most three times what it holds ([`has_excess`]).

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use super::super::limits::MOST_TABLE_BYTES;
use super::refusal::Refusal;

/// What a value takes besides its key and its bytes: two vectors in a place of a map, the map's free places, and the
/// headers of two allocations.
const ENTRY_BYTES: usize = 256;
/// The same of a queue, with the first places of its values.
const QUEUE_BYTES: usize = 384;
/// What a value in a queue takes besides its bytes.
const QUEUED_BYTES: usize = 128;
/// What a wait for a key takes besides the key, which is stored twice: places in two sets and a map.
const WAIT_BYTES: usize = 512;

/// The memory of a value, with its capacity.
pub(super) fn entry_bytes(key: &[u8], capacity: usize) -> usize {
    key.len() + capacity + ENTRY_BYTES
}

/// The memory of a queue without its values.
pub(super) fn queue_bytes(key: &[u8]) -> usize {
    key.len() + QUEUE_BYTES
}

/// The memory of a value in a queue.
pub(super) fn queued_bytes(value: &[u8]) -> usize {
    value.len() + QUEUED_BYTES
}

/// The memory of a connection's wait for a key.
pub(super) fn wait_bytes(key: &[u8]) -> usize {
    2 * key.len() + WAIT_BYTES
}

/// The bytes that a table holds.
#[derive(Default)]
pub(super) struct Budget {
    held: usize,
}

impl Budget {
    /// Counts bytes that come and go, unless they are too many.
    pub(super) fn take(&mut self, more: usize, less: usize) -> Result<(), Refusal> {
        let held = self.held + more - less;
        if held > MOST_TABLE_BYTES && more > less {
            return Err(Refusal::new(
                "a full table",
                format!(
                    "{more} bytes for a table that holds {} of at most {MOST_TABLE_BYTES}",
                    self.held
                ),
            ));
        }
        self.held = held;
        Ok(())
    }

    /// Counts bytes that go.
    pub(super) fn give(&mut self, less: usize) {
        self.held -= less;
    }

    /// The bytes that are counted.
    pub(super) fn held(&self) -> usize {
        self.held
    }
}

/// Whether a container has so much more capacity than it needs that it gives memory back. It then keeps half as much
/// again as it holds, so giving back costs no more than the removals that led to it.
fn has_excess(length: usize, capacity: usize) -> bool {
    const LEAST: usize = 32;
    capacity > LEAST && length < capacity / 3
}

/// Gives back the memory of a map from which entries were removed.
pub(super) fn shrink_map<K: Eq + Hash, V>(map: &mut HashMap<K, V>) {
    if has_excess(map.len(), map.capacity()) {
        map.shrink_to(map.len() + map.len() / 2);
    }
}

/// Gives back the memory of a queue from which values were removed.
pub(super) fn shrink_queue<T>(queue: &mut VecDeque<T>) {
    if has_excess(queue.len(), queue.capacity()) {
        queue.shrink_to(queue.len() + queue.len() / 2);
    }
}

/// Gives back the memory of bytes some of which were removed.
pub(super) fn shrink_bytes(bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        *bytes = Vec::new();
    } else if has_excess(bytes.len(), bytes.capacity()) {
        bytes.shrink_to(bytes.len() + bytes.len() / 2);
    }
}

/// The new capacity of bytes that grow to `length`: twice as much as before, within a limit.
pub(super) fn grown(capacity: usize, length: usize, most: usize) -> usize {
    if length <= capacity { capacity } else { (2 * capacity).min(most).max(length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_have_a_capacity_of_at_most_three_times_what_they_hold() {
        let mut map: HashMap<u32, u32> = (0..100_000).map(|key| (key, key)).collect();
        let mut queue: VecDeque<u32> = (0..100_000).collect();
        let mut bytes = vec![0; 100_000];
        for left in (0..100_000_u32).rev() {
            map.remove(&left);
            shrink_map(&mut map);
            queue.pop_front();
            shrink_queue(&mut queue);
            bytes.pop();
            shrink_bytes(&mut bytes);
            let most = 3 * (left as usize + 1) + 32;
            assert!(map.capacity() <= most && queue.capacity() <= most, "{left}");
            assert!(bytes.capacity() <= most, "{left}");
        }
    }
}
