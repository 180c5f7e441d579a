//! The connections that wait for keys.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::holdings::{Budget, shrink_map, wait_bytes};
use super::refusal::Refusal;

/// A connection's number.
pub(crate) type Peer = u64;

/// Which connection waits for which keys.
#[derive(Default)]
pub(super) struct Waits {
    /// The connections that wait for a key.
    waiting: HashMap<Vec<u8>, BTreeSet<Peer>>,
    /// The keys that a waiting connection still misses.
    missing: BTreeMap<Peer, BTreeSet<Vec<u8>>>,
}

impl Waits {
    /// Begins a connection's wait for keys. Whether there is anything to wait for.
    pub(super) fn begin(
        &mut self,
        peer: Peer,
        missing: BTreeSet<Vec<u8>>,
        budget: &mut Budget,
    ) -> Result<bool, Refusal> {
        if self.missing.contains_key(&peer) {
            return Err(Refusal::new("a wait within a wait", "a wait within a wait"));
        }
        if missing.is_empty() {
            return Ok(false);
        }
        budget.take(missing.iter().map(|key| wait_bytes(key)).sum(), 0)?;
        for key in &missing {
            self.waiting.entry(key.clone()).or_default().insert(peer);
        }
        self.missing.insert(peer, missing);
        Ok(true)
    }

    /// The connections, at most `most`, that waited for this key and for no other.
    pub(super) fn wake(&mut self, key: &[u8], most: usize, budget: &mut Budget) -> Vec<Peer> {
        let Some(peers) = self.waiting.get_mut(key) else { return Vec::new() };
        let mut awake = Vec::new();
        while awake.len() < most
            && let Some(peer) = peers.pop_first()
        {
            let Some(missing) = self.missing.get_mut(&peer) else { continue };
            missing.remove(key);
            budget.give(wait_bytes(key));
            if missing.is_empty() {
                self.missing.remove(&peer);
                awake.push(peer);
            }
        }
        if peers.is_empty() {
            self.waiting.remove(key);
            shrink_map(&mut self.waiting);
        }
        awake
    }

    /// Ends a connection's wait.
    pub(super) fn forget(&mut self, peer: Peer, budget: &mut Budget) {
        for key in self.missing.remove(&peer).unwrap_or_default() {
            budget.give(wait_bytes(&key));
            if let Some(peers) = self.waiting.get_mut(&key) {
                peers.remove(&peer);
                if peers.is_empty() {
                    self.waiting.remove(&key);
                    shrink_map(&mut self.waiting);
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.missing.is_empty()
    }
}
