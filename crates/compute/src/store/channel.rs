//! One connection of a client: greeting, requests and replies, each with a deadline.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use sconce_base::error::{Error, Result, Status};

use super::deadline::Deadline;
use super::limits::MOST_REPLY_BYTES;
use super::request::{STOP_WAITING, VALIDATION, WAIT_CANCELED, kind, with_number};

/// How long a server may take for an answer that it can give at once, at least.
const ANSWER: Duration = Duration::from_secs(5);

/// A connection to a server. After an error it is closed, because a reply may be on its way.
pub(super) struct Channel {
    stream: Arc<TcpStream>,
    /// For messages.
    server: SocketAddr,
}

/// How a wait has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WaitEnd {
    Found,
    TimedOut,
}

impl Channel {
    /// Connects and greets.
    pub(super) fn connect(server: SocketAddr, deadline: Deadline) -> Result<Channel> {
        let left = deadline.left().unwrap_or(Duration::from_millis(1));
        let stream = TcpStream::connect_timeout(&server, left).map_err(|why| {
            let status = match why.kind() {
                ErrorKind::TimedOut => Status::Timeout,
                _ => Status::Io,
            };
            Error::new(status, format!("cannot connect to the store at {server}: {why}"))
        })?;
        let _ = stream.set_nodelay(true);
        let mut channel = Channel { stream: Arc::new(stream), server };
        let mut greeting = with_number(kind::VALIDATE, VALIDATION);
        let number = std::process::id();
        greeting.extend(with_number(kind::PING, number));
        channel.send(&greeting, deadline, "the greeting")?;
        let answer = u32::from_le_bytes(channel.receive(deadline, "the greeting")?);
        if answer != number {
            return Err(channel.failed(
                Status::InvalidArgument,
                "it answered the greeting with another number, so it is not the server of a store; check host and port",
            ));
        }
        Ok(channel)
    }

    /// The stream, by which another thread can end a call.
    pub(super) fn stream(&self) -> Arc<TcpStream> {
        Arc::clone(&self.stream)
    }

    /// A failure that names the server.
    pub(super) fn failed(&self, status: Status, why: impl std::fmt::Display) -> Error {
        Error::new(status, format!("the store at {}: {why}", self.server))
    }

    fn lost(&self, what: &str, why: &std::io::Error) -> Error {
        self.failed(Status::Remote, format!("the connection broke during {what}: {why}"))
    }

    fn late(&self, what: &str, deadline: Deadline) -> Error {
        self.failed(Status::Timeout, format!("no answer to {what} within {} ms", deadline.ms()))
    }

    /// Sends a request. `what` is its name in messages.
    pub(super) fn send(&mut self, bytes: &[u8], deadline: Deadline, what: &str) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let left = deadline.left().ok_or_else(|| self.late(what, deadline))?;
            self.stream.set_write_timeout(Some(left)).map_err(|why| self.lost(what, &why))?;
            match (&*self.stream).write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(why) if is_again(&why) => {}
                Err(why) => return Err(self.lost(what, &why)),
            }
        }
        Ok(())
    }

    fn fill(&mut self, buffer: &mut [u8], deadline: Deadline, what: &str) -> Result<()> {
        let mut at = 0;
        while at < buffer.len() {
            let left = deadline.left().ok_or_else(|| self.late(what, deadline))?;
            self.stream.set_read_timeout(Some(left)).map_err(|why| self.lost(what, &why))?;
            match (&*self.stream).read(&mut buffer[at..]) {
                Ok(0) => {
                    return Err(self.failed(
                        Status::Remote,
                        format!(
                            "the server closed the connection during {what}: it has ended, or it refuses the request \
                             and its log has the reason (a value that is no number, more bytes than it holds, more \
                             connections than it has room for)"
                        ),
                    ));
                }
                Ok(count) => at += count,
                Err(why) if is_again(&why) => {}
                Err(why) => return Err(self.lost(what, &why)),
            }
        }
        Ok(())
    }

    /// Receives a fixed number of bytes.
    pub(super) fn receive<const N: usize>(
        &mut self,
        deadline: Deadline,
        what: &str,
    ) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, deadline, what)?;
        Ok(bytes)
    }

    /// Receives a length and so many bytes.
    pub(super) fn receive_bytes(&mut self, deadline: Deadline, what: &str) -> Result<Vec<u8>> {
        let length = u64::from_le_bytes(self.receive(deadline, what)?);
        if length > MOST_REPLY_BYTES as u64 {
            return Err(self.failed(
                Status::Remote,
                format!(
                    "it announces {length} bytes for {what}; at most {MOST_REPLY_BYTES} are taken"
                ),
            ));
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes, deadline, what)?;
        Ok(bytes)
    }

    /// Waits for the answer to a `WAIT`, and cancels it at the deadline.
    pub(super) fn receive_wait(&mut self, deadline: Deadline, what: &str) -> Result<WaitEnd> {
        match self.receive::<1>(deadline, what) {
            Ok([STOP_WAITING]) => return Ok(WaitEnd::Found),
            Ok([other]) => return Err(self.strange(what, other)),
            Err(error) if error.status() == Status::Timeout => {}
            Err(error) => return Err(error),
        }
        let grace = Deadline::after(ANSWER);
        self.send(&[kind::CANCEL_WAIT], grace, "the end of a wait")?;
        // The key may have come before the server read this.
        match self.receive::<1>(grace, "the end of a wait")? {
            [WAIT_CANCELED] => Ok(WaitEnd::TimedOut),
            [STOP_WAITING] => match self.receive::<1>(grace, "the end of a wait")? {
                [WAIT_CANCELED] => Ok(WaitEnd::Found),
                [other] => Err(self.strange(what, other)),
            },
            [other] => Err(self.strange(what, other)),
        }
    }

    /// The failure of a call that received a byte which is not an answer to it.
    pub(super) fn strange(&self, what: &str, byte: u8) -> Error {
        self.failed(Status::Remote, format!("it answered {what} with the unknown byte {byte}"))
    }

    /// Closes the connection, also for calls of other threads.
    pub(super) fn shut(stream: &TcpStream) {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// The deadline of a request that a server answers at once.
pub(super) fn answer_by(timeout: Duration) -> Deadline {
    Deadline::after(timeout.max(ANSWER))
}

fn is_again(why: &std::io::Error) -> bool {
    matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
