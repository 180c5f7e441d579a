//! Collective calls that wait for each other: which ranks have come, and calls in different orders.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use crate::clock::{Clock, Epoch};
use crate::operation::Operation;

/// How many calls that may be under way are kept.
const MOST_CALLS: usize = 256;

/// The communicator of a call, and its number there.
pub(crate) type Meeting = (Vec<u8>, u64);

/// One rank's part of a collective call.
#[derive(Clone)]
pub(crate) struct RankCall {
    pub(crate) meeting: Meeting,
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    /// The group that the calling thread is in.
    pub(crate) group: Option<u64>,
}

/// A call, where it stands.
pub(crate) struct Call {
    pub(crate) it: RankCall,
    pub(crate) epoch: Epoch,
    /// What comes before the call on its rank.
    pub(crate) before: Clock,
    pub(crate) by: Arc<Operation>,
}

/// Calls that may be under way, the oldest first.
#[derive(Default)]
pub(crate) struct Calls {
    all: VecDeque<Call>,
    /// The ranks of each communicator that this process has, as far as they have called.
    own: HashMap<Vec<u8>, BTreeSet<usize>>,
    /// Communicators in the order of their first calls, and how many there were.
    numbers: HashMap<Vec<u8>, usize>,
    numbered: usize,
}

impl Calls {
    pub(crate) fn words(&self, call: &RankCall) -> String {
        let number = self.numbers.get(&call.meeting.0).copied().unwrap_or(0);
        format!("communicator {number} of {} ranks", call.ranks)
    }

    /// A communicator's rank is in this process.
    pub(crate) fn own_rank(&mut self, name: &[u8], rank: usize) {
        self.own.entry(name.to_vec()).or_default().insert(rank);
    }

    /// No rank of a communicator is in this process any more.
    pub(crate) fn forget(&mut self, name: &[u8]) {
        self.own.remove(name);
        self.numbers.remove(name);
    }

    /// Makes room for a call of a communicator, without those that are done.
    pub(crate) fn expect(&mut self, it: &RankCall, settled: &Clock) {
        self.all.retain(|call| !settled.knows(call.epoch));
        if self.all.len() >= MOST_CALLS {
            self.all.pop_front();
        }
        if !self.numbers.contains_key(&it.meeting.0) {
            self.numbered += 1;
            self.numbers.insert(it.meeting.0.clone(), self.numbered);
        }
        self.own_rank(&it.meeting.0, it.rank);
    }

    pub(crate) fn add(&mut self, call: Call) {
        self.all.push_back(call);
    }

    /// The driver has refused a call.
    pub(crate) fn withdraw(&mut self, number: u64) {
        self.all.retain(|call| call.by.number != number);
    }

    /// Which ranks an operation waits for, if it is a collective call.
    pub(crate) fn missing(&self, by: &Operation) -> Option<String> {
        let call = self.all.iter().find(|call| call.by.number == by.number)?;
        let of_meeting = self.all.iter().filter(|other| other.it.meeting == call.it.meeting);
        let came: BTreeSet<usize> = of_meeting.map(|other| other.it.rank).collect();
        let missing: Vec<usize> = (0..call.it.ranks).filter(|rank| !came.contains(rank)).collect();
        if missing.is_empty() {
            return None;
        }
        let none = BTreeSet::new();
        let own = self.own.get(&call.it.meeting.0).unwrap_or(&none);
        let (here, elsewhere): (Vec<usize>, Vec<usize>) =
            missing.into_iter().partition(|rank| own.contains(rank));
        let mut all = Vec::new();
        if !here.is_empty() {
            all.push(format!("{} never came", ranks(&here)));
        }
        if !elsewhere.is_empty() {
            all.push(format!("{} of other processes may not have come", ranks(&elsewhere)));
        }
        let (number, name) = (call.it.meeting.1, &by.name);
        Some(format!(
            "{name} #{} is call {number} of {}, and {}: call {name} there, too",
            by.number,
            self.words(&call.it),
            all.join(", ")
        ))
    }

    /// A call that comes before the newest one on some rank, and after it on another.
    pub(crate) fn crossing(&self, new: &Call) -> Option<&Call> {
        let mut seen = BTreeSet::from([&new.it.meeting]);
        let mut left = vec![&new.it.meeting];
        while let Some(meeting) = left.pop() {
            let parts: Vec<&Call> =
                self.all.iter().filter(|call| call.it.meeting == *meeting).collect();
            for next in &self.all {
                let follows = parts.iter().any(|part| precedes(part, next));
                if follows && seen.insert(&next.it.meeting) {
                    left.push(&next.it.meeting);
                }
            }
        }
        self.all.iter().find(|call| seen.contains(&call.it.meeting) && precedes(call, new))
    }
}

/// Whether one call comes before another on a rank. Calls of one group come together.
fn precedes(first: &Call, second: &Call) -> bool {
    first.it.meeting != second.it.meeting
        && (first.it.group.is_none() || first.it.group != second.it.group)
        && second.before.knows(first.epoch)
}

fn ranks(all: &[usize]) -> String {
    let numbers: Vec<String> = all.iter().map(ToString::to_string).collect();
    let word = if all.len() == 1 { "rank" } else { "ranks" };
    format!("{word} {}", numbers.join(", "))
}
