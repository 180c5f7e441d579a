//! A connection of the server: bytes that have arrived, and bytes that wait to be sent.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::time::Instant;

use super::request::{Parsed, Request, STOP_WAITING, parse};
use super::table::{Peer, StoreTable};

/// How much one read takes, and what a connection may hold without being counted.
pub(super) const READ_BYTES: usize = 64 << 10;

/// How much is read and served before other connections have their turn.
const TURN_BYTES: usize = 1 << 20;

/// One peer of a server, behind a stream whose reads and writes do not block.
pub(super) struct Connection<S> {
    pub(super) stream: S,
    pub(super) since: Instant,
    pub(super) peer: Peer,
    is_valid: bool,
    input: Vec<u8>,
    /// The next request has at least so many bytes.
    needed: usize,
    output: Vec<u8>,
    sent: usize,
}

/// Why a connection ends.
#[derive(Debug)]
pub(super) enum Closing {
    /// The peer has closed it, or the network has.
    Gone,
    /// The peer has broken a rule.
    Refused(String),
}

impl<S: Read + Write> Connection<S> {
    pub(super) fn new(stream: S, peer: Peer) -> Connection<S> {
        Connection {
            stream,
            since: Instant::now(),
            peer,
            is_valid: false,
            input: Vec::new(),
            needed: 1,
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

    /// The bytes that the connection holds.
    pub(super) fn held(&self) -> usize {
        self.input.len() + self.output.len()
    }

    /// Reads what has arrived, at most [`TURN_BYTES`], and serves it.
    pub(super) fn receive(
        &mut self,
        table: &mut StoreTable,
        awake: &mut VecDeque<Peer>,
    ) -> Result<(), Closing> {
        let mut buffer = vec![0; READ_BYTES];
        let mut taken = 0;
        while taken < TURN_BYTES && !self.has_output() {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Closing::Gone),
                Ok(count) => {
                    taken += count;
                    self.input.extend(&buffer[..count]);
                    self.serve(table, awake)?;
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

    /// Serves the requests that have arrived, until a reply cannot be sent at once.
    pub(super) fn serve(
        &mut self,
        table: &mut StoreTable,
        awake: &mut VecDeque<Peer>,
    ) -> Result<(), Closing> {
        let mut served = 0;
        while !self.has_output() && self.input.len() - served >= self.needed {
            match parse(&self.input[served..]).map_err(Closing::Refused)? {
                Parsed::Part(needed) => self.needed = needed,
                Parsed::Whole(request, bytes) => {
                    let is_greeting = matches!(request, Request::Validate(_));
                    if is_greeting == self.is_valid {
                        return Err(Closing::Refused(String::from(if self.is_valid {
                            "a second greeting"
                        } else {
                            "a request before the greeting; the peer may speak an older protocol, or another one"
                        })));
                    }
                    let outcome = table.execute(self.peer, request).map_err(Closing::Refused)?;
                    self.is_valid = true;
                    awake.extend(outcome.awake);
                    served += bytes;
                    self.needed = 1;
                    self.output = outcome.reply;
                    self.sent = 0;
                    self.send()?;
                }
            }
        }
        self.input.drain(..served);
        if self.input.is_empty() && self.input.capacity() > READ_BYTES {
            self.input = Vec::new();
        }
        Ok(())
    }

    /// Ends the peer's wait, whose keys are there. If that empties the output, the requests behind it are served: no
    /// byte may come that would have them served.
    pub(super) fn wake(
        &mut self,
        table: &mut StoreTable,
        awake: &mut VecDeque<Peer>,
    ) -> Result<(), Closing> {
        self.output.push(STOP_WAITING);
        self.send()?;
        self.serve(table, awake)
    }

    /// Sends what fits.
    pub(super) fn send(&mut self) -> Result<(), Closing> {
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
