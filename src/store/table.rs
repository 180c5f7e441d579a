//! The table of a server: keys, values and queues, and the connections that wait for keys. Without sockets.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::limits::{MOST_REPLY_BYTES, MOST_TABLE_BYTES, MOST_VALUE_BYTES, shown};
use super::request::{
    NOT_READY, READY, Request, STOP_WAITING, VALIDATION, WAIT_CANCELED, put_bytes,
};

/// What an entry takes besides its key and its value.
const ENTRY_BYTES: usize = 64;

/// A connection's number.
pub(crate) type Peer = u64;

/// Keys and values, and the connections that wait for keys.
#[derive(Default)]
pub(crate) struct StoreTable {
    values: HashMap<Vec<u8>, Vec<u8>>,
    queues: HashMap<Vec<u8>, VecDeque<Vec<u8>>>,
    /// The connections that wait for a key.
    waiting: HashMap<Vec<u8>, BTreeSet<Peer>>,
    /// The keys that a waiting connection still misses.
    missing: BTreeMap<Peer, BTreeSet<Vec<u8>>>,
    bytes: usize,
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
    pub(crate) fn execute(&mut self, peer: Peer, request: Request<'_>) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        let reply = &mut outcome.reply;
        match request {
            Request::Validate(magic) if magic == VALIDATION => {}
            Request::Validate(magic) => {
                return Err(format!("a greeting with the number {magic:#x}"));
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
                keys.iter().for_each(|key| put_bytes(reply, self.value(key)));
            }
            Request::MultiSet(pairs) => outcome.awake = self.multi_set(&pairs)?,
            Request::CancelWait => {
                self.forget(peer);
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

    /// Forgets what a connection waits for.
    pub(crate) fn forget(&mut self, peer: Peer) {
        for key in self.missing.remove(&peer).unwrap_or_default() {
            self.bytes -= wait_bytes(&key);
            if let Some(peers) = self.waiting.get_mut(&key) {
                peers.remove(&peer);
                if peers.is_empty() {
                    self.waiting.remove(&key);
                }
            }
        }
    }

    fn value(&self, key: &[u8]) -> &[u8] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    fn has(&self, key: &[u8]) -> bool {
        self.values.contains_key(key) || self.queues.contains_key(key)
    }

    /// Counts bytes that come and go, unless they are too many.
    fn take_bytes(&mut self, more: usize, less: usize) -> Result<(), String> {
        let bytes = self.bytes + more - less;
        if bytes > MOST_TABLE_BYTES && more > less {
            return Err(format!(
                "{more} bytes for a table that holds {} of at most {MOST_TABLE_BYTES}",
                self.bytes
            ));
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Sets a value, and returns the connections that waited for nothing else.
    fn set(&mut self, key: &[u8], value: Vec<u8>) -> Result<Vec<Peer>, String> {
        let old = self.values.get(key).map_or(0, |old| entry_bytes(key, old));
        self.take_bytes(entry_bytes(key, &value), old)?;
        match self.values.get_mut(key) {
            Some(place) => *place = value,
            None => drop(self.values.insert(key.to_vec(), value)),
        }
        Ok(self.wake(key, usize::MAX))
    }

    fn multi_set(&mut self, pairs: &[(&[u8], &[u8])]) -> Result<Vec<Peer>, String> {
        // All of them or none.
        let bytes: usize = pairs.iter().map(|(key, value)| entry_bytes(key, value)).sum();
        self.take_bytes(bytes, 0)?;
        self.bytes -= bytes;
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
    ) -> Result<(Vec<u8>, Vec<Peer>), String> {
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
    fn add(&self, key: &[u8], delta: i64) -> Result<i64, String> {
        sum_of(self.values.get(key).map(Vec::as_slice), delta)
            .map_err(|why| format!("an addition to the key \"{}\", {why}", shown(key)))
    }

    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<Vec<Peer>, String> {
        if self.value(key).len() + value.len() > MOST_VALUE_BYTES {
            return Err(format!("a value that grows beyond {MOST_VALUE_BYTES} bytes"));
        }
        let Some(old) = self.values.get_mut(key) else { return self.set(key, value.to_vec()) };
        if self.bytes + value.len() > MOST_TABLE_BYTES {
            return Err(format!("{} bytes for a full table", value.len()));
        }
        self.bytes += value.len();
        old.extend(value);
        Ok(self.wake(key, usize::MAX))
    }

    fn delete(&mut self, key: &[u8]) -> bool {
        let Some(old) = self.values.remove(key) else { return false };
        self.bytes -= entry_bytes(key, &old);
        true
    }

    fn push(&mut self, key: &[u8], value: &[u8]) -> Result<Vec<Peer>, String> {
        self.take_bytes(entry_bytes(key, value), 0)?;
        self.queues.entry(key.to_vec()).or_default().push_back(value.to_vec());
        Ok(self.wake(key, 1))
    }

    fn pop(&mut self, key: &[u8], reply: &mut Vec<u8>) {
        let queue = self.queues.get_mut(key);
        reply.extend((queue.as_ref().map_or(0, |queue| queue.len()) as i64).to_le_bytes());
        let Some(queue) = queue else { return };
        if let Some(value) = queue.pop_front() {
            self.bytes -= entry_bytes(key, &value);
            put_bytes(reply, &value);
        }
        if queue.is_empty() {
            self.queues.remove(key);
        }
    }

    /// Whether all keys are there; otherwise the connection waits for those that are missing.
    fn wait(&mut self, peer: Peer, keys: &[&[u8]]) -> Result<bool, String> {
        if self.missing.contains_key(&peer) {
            return Err(String::from("a wait within a wait"));
        }
        let missing: BTreeSet<Vec<u8>> =
            keys.iter().filter(|key| !self.has(key)).map(|key| key.to_vec()).collect();
        if missing.is_empty() {
            return Ok(true);
        }
        self.take_bytes(missing.iter().map(|key| wait_bytes(key)).sum(), 0)?;
        for key in &missing {
            self.waiting.entry(key.clone()).or_default().insert(peer);
        }
        self.missing.insert(peer, missing);
        Ok(false)
    }

    /// The connections, at most `most`, that waited for this key and for no other.
    fn wake(&mut self, key: &[u8], most: usize) -> Vec<Peer> {
        let Some(mut peers) = self.waiting.remove(key) else { return Vec::new() };
        let mut awake = Vec::new();
        while awake.len() < most
            && let Some(peer) = peers.pop_first()
        {
            let Some(missing) = self.missing.get_mut(&peer) else { continue };
            missing.remove(key);
            self.bytes -= wait_bytes(key);
            if missing.is_empty() {
                self.missing.remove(&peer);
                awake.push(peer);
            }
        }
        if !peers.is_empty() {
            self.waiting.insert(key.to_vec(), peers);
        }
        awake
    }
}

/// The sum of a counter, which is decimal text, and a number. A missing counter is 0.
pub(super) fn sum_of(counter: Option<&[u8]>, delta: i64) -> Result<i64, String> {
    let old = match counter {
        None => 0,
        Some(text) => std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.trim().parse::<i64>().ok())
            .ok_or_else(|| format!("whose value \"{}\" is no 64-bit number", shown(text)))?,
    };
    old.checked_add(delta).ok_or_else(|| format!("whose value {old} and {delta} overflow 64 bits"))
}

fn check_reply(bytes: usize) -> Result<(), String> {
    if bytes > MOST_REPLY_BYTES {
        return Err(format!("a reply of {bytes} bytes; at most {MOST_REPLY_BYTES} are sent"));
    }
    Ok(())
}

fn entry_bytes(key: &[u8], value: &[u8]) -> usize {
    key.len() + value.len() + ENTRY_BYTES
}

fn wait_bytes(key: &[u8]) -> usize {
    2 * (key.len() + ENTRY_BYTES)
}

#[cfg(test)]
mod tests {
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
        assert!(table.waiting.is_empty() && table.missing.is_empty());
    }

    #[test]
    fn a_cancelled_wait_and_a_closed_connection_leave_nothing() {
        let mut table = StoreTable::default();
        run(&mut table, 1, Request::Wait(vec![b"a", b"b"]));
        assert!(table.execute(1, Request::Wait(vec![b"c"])).is_err());
        assert_eq!(run(&mut table, 1, Request::CancelWait).reply, [WAIT_CANCELED]);
        run(&mut table, 2, Request::Wait(vec![b"a"]));
        table.forget(2);
        assert_eq!(run(&mut table, 3, Request::Set { key: b"a", value: b"" }).awake, []);
        assert!(table.waiting.is_empty() && table.missing.is_empty());
        assert!(run(&mut table, 3, Request::DeleteKey(b"a")).reply[0] == 1);
        assert_eq!(table.bytes, 0);
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
        assert!(add(&mut table, i64::MIN).unwrap_err().contains("overflow"));
        run(&mut table, 1, Request::Set { key: b"n", value: b"many" });
        assert!(add(&mut table, 1).unwrap_err().contains("\"many\" is no 64-bit number"));
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
        assert!(table.bytes <= MOST_TABLE_BYTES);
        let key: &[u8] = &0_u32.to_le_bytes();
        let why = table.execute(1, Request::MultiGet(vec![key; 4])).unwrap_err();
        assert!(why.contains("a reply of"), "{why}");
        assert!(table.execute(1, Request::Append { key, value: b"x" }).is_err());
        let pairs = vec![(&b"small"[..], &b""[..]), (b"large", &value[..])];
        assert!(table.execute(1, Request::MultiSet(pairs)).is_err());
        assert!(!table.has(b"small"), "all pairs are set or none");
        // What makes room is always possible.
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
