//! The packets that go over a socket: of a fixed size, one kind with the descriptor of the memory.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

const MAGIC: u32 = u32::from_le_bytes(*b"scI1");
const REQUEST_BYTES: usize = 24;
const REPLY_BYTES: usize = 40;

/// A message of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IpcRequest {
    /// The consumer wants to use the memory at an offset. `descriptor`: it needs the memory's descriptor.
    Open { offset: u64, descriptor: bool },
    /// The consumer no longer uses the memory at an offset. There is no reply.
    Close { offset: u64 },
}

/// The exporter's reply to an opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) answer: Answer,
    /// The allocation's bytes.
    pub(super) bytes: u64,
    /// The UUID of the memory's device.
    pub(super) uuid: [u8; 16],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The memory exists, and stays.
    Yes,
    /// The offset is not below the allocation's bytes.
    BeyondEnd,
    /// The exported memory has been freed.
    Freed,
    /// The exporter's driver failed.
    Failed,
}

const ANSWERS: [Answer; 4] = [Answer::Yes, Answer::BeyondEnd, Answer::Freed, Answer::Failed];

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes.get(at + i).copied().unwrap_or(0))
}

fn packet<const N: usize>(fields: [&[u8]; 4]) -> [u8; N] {
    number(&fields.concat(), 0)
}

/// Sends a request; `tag` comes back with the reply.
pub(super) fn send_request(
    socket: BorrowedFd<'_>,
    tag: u32,
    request: IpcRequest,
    flags: SendFlags,
) -> Result<()> {
    let (kind, offset) = match request {
        IpcRequest::Open { offset, descriptor } => (u32::from(descriptor), offset),
        IpcRequest::Close { offset } => (2, offset),
    };
    let packet: [u8; REQUEST_BYTES] = packet([
        &MAGIC.to_le_bytes(),
        &tag.to_le_bytes(),
        &u64::from(kind).to_le_bytes(),
        &offset.to_le_bytes(),
    ]);
    again(|| rustix::net::send(socket, &packet, flags | SendFlags::NOSIGNAL)).map(|_| ())
}

/// The next request; `None` if the connection has ended.
pub(super) fn receive_request(socket: BorrowedFd<'_>) -> Result<Option<(u32, IpcRequest)>> {
    let mut packet = [0; REQUEST_BYTES];
    let (_, length) = again(|| {
        rustix::net::recv(socket, &mut packet[..], RecvFlags::DONTWAIT | RecvFlags::TRUNC)
    })?;
    if length == 0 {
        return Ok(None);
    }
    let kind = u64::from_le_bytes(number(&packet, 8));
    let offset = u64::from_le_bytes(number(&packet, 16));
    let request = match kind {
        0 | 1 => IpcRequest::Open { offset, descriptor: kind == 1 },
        2 => IpcRequest::Close { offset },
        _ => return Err(Errno::PROTO),
    };
    if length != REQUEST_BYTES || number(&packet, 0) != MAGIC.to_le_bytes() {
        return Err(Errno::PROTO);
    }
    Ok(Some((u32::from_le_bytes(number(&packet, 4)), request)))
}

/// Sends a reply. Never waits.
pub(super) fn send_reply(
    socket: BorrowedFd<'_>,
    tag: u32,
    reply: &Reply,
    descriptor: Option<&OwnedFd>,
) -> Result<()> {
    let packet: [u8; REPLY_BYTES] = packet([
        &[MAGIC.to_le_bytes(), tag.to_le_bytes()].concat(),
        &(reply.answer as u64).to_le_bytes(),
        &reply.bytes.to_le_bytes(),
        &reply.uuid,
    ]);
    let descriptors: Vec<BorrowedFd<'_>> = descriptor.iter().map(|fd| fd.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        with.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    again(|| rustix::net::sendmsg(socket, &[IoSlice::new(&packet)], &mut with, flags)).map(|_| ())
}

/// A reply with its request's tag and the descriptor that came with it; `None` if the connection has ended.
pub(super) fn receive_reply(
    socket: BorrowedFd<'_>,
) -> Result<Option<(u32, Reply, Option<OwnedFd>)>> {
    let mut packet = [0; REPLY_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = again(|| {
        let into = &mut [IoSliceMut::new(&mut packet)];
        rustix::net::recvmsg(socket, into, &mut with, flags)
    })?;
    let mut descriptor = None;
    for message in with.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
            descriptor = descriptors.next();
        }
    }
    if received.bytes == 0 {
        return Ok(None);
    }
    let answer = ANSWERS.get(u64::from_le_bytes(number(&packet, 8)) as usize);
    let whole = received.bytes == REPLY_BYTES && number(&packet, 0) == MAGIC.to_le_bytes();
    let Some(answer) = answer.copied().filter(|_| whole) else { return Err(Errno::PROTO) };
    let bytes = u64::from_le_bytes(number(&packet, 16));
    let reply = Reply { answer, bytes, uuid: number(&packet, 24) };
    Ok(Some((u32::from_le_bytes(number(&packet, 4)), reply, descriptor)))
}

/// Repeats a call that a signal has interrupted.
pub(super) fn again<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}
