//! The table of a server: keys, values and queues, and the connections that wait for keys. Without sockets.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::super::limits::{MOST_REPLY_BYTES, MOST_VALUE_BYTES, shown, sum_of};
use super::super::request::{
    NOT_READY, READY, Request, STOP_WAITING, VALIDATION, WAIT_CANCELED, put_bytes,
};
use super::holdings::{
    Budget, entry_bytes, grown, queue_bytes, queued_bytes, shrink_map, shrink_queue,
};
use super::refusal::Refusal;
use super::waits::{Peer, Waits};

/// How many keys of closed connections' waits are removed in one turn of the server: some milliseconds.
const TIDY_KEYS: usize = 4096;

/// Keys and values, and the connections that wait for keys.
#[derive(Default)]
pub(crate) struct StoreTable {
    values: HashMap<Vec<u8>, Vec<u8>>,
    queues: HashMap<Vec<u8>, VecDeque<Vec<u8>>>,
    waits: Waits,
    budget: Budget,
}

/// What a request has led to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The reply to the connection that sent it.
    pub(crate) reply: Vec<u8>,
    /// Connections whose wait has ended; each receives `STOP_WAITING`.
    pub(crate) awake: Vec<Peer>,
}

impl StoreTable {
    /// Executes a request of a connection. An error closes the connection, and nothing has changed.
    pub(crate) fn execute(&mut self, peer: Peer, request: Request<'_>) -> Result<Outcome, Refusal> {
        let mut outcome = Outcome::default();
        let reply = &mut outcome.reply;
        match request {
            Request::Validate(magic) if magic == VALIDATION => {}
            Request::Validate(magic) => {
                return Err(Refusal::new(
                    "another greeting",
                    format!("a greeting with the number {magic:#x}"),
                ));
            }
            Request::Ping(number) => reply.extend(number.to_le_bytes()),
            Request::Set { key, value } => outcome.awake = self.set(key, value.to_vec())?,
            Request::CompareSet { key, expected, desired } => {
                (outcome.reply, outcome.awake) = self.compare_set(key, expected, desired)?;
            }
            Request::Get(key) => put_bytes(reply, self.value(key)),
            Request::Add { key, delta } => {
                let sum = self.add(key, delta)?;
                reply.extend(sum.to_le_bytes());
                outcome.awake = self.set(key, sum.to_string().into_bytes())?;
            }
            Request::Check(keys) => {
                let found = keys.iter().all(|key| self.has(key));
                reply.push(if found { READY } else { NOT_READY });
            }
            Request::Wait(keys) => {
                if self.wait(peer, &keys)? {
                    reply.push(STOP_WAITING);
                }
            }
            Request::NumKeys => reply.extend((self.values.len() as i64).to_le_bytes()),
            Request::DeleteKey(key) => {
                let deleted = i64::from(self.delete(key));
                reply.extend(deleted.to_le_bytes());
            }
            Request::Append { key, value } => outcome.awake = self.append(key, value)?,
            Request::MultiGet(keys) => {
                let bytes: usize = keys.iter().map(|key| self.value(key).len() + 8).sum();
                check_reply(bytes)?;
                reply.reserve_exact(bytes);
                keys.iter().for_each(|key| put_bytes(reply, self.value(key)));
            }
            Request::MultiSet(pairs) => outcome.awake = self.multi_set(&pairs)?,
            Request::CancelWait => {
                self.waits.cancel(peer, &mut self.budget);
                reply.push(WAIT_CANCELED);
            }
            Request::QueuePush { key, value } => outcome.awake = self.push(key, value)?,
            Request::QueuePop(key) => self.pop(key, reply),
            Request::QueueLen(key) => {
                reply.extend((self.queues.get(key).map_or(0, VecDeque::len) as i64).to_le_bytes());
            }
        }
        Ok(outcome)
    }

    /// Forgets what a connection waits for. [`StoreTable::tidy`] gives the memory back.
    pub(crate) fn forget(&mut self, peer: Peer) {
        self.waits.end(peer);
    }

    /// Removes some of what closed connections have left.
    pub(crate) fn tidy(&mut self) {
        self.waits.tidy(TIDY_KEYS, &mut self.budget);
    }

    /// Whether closed connections have left something.
    pub(crate) fn is_untidy(&self) -> bool {
        self.waits.is_untidy()
    }

    /// The bytes of all entries.
    pub(crate) fn held(&self) -> usize {
        self.budget.held()
    }

    fn value(&self, key: &[u8]) -> &[u8] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    fn has(&self, key: &[u8]) -> bool {
        self.values.contains_key(key) || self.queues.contains_key(key)
    }

    /// Sets a value, and returns the connections that waited for nothing else.
    fn set(&mut self, key: &[u8], value: Vec<u8>) -> Result<Vec<Peer>, Refusal> {
        let old = self.values.get(key).map_or(0, |old| entry_bytes(key, old.capacity()));
        self.budget.take(entry_bytes(key, value.capacity()), old)?;
        match self.values.get_mut(key) {
            Some(place) => *place = value,
            None => drop(self.values.insert(key.to_vec(), value)),
        }
        Ok(self.wake(key, usize::MAX))
    }

