//! The connections that wait for keys.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::holdings::{Budget, shrink_map, shrink_queue, wait_bytes};
use super::refusal::Refusal;

/// A connection's number.
pub(crate) type Peer = u64;

/// The number of a wait, in the order in which they begin.
type WaitNumber = u64;

/// Which connection waits for which keys.
#[derive(Default)]
pub(super) struct Waits {
    /// The waits for a key.
    waiting: HashMap<Vec<u8>, BTreeSet<WaitNumber>>,
    /// The connection of each wait, and the keys that it still misses.
    missing: BTreeMap<WaitNumber, (Peer, BTreeSet<Vec<u8>>)>,
    /// The waits of connections.
    of_peers: BTreeMap<Peer, WaitNumber>,
    /// Waits of connections that have closed, whose keys are still to be removed: many may close at once.
    ended: VecDeque<(WaitNumber, BTreeSet<Vec<u8>>)>,
    begun: WaitNumber,
}

impl Waits {
    /// Begins a connection's wait for keys. Whether there is anything to wait for.
    pub(super) fn begin(
        &mut self,
        peer: Peer,
        missing: BTreeSet<Vec<u8>>,
        budget: &mut Budget,
    ) -> Result<bool, Refusal> {
        if self.of_peers.contains_key(&peer) {
            return Err(Refusal::new("a wait within a wait", "a wait within a wait"));
        }
        if missing.is_empty() {
            return Ok(false);
        }
        // Waits do not begin faster than ended ones are removed.
        self.tidy(2 * missing.len(), budget);
        budget.take(missing.iter().map(|key| wait_bytes(key)).sum(), 0)?;
        self.begun += 1;
        for key in &missing {
            self.waiting.entry(key.clone()).or_default().insert(self.begun);
        }
        self.missing.insert(self.begun, (peer, missing));
        self.of_peers.insert(peer, self.begun);
        Ok(true)
    }

    /// The connections, at most `most`, that waited for this key and for no other.
    pub(super) fn wake(&mut self, key: &[u8], most: usize, budget: &mut Budget) -> Vec<Peer> {
        let Some(numbers) = self.waiting.get_mut(key) else { return Vec::new() };
        let mut awake = Vec::new();
        while awake.len() < most
            && let Some(number) = numbers.pop_first()
        {
            // One that has ended is removed by its own list.
            let Some((peer, missing)) = self.missing.get_mut(&number) else { continue };
            missing.remove(key);
            budget.give(wait_bytes(key));
            if missing.is_empty() {
                awake.push(*peer);
                self.of_peers.remove(peer);
                self.missing.remove(&number);
            }
        }
        if numbers.is_empty() {
            self.waiting.remove(key);
            shrink_map(&mut self.waiting);
        }
        awake
    }

    /// Ends a connection's wait. [`Waits::tidy`] removes its keys.
    pub(super) fn end(&mut self, peer: Peer) {
        let number = self.of_peers.remove(&peer);
        if let Some((number, (_, missing))) = number.and_then(|it| self.missing.remove_entry(&it)) {
            self.ended.push_back((number, missing));
        }
    }

    /// Ends a connection's wait and removes its keys, which takes no longer than its begin did.
    pub(super) fn cancel(&mut self, peer: Peer, budget: &mut Budget) {
        let before = self.ended.len();
        self.end(peer);
        if self.ended.len() > before
            && let Some(ended) = self.ended.pop_back()
        {
            let keys = ended.1.len();
            self.ended.push_front(ended);
            self.tidy(keys, budget);
        }
    }

    /// Removes at most so many keys of waits that have ended.
    pub(super) fn tidy(&mut self, most: usize, budget: &mut Budget) {
        let mut left = most;
        while left > 0
            && let Some((number, keys)) = self.ended.front_mut()
        {
            left -= 1;
            if let Some(key) = keys.pop_first() {
                budget.give(wait_bytes(&key));
                if let Some(numbers) = self.waiting.get_mut(&key) {
                    numbers.remove(number);
                    if numbers.is_empty() {
                        self.waiting.remove(&key);
                        shrink_map(&mut self.waiting);
                    }
                }
            }
            if keys.is_empty() {
                self.ended.pop_front();
                shrink_queue(&mut self.ended);
            }
        }
    }

    /// Whether waits have ended whose keys are still to be removed.
    pub(super) fn is_untidy(&self) -> bool {
        !self.ended.is_empty()
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
            && self.missing.is_empty()
            && self.of_peers.is_empty()
            && self.ended.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(from: u32, count: u32) -> BTreeSet<Vec<u8>> {
        (from..from + count).map(|key| key.to_be_bytes().to_vec()).collect()
    }

    #[test]
    fn waits_of_closed_connections_are_removed_in_steps_that_others_do_not_notice() {
        let (mut waits, mut budget) = (Waits::default(), Budget::default());
        for peer in 0..8 {
            assert!(waits.begin(peer, keys(peer as u32 * 500, 1000), &mut budget).unwrap());
        }
        assert!(waits.begin(9, keys(0, 1), &mut budget).unwrap());
        let held = budget.held();
        (0..8).for_each(|peer| waits.end(peer));
        assert_eq!(budget.held(), held, "nothing is removed at once");
        // A key of an ended wait wakes whoever waits still, also for one value of a queue.
        assert_eq!(waits.wake(&0_u32.to_be_bytes(), 1, &mut budget), [9]);
        let mut steps = 0;
        while waits.is_untidy() {
            let before = budget.held();
            waits.tidy(100, &mut budget);
            assert!(before - budget.held() <= 100 * wait_bytes(&[0; 4]));
            steps += 1;
        }
        assert!((80..=81).contains(&steps), "{steps}");
        assert!(waits.is_empty() && budget.held() == 0);
    }

    #[test]
    fn a_connection_that_waits_anew_keeps_its_new_wait() {
        let (mut waits, mut budget) = (Waits::default(), Budget::default());
        assert!(waits.begin(1, keys(0, 10), &mut budget).unwrap());
        waits.end(2);
        waits.end(1);
        assert!(waits.begin(1, keys(5, 1), &mut budget).unwrap());
        waits.tidy(usize::MAX, &mut budget);
        assert_eq!(waits.wake(&5_u32.to_be_bytes(), usize::MAX, &mut budget), [1]);
        assert!(waits.is_empty() && budget.held() == 0);
    }

    #[test]
    fn a_cancelled_wait_is_removed_at_once_and_alone() {
        let (mut waits, mut budget) = (Waits::default(), Budget::default());
        assert!(waits.begin(1, keys(0, 10), &mut budget).unwrap());
        assert!(waits.begin(2, keys(0, 20), &mut budget).unwrap());
        waits.end(1);
        waits.cancel(2, &mut budget);
        assert_eq!(budget.held(), 10 * wait_bytes(&[0; 4]));
        waits.cancel(2, &mut budget);
        assert_eq!(budget.held(), 10 * wait_bytes(&[0; 4]));
        waits.tidy(10, &mut budget);
        assert!(waits.is_empty());
    }

    #[test]
    fn waits_that_end_are_removed_as_fast_as_others_begin() {
        let (mut waits, mut budget) = (Waits::default(), Budget::default());
        for peer in 0..1000 {
            assert!(waits.begin(peer, keys(0, 1000), &mut budget).unwrap());
            waits.end(peer);
            assert!(budget.held() <= 2 * 1000 * wait_bytes(&[0; 4]), "{peer}");
        }
    }
}
