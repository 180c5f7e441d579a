//! The server's side of several connections without sockets: what tests and the fuzz target drive.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::rc::Rc;

use super::super::limits::{MOST_REPLY_BYTES, MOST_REQUEST_BYTES};
use super::connection::{Connection, READ_BYTES};
use super::table::StoreTable;
use super::waits::Peer;

/// A table and its connections.
#[derive(Default)]
pub struct Dialogue {
    table: StoreTable,
    connections: BTreeMap<Peer, (Connection<Pipe>, Pipe)>,
}

/// Bytes in both directions; the peer reads at most `readable` bytes of replies.
#[derive(Clone, Default)]
struct Pipe(Rc<RefCell<Bytes>>);

#[derive(Default)]
struct Bytes {
    sent: Vec<u8>,
    received: Vec<u8>,
    readable: usize,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let sent = &mut self.0.borrow_mut().sent;
        if sent.is_empty() {
            return Err(Error::from(ErrorKind::WouldBlock));
        }
        let count = sent.len().min(buffer.len());
        buffer[..count].copy_from_slice(&sent[..count]);
        sent.drain(..count);
        Ok(count)
    }
}

impl Write for Pipe {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        let bytes = &mut *self.0.borrow_mut();
        let count = buffer.len().min(bytes.readable);
        if count == 0 {
            return Err(Error::from(ErrorKind::WouldBlock));
        }
        bytes.readable -= count;
        bytes.received.extend(&buffer[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Dialogue {
    /// A peer sends bytes and is ready to read so many bytes more. Returns what it has received, or `None` if the
    /// server has closed the connection. A peer that sends for the first time has just connected.
    pub fn send(&mut self, peer: u64, bytes: &[u8], readable: usize) -> Option<Vec<u8>> {
        let (connection, pipe) = self.connections.entry(peer).or_insert_with(|| {
            let pipe = Pipe::default();
            (Connection::new(pipe.clone(), peer), pipe)
        });
        pipe.0.borrow_mut().sent.extend(bytes);
        pipe.0.borrow_mut().readable += readable;
        let mut awake = VecDeque::new();
        let mut buffer = [0; READ_BYTES];
        let mut result = connection.turn(&mut self.table, &mut awake, &mut buffer);
        while result.is_ok() && connection.is_behind() {
            result = connection.turn(&mut self.table, &mut awake, &mut buffer);
        }
        let held = connection.held();
        assert!(
            held <= MOST_REQUEST_BYTES + MOST_REPLY_BYTES + READ_BYTES,
            "{held} bytes are held"
        );
        if result.is_err() {
            self.close(peer);
        }
        while let Some(peer) = awake.pop_front() {
            if let Some((connection, _)) = self.connections.get_mut(&peer)
                && connection.wake(&mut self.table, &mut awake).is_err()
            {
                self.close(peer);
            }
        }
        self.received(peer)
    }

    /// Takes what a peer has received, unless its connection is closed.
    pub fn received(&mut self, peer: u64) -> Option<Vec<u8>> {
        let (_, pipe) = self.connections.get(&peer)?;
        Some(std::mem::take(&mut pipe.0.borrow_mut().received))
    }

    /// Ends a connection.
    pub fn close(&mut self, peer: u64) {
        self.table.forget(peer);
        self.table.tidy();
        self.connections.remove(&peer);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::request::{
        STOP_WAITING, VALIDATION, kind, put_bytes, with_key, with_keys, with_number,
    };
    use super::*;

    fn greeting() -> Vec<u8> {
        with_number(kind::VALIDATE, VALIDATION)
    }

    fn set(key: &[u8], value: &[u8]) -> Vec<u8> {
        let mut out = with_key(kind::SET, key);
        put_bytes(&mut out, value);
        out
    }

    #[test]
    fn bytes_may_come_one_at_a_time() {
        let mut dialogue = Dialogue::default();
        let all = [greeting(), set(b"k", b"value"), with_key(kind::GET, b"k")].concat();
        let mut received = Vec::new();
        for byte in &all {
            received.extend(dialogue.send(1, &[*byte], 100).unwrap());
        }
        let mut expected = Vec::new();
        put_bytes(&mut expected, b"value");
        assert_eq!(received, expected);
    }

    #[test]
    fn who_does_not_greet_or_greets_twice_is_closed() {
        let mut dialogue = Dialogue::default();
        assert_eq!(dialogue.send(1, &[kind::NUM_KEYS], 9), None);
        assert_eq!(dialogue.send(2, &with_number(kind::VALIDATE, 7), 9), None);
        assert_eq!(dialogue.send(3, b"GET / HTTP/1.1\r\n\r\n", 9), None);
        assert_eq!(dialogue.send(4, &[greeting(), greeting()].concat(), 9), None);
        assert_eq!(dialogue.send(5, &greeting(), 9), Some(Vec::new()));
    }

    #[test]
    fn a_peer_that_does_not_read_is_not_served_further_and_delays_nobody() {
        let mut dialogue = Dialogue::default();
        let value = vec![7; 1 << 19];
        let asked = [greeting(), set(b"k", &value)].concat();
        let gets = with_key(kind::GET, b"k").repeat(1000);
        dialogue.send(1, &[asked, gets].concat(), 0).unwrap();
        let (connection, _) = &dialogue.connections[&1];
        assert!(connection.held() < 2 << 20, "one reply and what was read: {}", connection.held());
        assert_eq!(
            dialogue.send(2, &[greeting(), vec![kind::NUM_KEYS]].concat(), 8).unwrap()[0],
            1
        );
        let mut received = 0;
        for _ in 0..1000 {
            received += dialogue.send(1, &[], 8 + value.len()).unwrap().len();
        }
        assert_eq!(received, 1000 * (8 + value.len()));
    }

    #[test]
    fn a_waiting_peer_is_woken_by_another() {
        let mut dialogue = Dialogue::default();
        let wait = with_keys(kind::WAIT, &[b"k".to_vec()]);
        assert_eq!(dialogue.send(1, &[greeting(), wait].concat(), 9), Some(Vec::new()));
        dialogue.send(2, &[greeting(), set(b"k", b"")].concat(), 0).unwrap();
        assert_eq!(dialogue.received(1), Some(vec![STOP_WAITING]));
    }

    #[test]
    fn requests_behind_the_end_of_a_wait_are_served() {
        let mut dialogue = Dialogue::default();
        dialogue.send(2, &[greeting(), set(b"v", b"value")].concat(), 0).unwrap();
        let wait = with_keys(kind::WAIT, &[b"k".to_vec()]);
        let gets = with_key(kind::GET, b"v").repeat(2);
        assert_eq!(dialogue.send(1, &[greeting(), wait, gets].concat(), 0), Some(Vec::new()));
        // The peer has read, and the wait ends before the server notices.
        dialogue.connections[&1].1.0.borrow_mut().readable = 100;
        dialogue.send(2, &set(b"k", b""), 0).unwrap();
        let mut expected = Vec::new();
        put_bytes(&mut expected, b"value");
        expected.push(STOP_WAITING);
        put_bytes(&mut expected, b"value");
        assert_eq!(dialogue.received(1), Some(expected));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 2000 }))]

        #[test]
        fn no_bytes_harm_the_server(
            pieces in proptest::collection::vec(
                (0_u64..3, proptest::collection::vec(0_u8..20, 0..40), 0_usize..40), 0..30)
        ) {
            let mut dialogue = Dialogue::default();
            for peer in 0..3 {
                dialogue.send(peer, &greeting(), 0);
            }
            for (peer, bytes, readable) in pieces {
                dialogue.send(peer, &bytes, readable);
            }
        }
    }
}
