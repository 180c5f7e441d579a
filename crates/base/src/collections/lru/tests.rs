//! Random scripts against a vector that is searched from end to end, and the structure after each
//! step.

use std::fmt::Debug;

use proptest::prelude::*;

use super::*;

/// A number that can be used.
#[derive(Default)]
struct Value {
    number: u32,
    age: Age,
}

impl Value {
    fn new(number: u32) -> Value {
        Value { number, ..Value::default() }
    }
}

impl Aged for Value {
    fn age(&self) -> &Age {
        &self.age
    }
}

fn numbers(left: Vec<Value>) -> Vec<u32> {
    left.into_iter().map(|value| value.number).collect()
}

impl<K: Eq + Hash + Clone + Debug> Lru<K, Value> {
    /// Checks that table, order and entries agree. Returns the keys, the newest first.
    fn check(&self) -> Vec<K> {
        assert_eq!((self.places.len(), self.order.len()), (self.len(), self.len()));
        assert!(self.len() <= self.most && self.cost <= self.most_cost);
        let mut cost = 0;
        let mut newest_first = BTreeMap::new();
        for (at, entry) in self.entries.iter().enumerate() {
            assert_eq!(self.places[&entry.key], at, "{:?}", entry.key);
            assert_eq!(self.order[&entry.seen], at, "{:?}", entry.key);
            let last_use = entry.value.age().last_use();
            assert!(entry.seen <= last_use, "a use that was not noted: {:?}", entry.key);
            let same = newest_first.insert(std::cmp::Reverse(last_use), entry.key.clone());
            assert!(same.is_none(), "two of one age");
            cost += entry.cost;
        }
        assert_eq!(cost, self.cost);
        newest_first.into_values().collect()
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
    NoteUse(u8),
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
        6 => key().prop_map(Step::NoteUse),
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
        steps in prop::collection::vec(step(), 0..if cfg!(miri) { 15 } else { 80 }),
    ) {
        let mut lru: Lru<u8, Value> = Lru::new(most, most_cost);
        let mut model = Model { entries: Vec::new(), most, most_cost };
        for (value, step) in steps.into_iter().enumerate() {
            let value = value as u32;
            match step {
                Step::Get(key) => {
                    let expected = model.find(key).map(|at| {
                        let entry = model.entries.remove(at);
                        model.entries.insert(0, entry);
                        entry.1
                    });
                    prop_assert_eq!(lru.get(&key).map(|value| value.number), expected);
                }
                Step::NoteUse(key) => {
                    let clock = lru.clock().clone();
                    if let Some(value) = lru.peek(&key) {
                        clock.note_use(value.age());
                        let entry = model.entries.remove(model.find(key).unwrap());
                        model.entries.insert(0, entry);
                    }
                }
                Step::Peek(key) => {
                    let expected = model.find(key).map(|at| model.entries[at].1);
                    prop_assert_eq!(lru.peek(&key).map(|value| value.number), expected);
                }
                Step::Insert(key, cost) => {
                    let left = lru.insert(key, Value::new(value), cost);
                    prop_assert_eq!(numbers(left), model.insert(key, value, cost));
                }
                Step::SetCost(key, cost) => {
                    let left = lru.set_cost(&key, cost);
                    prop_assert_eq!(numbers(left), model.set_cost(key, cost));
                }
                Step::Remove(key) => {
                    let left = lru.remove(&key).map(|value| value.number);
                    prop_assert_eq!(left, model.remove(key));
                }
                Step::SetMost(most) => {
                    model.most = most;
                    prop_assert_eq!(numbers(lru.set_most(most)), model.shrink());
                }
                Step::SetMostCost(most) => {
                    model.most_cost = most;
                    prop_assert_eq!(numbers(lru.set_most_cost(most)), model.shrink());
                }
                Step::PopOldest => {
                    let expected = model.entries.pop().map(|entry| entry.1);
                    prop_assert_eq!(lru.pop_oldest().map(|value| value.number), expected);
                }
                Step::Clear => {
                    let mut expected: Vec<u32> =
                        model.entries.drain(..).map(|entry| entry.1).collect();
                    expected.reverse();
                    prop_assert_eq!(numbers(lru.clear()), expected);
                }
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
    assert!(lru.insert("a", Value::new(1), 3).is_empty());
    lru.get(&"a").unwrap().number += 1;
    assert_eq!(lru.peek(&"a").unwrap().number, 2);
    assert_eq!(numbers(lru.insert("a", Value::new(5), 4)), [2]);
    assert_eq!(lru.cost, 4);
}

#[test]
fn uses_that_go_on_while_the_oldest_is_looked_for_do_not_keep_it_looking() {
    /// Used whenever it is looked at.
    struct Busy(Age, UseClock);

    impl Aged for Busy {
        fn age(&self) -> &Age {
            let other = Age::default();
            self.1.note_use(&other);
            self.1.note_use(&self.0);
            &self.0
        }
    }

    let mut lru = Lru::new(3, u64::MAX);
    for key in 0..3 {
        let busy = Busy(Age::default(), lru.clock().clone());
        assert!(lru.insert(key, busy, 0).is_empty());
    }
    assert!(lru.pop_oldest().is_some());
    assert_eq!(lru.set_most(0).len(), 2);
    assert_eq!((lru.places.len(), lru.order.len()), (0, 0));
}
