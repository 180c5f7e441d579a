//! The consumer's end of a door: a connection that is kept as long as this process uses the memory.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, connect, shutdown,
    socket_with,
};
use sconce_base::error::{Error, Result, Status};
use sconce_driver::IpcHandle;

use super::message::{
    IpcRequest, ReceivedReply, Reply, SentPage, again, receive_reply, send_request,
};
use super::{handle, peer};

/// The longest wait for another process's reply, in milliseconds.
static TIMEOUT_MS: AtomicU32 = AtomicU32::new(10_000);

/// The longest wait of [`open`](super::open) for the exporting process.
pub fn timeout_ms() -> u32 {
    TIMEOUT_MS.load(Ordering::Relaxed)
}

/// Sets the longest wait of [`open`](super::open) for the exporting process; not 0.
pub fn set_timeout_ms(milliseconds: u32) -> Result<()> {
    if milliseconds == 0 {
        return Err(Error::invalid_argument(
            "milliseconds is 0, in which no process can reply; pass at least 1 (default 10000)",
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
    /// The offsets of closings that are still to be sent.
    owed: Vec<u64>,
}

impl Consumer {
    /// Connects to the door of a handle. Returns `None` if the handle has no door.
    pub(super) fn connect_to(handle: &IpcHandle) -> Result<Option<Consumer>> {
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
            // A child that it forked keeps the socket open, but does not reply.
            return Ok(None);
        }
        Ok(Some(Consumer { socket, tag: 0, owed: Vec::new() }))
    }

    /// Requests the use of the memory at an offset. `again`: this process uses that offset already.
    pub(super) fn open(&mut self, offset: u64, again: bool) -> Result<Reply> {
        let asked = self.ask(IpcRequest::Open { offset });
        if let Err(error) = &asked
            && error.status() == Status::InvalidState
            && !again
        {
            // The request may still be granted, so it is taken back.
            self.owed.push(offset);
        }
        Ok(asked?.reply)
    }

    /// Requests the pages of the memory from one on; as many come as one message has room for.
    pub(super) fn pages(&mut self, from: usize) -> Result<(Reply, Vec<SentPage>)> {
        let ReceivedReply { reply, pages, .. } =
            self.ask(IpcRequest::Pages { from: from as u64 })?;
        Ok((reply, pages))
    }

    fn ask(&mut self, request: IpcRequest) -> Result<ReceivedReply> {
        limit_waits(&self.socket)?;
        self.send_closings(SendFlags::empty()).map_err(lost)?;
        self.tag = self.tag.wrapping_add(1);
        send_request(self.socket.as_fd(), self.tag, request, SendFlags::empty()).map_err(lost)?;
        let deadline = Instant::now() + timeout();
        while Instant::now() < deadline {
            match receive_reply(self.socket.as_fd()).map_err(lost)? {
                Some(received) if received.tag == self.tag => return Ok(received),
                // The reply to an earlier request, for which this process no longer waits.
                Some(_) => {}
                None => return Err(lost(Errno::PIPE)),
            }
        }
        Err(no_answer())
    }

    /// Ends the use of the memory at an offset. Does not wait: a message that the other process cannot receive
    /// now is sent with the next request, or replaced by the end of the connection.
    pub(super) fn close(&mut self, offset: u64) {
        self.owed.push(offset);
        // If the other process has ended there is nothing to send.
        let _ = self.send_closings(SendFlags::DONTWAIT);
    }

    fn send_closings(&mut self, flags: SendFlags) -> rustix::io::Result<()> {
        while let Some(offset) = self.owed.first().copied() {
            send_request(self.socket.as_fd(), 0, IpcRequest::Close { offset }, flags)?;
            self.owed.remove(0);
        }
        Ok(())
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        // Closing is not enough if a forked child has the socket too.
        let _ = shutdown(&self.socket, Shutdown::Both);
    }
}

/// Limits each wait of the socket to the current timeout.
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

/// The error for a failure of a connection.
fn lost(why: Errno) -> Error {
    match why {
        Errno::AGAIN => no_answer(),
        Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN => {
            Error::invalid_handle("the process that made the handle has ended")
        }
        Errno::MFILE => Error::new(
            Status::Io,
            "this process has too few file descriptors left to receive those of the memory's pages; \
             close some, or raise the limit (RLIMIT_NOFILE)",
        ),
        why => no_socket(why),
    }
}
