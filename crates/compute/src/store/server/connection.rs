//! A connection of the server: bytes that have arrived, and bytes that wait to be sent.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::time::Instant;

use super::super::limits::MOST_REQUEST_BYTES;
use super::super::request::{Request, STOP_WAITING, parse};
use super::frame::Frame;
use super::holdings::{grown, shrink_bytes};
use super::refusal::Refusal;
use super::table::StoreTable;
use super::waits::Peer;

/// How much one read takes.
pub(super) const READ_BYTES: usize = 64 << 10;

/// How much is read, or requested and replied, before other connections have their turn.
const TURN_BYTES: usize = 1 << 20;

/// One peer of a server, behind a stream whose reads and writes do not block.
pub(super) struct Connection<S> {
    pub(super) stream: S,
    pub(super) since: Instant,
    pub(super) peer: Peer,
    is_valid: bool,
    input: Vec<u8>,
    /// The bytes of the input that have been served.
    served: usize,
    /// How much of the next request has been looked at.
    frame: Frame,
    /// Whether requests may have arrived that are not served, because the turn was over.
    is_behind: bool,
    output: Vec<u8>,
    sent: usize,
}

/// Why a connection ends.
#[derive(Debug)]
pub(super) enum Closing {
    /// The peer has closed it, or the network has.
    Gone,
    /// The peer has broken a rule.
    Refused(Refusal),
}

impl<S: Read + Write> Connection<S> {
    pub(super) fn new(stream: S, peer: Peer) -> Connection<S> {
        Connection {
            stream,
            since: Instant::now(),
            peer,
            is_valid: false,
            input: Vec::new(),
            served: 0,
            frame: Frame::default(),
            is_behind: false,
            output: Vec::new(),
            sent: 0,
        }
    }

    /// Whether the peer has greeted.
    pub(super) fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// Whether there are bytes to send. Until they are sent no request is served.
    pub(super) fn has_output(&self) -> bool {
        self.sent < self.output.len()
    }

    /// Whether the connection needs another turn, although nothing may arrive.
    pub(super) fn is_behind(&self) -> bool {
        self.is_behind && !self.has_output()
    }

    /// The memory that the connection holds.
    pub(super) fn held(&self) -> usize {
        self.input.capacity() + self.output.capacity()
    }

    /// Has a turn: sends what waits, serves what has arrived, and reads more. The buffer's contents do not matter.
    pub(super) fn turn(
        &mut self,
        table: &mut StoreTable,
        awake: &mut VecDeque<Peer>,
        buffer: &mut [u8],
    ) -> Result<(), Closing> {
        self.send()?;
        let mut work = TURN_BYTES;
        self.serve(table, awake, &mut work)?;
        let mut left = TURN_BYTES;
        while !self.has_output() && !self.is_behind && left > 0 {
            match self.stream.read(buffer) {
                Ok(0) => return Err(Closing::Gone),
                Ok(count) => {
                    left = left.saturating_sub(count);
                    self.arrived(&buffer[..count]);
                    self.serve(table, awake, &mut work)?;
                    if count < buffer.len() {
                        break;
                    }
                }
                Err(why) if why.kind() == ErrorKind::WouldBlock => break,
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Closing::Gone),
            }
        }
        Ok(())
    }

    fn arrived(&mut self, bytes: &[u8]) {
        if self.input.len() + bytes.len() > self.input.capacity() {
            self.input.drain(..self.served);
            self.served = 0;
        }
        let length = self.input.len() + bytes.len();
        let capacity = grown(self.input.capacity(), length, MOST_REQUEST_BYTES + READ_BYTES);
        self.input.reserve_exact(capacity - self.input.len());
        self.input.extend(bytes);
    }

    /// Serves the requests that have arrived, until a reply cannot be sent at once, or the turn is over.
    fn serve(
        &mut self,
        table: &mut StoreTable,
        awake: &mut VecDeque<Peer>,
        work: &mut usize,
    ) -> Result<(), Closing> {
        self.is_behind = false;
        while !self.has_output() {
            let bytes = &self.input[self.served..];
            let Some(count) = self.frame.advance(bytes).map_err(Closing::Refused)? else { break };
            if *work == 0 {
                self.is_behind = true;
                break;
            }
            let refused = |cause, why| Err(Closing::Refused(Refusal::new(cause, why)));
            let Some(request) = parse(&bytes[..count]) else {
                return refused("a request that cannot be read", "a request that cannot be read");
            };
            if matches!(request, Request::Validate(_)) == self.is_valid {
                return if self.is_valid {
                    refused("a second greeting", "a second greeting")
                } else {
                    refused(
                        "no greeting",
                        "a request before the greeting; the peer may speak an older protocol, or another one",
                    )
                };
            }
            let outcome = table.execute(self.peer, request).map_err(Closing::Refused)?;
            self.is_valid = true;
            awake.extend(outcome.awake);
            *work = work.saturating_sub(count + outcome.reply.len());
            self.served += count;
            self.frame = Frame::default();
            self.output = outcome.reply;
            self.sent = 0;
            self.send()?;
        }
        self.forget_served();
        Ok(())
    }

    /// Removes bytes of the input that have been served, once they are the larger part: each byte moves at most once
    /// for every byte that is served.
    fn forget_served(&mut self) {
        if 2 * self.served >= self.input.len() {
            self.input.drain(..self.served);
            self.served = 0;
            shrink_bytes(&mut self.input);
        }
    }

    /// Ends the peer's wait, whose keys are there. If that empties the output, the requests behind it are served: no
    /// byte may come that would have them served.
    pub(super) fn wake(
        &mut self,
        table: &mut StoreTable,
        awake: &mut VecDeque<Peer>,
    ) -> Result<(), Closing> {
        self.output.reserve_exact(1);
        self.output.push(STOP_WAITING);
        self.send()?;
        let mut work = TURN_BYTES;
        self.serve(table, awake, &mut work)
    }

    /// Sends what fits.
    fn send(&mut self) -> Result<(), Closing> {
        while self.has_output() {
            match self.stream.write(&self.output[self.sent..]) {
                Ok(0) => return Err(Closing::Gone),
                Ok(count) => self.sent += count,
                Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Closing::Gone),
            }
        }
        self.output = Vec::new();
        self.sent = 0;
        Ok(())
    }
}
