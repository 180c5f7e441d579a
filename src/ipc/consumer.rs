//! The consumer's end of a door: a connection that is kept as long as the memory is used.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, connect, shutdown,
    socket_with,
};

use super::message::{Reply, Request, again, receive_reply, send_request};
use super::{handle, peer};
use crate::driver::IpcHandle;
use crate::error::{Error, Result, Status};

/// How long another process may take to answer, in milliseconds.
static TIMEOUT_MS: AtomicU32 = AtomicU32::new(10_000);

/// How long [`open`](super::open) waits for the exporting process to answer.
pub fn timeout_ms() -> u32 {
    TIMEOUT_MS.load(Ordering::Relaxed)
}

/// Sets how long [`open`](super::open) waits for the exporting process to answer; not 0.
pub fn set_timeout_ms(milliseconds: u32) -> Result<()> {
    if milliseconds == 0 {
        return Err(Error::invalid_argument(
            "milliseconds is 0, which no process can answer in; pass at least 1 (default 10000)",
        ));
    }
    TIMEOUT_MS.store(milliseconds, Ordering::Relaxed);
    Ok(())
}

fn timeout() -> Duration {
    Duration::from_millis(timeout_ms().into())
}

/// A connection to the process that exported an allocation.
pub(super) struct Consumer {
    socket: OwnedFd,
    tag: u32,
    /// Closings that the other process could not take yet.
    owed: Vec<u64>,
}

impl Consumer {
    /// Knocks at the door of a handle; `None` when it has none.
    pub(super) fn knock(handle: &IpcHandle) -> Result<Option<Consumer>> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
            .map_err(no_socket)?;
        limit_waits(&socket)?;
        let name = SocketAddrUnix::new_abstract_name(&handle::door_name(handle));
        let name = name.map_err(no_socket)?;
        match again(|| connect(&socket, &name)) {
            Ok(()) => {}
            Err(Errno::CONNREFUSED) => return Ok(None),
            Err(Errno::AGAIN) => return Err(no_answer()),
            Err(why) => return Err(no_socket(why)),
        }
        if !peer::is_of_this_user(socket.as_fd()) {
            return Err(Error::invalid_handle(
                "the handle is of a process of another user; memory is shared within one user's \
                 processes",
            ));
        }
        if peer::has_ended(socket.as_fd()) {
            // A child that it forked keeps the door, where nobody answers.
            return Ok(None);
        }
        Ok(Some(Consumer { socket, tag: 0, owed: Vec::new() }))
    }

    /// Asks to use the memory at an offset. `again` says that this process uses it there already.
    pub(super) fn open(
        &mut self,
        offset: u64,
        descriptor: bool,
        again: bool,
    ) -> Result<(Reply, Option<OwnedFd>)> {
        let asked = self.ask(Request::Open { offset, descriptor });
        if let Err(error) = &asked
            && error.status() == Status::InvalidState
            && !again
        {
            // It may still be granted.
            self.owed.push(offset);
        }
        asked
    }

    fn ask(&mut self, request: Request) -> Result<(Reply, Option<OwnedFd>)> {
        limit_waits(&self.socket)?;
        self.pay(SendFlags::empty()).map_err(lost)?;
        self.tag = self.tag.wrapping_add(1);
        send_request(self.socket.as_fd(), self.tag, request, SendFlags::empty()).map_err(lost)?;
        let deadline = Instant::now() + timeout();
        while Instant::now() < deadline {
            match receive_reply(self.socket.as_fd()).map_err(lost)? {
                Some((tag, reply, descriptor)) if tag == self.tag => {
                    return Ok((reply, descriptor));
                }
                // What was not waited for any more.
                Some(_) => {}
                None => return Err(lost(Errno::PIPE)),
            }
        }
        Err(no_answer())
    }

    /// Says that the memory at an offset is not used any more. Does not wait: what the other process
    /// cannot take now it is told with the next request, or by the end of the connection.
    pub(super) fn close(&mut self, offset: u64) {
        self.owed.push(offset);
        // A process that has ended need not be told.
        let _ = self.pay(SendFlags::DONTWAIT);
    }

    fn pay(&mut self, flags: SendFlags) -> rustix::io::Result<()> {
        while let Some(offset) = self.owed.first().copied() {
            send_request(self.socket.as_fd(), 0, Request::Close { offset }, flags)?;
            self.owed.remove(0);
        }
        Ok(())
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        // Closing would not do where a forked child has the socket, too.
        let _ = shutdown(&self.socket, Shutdown::Both);
    }
}

/// No call of the socket blocks for longer than the timeout of now.
fn limit_waits(socket: &OwnedFd) -> Result<()> {
    for side in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(socket, side, Some(timeout())).map_err(no_socket)?;
    }
    Ok(())
}

fn no_socket(why: Errno) -> Error {
    Error::new(Status::Io, format!("no local socket for sharing memory: {why}"))
}

fn no_answer() -> Error {
    Error::invalid_state(format!(
        "the process that made the handle has not answered for {} ms; it may be stopped, or need \
         more time (sconce_ipc_set_timeout_ms)",
        timeout_ms()
    ))
}

/// What a failure of a connection means.
fn lost(why: Errno) -> Error {
    match why {
        Errno::AGAIN => no_answer(),
        Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN => {
            Error::invalid_handle("the process that made the handle has ended")
        }
        why => no_socket(why),
    }
}
