//! The doors of this process: a listening socket for each exported allocation, and a connection for each
//! process that uses one (a consumer).

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, listen, socket_with,
};
use sconce_driver::IpcHandle;

use super::export::Export;
use super::message::{Answer, IpcRequest, again, receive_request, send_reply};
use super::{handle, peer};
use crate::memory::shared_blocks::Hold;

/// The most connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// The fewest doors for which it is worth checking whether their memory still exists.
const FEW: usize = 16;

struct Door {
    socket: OwnedFd,
    export: Arc<Export>,
}

/// The connection of a process that uses an allocation, or is about to.
struct ConsumerConnection {
    socket: OwnedFd,
    /// The process itself: its sockets stay open after its end if a child that it forked has them too.
    process: Option<OwnedFd>,
    export: Arc<Export>,
    /// The offsets that it uses, with the holds that keep their memory.
    held: HashMap<u64, Option<Hold>>,
}

/// All doors and connections of the process.
pub(super) struct Doors {
    waiting: Arc<OwnedFd>,
    /// By the numbers that events come with, which are even. The process of a connection has the odd number
    /// that follows.
    doors: HashMap<u64, Door>,
    connections: HashMap<u64, ConsumerConnection>,
    next: u64,
    sweep_at: usize,
}

impl Doors {
    pub(super) fn new() -> rustix::io::Result<Doors> {
        let waiting = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        let (doors, connections) = (HashMap::new(), HashMap::new());
        Ok(Doors { waiting, doors, connections, next: 0, sweep_at: FEW })
    }

    /// The descriptor to wait for before serving.
    pub(super) fn waiting(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.waiting)
    }

    pub(super) fn find(&self, wanted: impl Fn(&Export) -> bool) -> Option<IpcHandle> {
        self.doors.values().find(|door| wanted(&door.export)).map(|door| door.export.handle)
    }

    fn number(&mut self) -> u64 {
        self.next += 2;
        self.next
    }

    /// Opens a door for an export.
    pub(super) fn add(&mut self, export: Export) -> rustix::io::Result<()> {
        // The same handle of memory that is gone: the driver has used the bytes again.
        self.close(|other| other.handle == export.handle);
        if self.doors.len() >= self.sweep_at {
            self.close(|other| other.is_current() == Ok(false));
            self.sweep_at = FEW.max(2 * self.doors.len());
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        bind(&socket, &SocketAddrUnix::new_abstract_name(&handle::door_name(&export.handle))?)?;
        listen(&socket, BACKLOG)?;
        let number = self.number();
        self.watch(&socket, number)?;
        self.doors.insert(number, Door { socket, export: Arc::new(export) });
        Ok(())
    }

    fn watch(&self, source: &OwnedFd, number: u64) -> rustix::io::Result<()> {
        let data = epoll::EventData::new_u64(number);
        epoll::add(&*self.waiting, source, data, epoll::EventFlags::IN)
    }

    /// Closing alone is not enough if a forked child has the socket too.
    fn unwatch(&self, source: &OwnedFd) {
        let _ = epoll::delete(&*self.waiting, source);
    }

    fn close(&mut self, gone: impl Fn(&Export) -> bool) {
        let is_gone = |door: &Door| gone(&door.export);
        let numbers: Vec<u64> =
            self.doors.iter().filter(|(_, door)| is_gone(door)).map(|(n, _)| *n).collect();
        for number in numbers {
            if let Some(door) = self.doors.remove(&number) {
                self.unwatch(&door.socket);
            }
        }
    }

    /// Accepts connections, replies to requests, and closes the connections of consumers that have gone. Never
    /// waits. Returns false if something could not be done now.
    pub(super) fn serve(&mut self) -> bool {
        const NOT_AT_ALL: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut events = Vec::with_capacity(1 + self.doors.len() + 2 * self.connections.len());
        let waited =
            again(|| epoll::wait(&*self.waiting, spare_capacity(&mut events), Some(&NOT_AT_ALL)));
        let mut done = waited.is_ok();
        for event in events {
            let number = event.data.u64();
            if self.doors.contains_key(&number) {
                done &= self.accept(number);
            } else {
                self.receive(number & !1, number & 1 == 1);
            }
        }
        done
    }

    /// Accepts the connections to a door. Returns false if one could not be accepted now.
    fn accept(&mut self, number: u64) -> bool {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        while let Some(door) = self.doors.get(&number) {
            let export = Arc::clone(&door.export);
            let socket = match accept_with(&door.socket, flags) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return true,
                Err(Errno::CONNABORTED | Errno::INTR) => continue,
                Err(_) => return false,
            };
            if !peer::is_of_this_user(socket.as_fd()) {
                continue;
            }
            let number = self.number();
            if self.watch(&socket, number).is_err() {
                continue;
            }
            let process = peer::descriptor(socket.as_fd())
                .filter(|process| self.watch(process, number + 1).is_ok());
            self.connections.insert(
                number,
                ConsumerConnection { socket, process, export, held: HashMap::new() },
            );
        }
        true
    }

    fn receive(&mut self, number: u64, process_has_ended: bool) {
        let Some(mut connection) = self.connections.remove(&number) else { return };
        if !process_has_ended && connection.serve() {
            self.connections.insert(number, connection);
            return;
        }
        self.unwatch(&connection.socket);
        if let Some(process) = &connection.process {
            self.unwatch(process);
        }
    }
}

impl ConsumerConnection {
    /// Carries out its requests. Returns false if the consumer has gone.
    fn serve(&mut self) -> bool {
        loop {
            match receive_request(self.socket.as_fd()) {
                Ok(Some((_, IpcRequest::Close { offset }))) => drop(self.held.remove(&offset)),
                Ok(Some((tag, IpcRequest::Open { offset }))) => {
                    let (reply, hold) = self.export.answer(offset);
                    if reply.answer == Answer::Yes {
                        self.held.entry(offset).or_insert(hold);
                    }
                    if send_reply(self.socket.as_fd(), tag, &reply, &[]).is_err() {
                        return false;
                    }
                }
                Ok(Some((tag, IpcRequest::Pages { from }))) => {
                    let (reply, pages) = self.export.pages(from, !self.held.is_empty());
                    if send_reply(self.socket.as_fd(), tag, &reply, &pages).is_err() {
                        return false;
                    }
                }
                Err(Errno::AGAIN) => return true,
                Ok(None) | Err(_) => return false,
            }
        }
    }
}
