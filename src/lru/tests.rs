//! Random scripts against a vector that is searched from end to end, and the structure after each
//! step.

use super::*;
use proptest::prelude::*;
use std::fmt::Debug;

impl<K: Eq + Hash + Clone + Debug, V> Lru<K, V> {
    /// Follows every link and checks that all agree. Gives the keys, the newest first.
    fn check(&self) -> Vec<K> {
        assert_eq!(self.places.len(), self.entries.len());
        assert!(self.len() <= self.most && self.cost <= self.most_cost);
        let mut keys = Vec::new();
        let (mut at, mut newer, mut cost) = (self.newest, NONE, 0);
        while at != NONE {
            let entry = &self.entries[at];
            assert_eq!(entry.newer, newer, "the way back");
            assert_eq!(self.places[&entry.key], at, "{:?}", entry.key);
            cost += entry.cost;
            keys.push(entry.key.clone());
            assert!(keys.len() <= self.len(), "a circle");
            newer = at;
            at = entry.older;
        }
        assert_eq!(self.oldest, newer);
        assert_eq!((keys.len(), cost), (self.len(), self.cost));
        keys
    }
}

/// Key, value and cost, the newest first.
struct Model {
    entries: Vec<(u8, u32, u64)>,
    most: usize,
    most_cost: u64,
}

impl Model {
    fn find(&self, key: u8) -> Option<usize> {
        self.entries.iter().position(|entry| entry.0 == key)
    }

    fn cost(&self) -> u128 {
        self.entries.iter().map(|entry| u128::from(entry.2)).sum()
    }

    fn shrink(&mut self) -> Vec<u32> {
        let mut left = Vec::new();
        while self.entries.len() > self.most || self.cost() > u128::from(self.most_cost) {
            left.push(self.entries.pop().unwrap().1);
        }
        left
    }

    fn remove(&mut self, key: u8) -> Option<u32> {
        self.find(key).map(|at| self.entries.remove(at).1)
    }

    fn insert(&mut self, key: u8, value: u32, cost: u64) -> Vec<u32> {
        let mut left: Vec<u32> = self.remove(key).into_iter().collect();
        if self.most == 0 || cost > self.most_cost {
            left.push(value);
        } else {
            self.entries.insert(0, (key, value, cost));
            left.extend(self.shrink());
        }
        left
    }

    fn set_cost(&mut self, key: u8, cost: u64) -> Vec<u32> {
        let Some(at) = self.find(key) else { return Vec::new() };
        if cost > self.most_cost {
            return vec![self.entries.remove(at).1];
        }
        self.entries[at].2 = cost;
        self.shrink()
    }
}

#[derive(Clone, Debug)]
enum Step {
    Get(u8),
    GetAt(usize),
    Peek(u8),
    Insert(u8, u64),
    SetCost(u8, u64),
    Remove(u8),
    SetMost(usize),
    SetMostCost(u64),
    PopOldest,
    Clear,
}

fn cost() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..30_u64, 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(u64::MAX - 3)]
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..12_u8;
    prop_oneof![
        6 => key().prop_map(Step::Get),
        3 => (0..80_usize).prop_map(Step::GetAt),
        1 => key().prop_map(Step::Peek),
        8 => (key(), cost()).prop_map(|(key, cost)| Step::Insert(key, cost)),
        3 => (key(), cost()).prop_map(|(key, cost)| Step::SetCost(key, cost)),
        2 => key().prop_map(Step::Remove),
        1 => (0..10_usize).prop_map(Step::SetMost),
        1 => prop_oneof![0..100_u64, Just(u64::MAX)].prop_map(Step::SetMostCost),
        1 => Just(Step::PopOldest),
        1 => Just(Step::Clear),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 2 } else { 600 },
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn random_scripts_go_as_a_searched_vector_has_it(
        most in 0..10_usize,
        most_cost in prop_oneof![0..100_u64, Just(u64::MAX)],
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut lru: Lru<u8, u32> = Lru::new(most, most_cost);
        let mut model = Model { entries: Vec::new(), most, most_cost };
        // Where values were when they were the newest.
        let mut known: Vec<(usize, u32)> = Vec::new();
        for (value, step) in steps.into_iter().enumerate() {
            let value = value as u32;
            match step {
                Step::Get(key) => {
                    let expected = model.find(key).map(|at| {
                        let entry = model.entries.remove(at);
                        model.entries.insert(0, entry);
                        entry.1
                    });
                    prop_assert_eq!(lru.get(&key).map(|value| *value), expected);
                }
                Step::GetAt(which) if known.is_empty() => _ = which,
                Step::GetAt(which) => {
                    let (at, value) = known[which % known.len()];
                    match lru.get_at(at, |found| *found == value).copied() {
                        Some(found) => {
                            prop_assert_eq!(found, value);
                            let place = model.entries.iter().position(|entry| entry.1 == value);
                            let entry = model.entries.remove(place.unwrap());
                            model.entries.insert(0, entry);
                        }
                        None => {
                            let there = lru.entries.get(at);
                            prop_assert!(there.is_none_or(|entry| entry.value != value));
                        }
                    }
                }
                Step::Peek(key) => {
                    let expected = model.find(key).map(|at| model.entries[at].1);
                    prop_assert_eq!(lru.peek(&key).copied(), expected);
                }
                Step::Insert(key, cost) => {
                    prop_assert_eq!(lru.insert(key, value, cost), model.insert(key, value, cost));
                }
                Step::SetCost(key, cost) => {
                    prop_assert_eq!(lru.set_cost(&key, cost), model.set_cost(key, cost));
                }
                Step::Remove(key) => prop_assert_eq!(lru.remove(&key), model.remove(key)),
                Step::SetMost(most) => {
                    model.most = most;
                    prop_assert_eq!(lru.set_most(most), model.shrink());
                }
                Step::SetMostCost(most) => {
                    model.most_cost = most;
                    prop_assert_eq!(lru.set_most_cost(most), model.shrink());
                }
                Step::PopOldest => {
                    let expected = model.entries.pop().map(|entry| entry.1);
                    prop_assert_eq!(lru.pop_oldest(), expected);
                }
                Step::Clear => {
                    let mut expected: Vec<u32> =
                        model.entries.drain(..).map(|entry| entry.1).collect();
                    expected.reverse();
                    prop_assert_eq!(lru.clear(), expected);
                }
            }
            if let Some((_, value, _)) = model.entries.first() {
                known.push((lru.newest_at(), *value));
            }
            let keys: Vec<u8> = model.entries.iter().map(|entry| entry.0).collect();
            prop_assert_eq!(lru.check(), keys);
            prop_assert_eq!(lru.len(), model.entries.len());
            prop_assert_eq!(u128::from(lru.cost), model.cost());
            prop_assert_eq!((lru.most(), lru.most_cost()), (model.most, model.most_cost));
        }
    }
}

#[test]
fn a_value_can_be_changed_in_place() {
    let mut lru = Lru::new(2, 10);
    assert_eq!(lru.insert("a", 1, 3), []);
    *lru.get(&"a").unwrap() += 1;
    assert_eq!(lru.peek(&"a"), Some(&2));
    assert_eq!(lru.insert("a", 5, 4), [2]);
    assert_eq!(lru.cost, 4);
}