    fn multi_set(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<Vec<Peer>, Refusal> {
        // All of them or none.
        let bytes = pairs.iter().map(|(key, value)| entry_bytes(key, value.len())).sum();
        self.budget.take(bytes, 0)?;
        self.budget.give(bytes);
        let mut awake = Vec::new();
        for (key, value) in pairs {
            awake.extend(self.set(key, value.to_vec())?);
        }
        Ok(awake)
    }

    /// The value afterwards, as a reply, and who wakes. A missing key counts as an empty value; if something else
    /// was expected of it, that is the reply, as PyTorch's is.
    fn compare_set(
        &mut self,
        key: &[u8],
        expected: &[u8],
        desired: &[u8],
    ) -> Result<(Vec<u8>, Vec<Peer>), Refusal> {
        let is_missing = !self.values.contains_key(key);
        let mut awake = Vec::new();
        if self.value(key) == expected {
            awake = self.set(key, desired.to_vec())?;
        }
        let mut reply = Vec::new();
        let is_refused = is_missing && !expected.is_empty();
        put_bytes(&mut reply, if is_refused { expected } else { self.value(key) });
        Ok((reply, awake))
    }

    /// The sum of a counter and a number.
    fn add(&self, key: &[u8], delta: i64) -> Result<i64, Refusal> {
        sum_of(self.values.get(key).map(Vec::as_slice), delta).map_err(|why| {
            let why = format!("an addition to the key \"{}\", {why}", shown(key));
            Refusal::new("an addition that is impossible", why)
        })
    }

    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<Vec<Peer>, Refusal> {
        let length = self.value(key).len() + value.len();
        if length > MOST_VALUE_BYTES {
            let why = format!("a value that grows beyond {MOST_VALUE_BYTES} bytes");
            return Err(Refusal::new("a value that grows too long", why));
        }
        let Some(old) = self.values.get_mut(key) else { return self.set(key, value.to_vec()) };
        let capacity = grown(old.capacity(), length, MOST_VALUE_BYTES);
        self.budget.take(capacity, old.capacity())?;
        old.reserve_exact(capacity - old.len());
        old.extend(value);
        Ok(self.wake(key, usize::MAX))
    }

    fn delete(&mut self, key: &[u8]) -> bool {
        let Some(old) = self.values.remove(key) else { return false };
        self.budget.give(entry_bytes(key, old.capacity()));
        shrink_map(&mut self.values);
        true
    }

    fn push(&mut self, key: &[u8], value: &[u8]) -> Result<Vec<Peer>, Refusal> {
        let is_new = !self.queues.contains_key(key);
        let bytes = queued_bytes(value) + if is_new { queue_bytes(key) } else { 0 };
        self.budget.take(bytes, 0)?;
        self.queues.entry(key.to_vec()).or_default().push_back(value.to_vec());
        Ok(self.wake(key, 1))
    }

    fn pop(&mut self, key: &[u8], reply: &mut Vec<u8>) {
        let queue = self.queues.get_mut(key);
        reply.extend((queue.as_ref().map_or(0, |queue| queue.len()) as i64).to_le_bytes());
        let Some(queue) = queue else { return };
        if let Some(value) = queue.pop_front() {
            self.budget.give(queued_bytes(&value));
            put_bytes(reply, &value);
            shrink_queue(queue);
        }
        if queue.is_empty() {
            self.queues.remove(key);
            self.budget.give(queue_bytes(key));
            shrink_map(&mut self.queues);
        }
    }

    /// Whether all keys are there; otherwise the connection waits for those that are missing.
    fn wait(&mut self, peer: Peer, keys: &[&[u8]]) -> Result<bool, Refusal> {
        let missing: BTreeSet<Vec<u8>> =
            keys.iter().filter(|key| !self.has(key)).map(|key| key.to_vec()).collect();
        self.waits.begin(peer, missing, &mut self.budget).map(|waits| !waits)
    }

    /// The connections, at most `most`, that waited for this key and for no other.
    fn wake(&mut self, key: &[u8], most: usize) -> Vec<Peer> {
        self.waits.wake(key, most, &mut self.budget)
    }
}

fn check_reply(bytes: usize) -> Result<(), Refusal> {
    if bytes > MOST_REPLY_BYTES {
        let why = format!("a reply of {bytes} bytes; at most {MOST_REPLY_BYTES} are sent");
        return Err(Refusal::new("a reply that is too long", why));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::limits::MOST_TABLE_BYTES;
    use super::*;

    fn run(table: &mut StoreTable, peer: Peer, request: Request<'_>) -> Outcome {
        table.execute(peer, request).unwrap()
    }

    fn bytes(value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put_bytes(&mut out, value);
        out
    }

    #[test]
    fn a_wait_ends_with_the_last_missing_key() {
        let mut table = StoreTable::default();
        run(&mut table, 1, Request::Set { key: b"a", value: b"1" });
        assert_eq!(run(&mut table, 1, Request::Wait(vec![b"a"])).reply, [STOP_WAITING]);
        assert_eq!(run(&mut table, 1, Request::Wait(vec![b"a", b"b", b"c"])), Outcome::default());
        assert_eq!(run(&mut table, 2, Request::Wait(vec![b"b"])), Outcome::default());
        assert_eq!(run(&mut table, 3, Request::Set { key: b"b", value: b"" }).awake, [2]);
        assert_eq!(run(&mut table, 3, Request::Add { key: b"c", delta: 1 }).awake, [1]);
        assert!(table.waits.is_empty());
    }

    #[test]
    fn a_cancelled_wait_and_a_closed_connection_leave_nothing() {
        let mut table = StoreTable::default();
        run(&mut table, 1, Request::Wait(vec![b"a", b"b"]));
        assert!(table.execute(1, Request::Wait(vec![b"c"])).is_err());
        assert_eq!(run(&mut table, 1, Request::CancelWait).reply, [WAIT_CANCELED]);
        run(&mut table, 2, Request::Wait(vec![b"a"]));
        table.forget(2);
        table.tidy();
        assert_eq!(run(&mut table, 3, Request::Set { key: b"a", value: b"" }).awake, []);
        assert!(table.waits.is_empty());
        assert!(run(&mut table, 3, Request::DeleteKey(b"a")).reply[0] == 1);
        assert_eq!(table.budget.held(), 0);
    }

    #[test]
    fn compare_set_sets_what_is_as_expected() {
        let mut table = StoreTable::default();
        let mut swap = |expected: &'static [u8], desired: &'static [u8]| {
            run(&mut table, 1, Request::CompareSet { key: b"k", expected, desired }).reply
        };
        assert_eq!(swap(b"x", b"y"), bytes(b"x"), "the key is missing");
        assert_eq!(swap(b"", b"a"), bytes(b"a"));
        assert_eq!(swap(b"x", b"y"), bytes(b"a"));
        assert_eq!(swap(b"a", b"b"), bytes(b"b"));
    }

    #[test]
    fn counters_are_decimal_and_do_not_overflow() {
        let mut table = StoreTable::default();
        let add =
            |table: &mut StoreTable, delta| table.execute(1, Request::Add { key: b"n", delta });
        assert_eq!(add(&mut table, 5).unwrap().reply, 5_i64.to_le_bytes());
        assert_eq!(add(&mut table, -7).unwrap().reply, (-2_i64).to_le_bytes());
        assert_eq!(table.value(b"n"), b"-2");
        assert!(add(&mut table, i64::MIN).unwrap_err().why.contains("overflow"));
        run(&mut table, 1, Request::Set { key: b"n", value: b"many" });
        assert!(add(&mut table, 1).unwrap_err().why.contains("\"many\" is no 64-bit number"));
    }

    #[test]
    fn the_table_and_replies_are_bounded() {
        let mut table = StoreTable::default();
        let value = vec![0; MOST_VALUE_BYTES];
        let mut refused = 0;
        for index in 0..64_u32 {
            let key = index.to_le_bytes();
            refused +=
                u32::from(table.execute(1, Request::Set { key: &key, value: &value }).is_err());
        }
        assert_eq!(refused, 64 - 31);
        assert!(table.budget.held() <= MOST_TABLE_BYTES);
        let key: &[u8] = &0_u32.to_le_bytes();
        let why = table.execute(1, Request::MultiGet(vec![key; 4])).unwrap_err().why;
        assert!(why.contains("a reply of"), "{why}");
        assert!(table.execute(1, Request::Append { key, value: b"x" }).is_err());
        let pairs = vec![(&b"small"[..], &b""[..]), (b"large", &value[..])];
        assert!(table.execute(1, Request::MultiSet(pairs)).is_err());
        assert!(!table.has(b"small"), "all pairs are set or none");
        // What frees memory is always possible.
        run(&mut table, 1, Request::Set { key, value: b"" });
    }

    #[test]
    fn queues_wake_one_waiter_for_each_value() {
        let mut table = StoreTable::default();
        run(&mut table, 1, Request::Wait(vec![b"q"]));
        run(&mut table, 2, Request::Wait(vec![b"q"]));
        assert_eq!(run(&mut table, 3, Request::QueuePush { key: b"q", value: b"v" }).awake, [1]);
        let mut expected = 1_i64.to_le_bytes().to_vec();
        expected.extend(bytes(b"v"));
        assert_eq!(run(&mut table, 1, Request::QueuePop(b"q")).reply, expected);
        assert_eq!(run(&mut table, 1, Request::QueuePop(b"q")).reply, 0_i64.to_le_bytes());
        assert_eq!(run(&mut table, 3, Request::QueuePush { key: b"q", value: b"w" }).awake, [2]);
        assert_eq!(run(&mut table, 3, Request::QueueLen(b"q")).reply, 1_i64.to_le_bytes());
    }
}
