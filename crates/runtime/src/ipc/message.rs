//! The packets that go over a socket: requests of a fixed size, and replies that may come with pages, each
//! with its descriptor.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

const MAGIC: u32 = u32::from_le_bytes(*b"scI2");
const REQUEST_BYTES: usize = 24;
/// The bytes of a reply, before the sizes of its pages.
const REPLY_BYTES: usize = 40;

/// The most pages that come with one reply. The system sends at most 253 descriptors in a message, and all
/// of a message are open at one time in both processes, which may have few left.
pub(super) const PAGES_AT_ONCE: usize = 64;

/// A message of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IpcRequest {
    /// The consumer wants to use the memory at an offset.
    Open { offset: u64 },
    /// The consumer maps the memory, and wants the pages from this one on, as many as one reply has.
    Pages { from: u64 },
    /// The consumer no longer uses the memory at an offset. There is no reply.
    Close { offset: u64 },
}

/// The exporter's reply to an opening, or to a request for pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) answer: Answer,
    /// The bytes of the allocation, or of all pages.
    pub(super) bytes: u64,
    /// The UUID of the memory's device.
    pub(super) uuid: [u8; 16],
}

/// A page of memory on its way to a consumer.
#[derive(Debug)]
pub(super) struct SentPage {
    pub(super) bytes: u64,
    pub(super) descriptor: OwnedFd,
}

/// A reply as it arrives.
#[derive(Debug)]
pub(super) struct ReceivedReply {
    /// The tag of its request.
    pub(super) tag: u32,
    pub(super) reply: Reply,
    pub(super) pages: Vec<SentPage>,
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
    /// The exporter's memory is asleep.
    Asleep,
}

const ANSWERS: [Answer; 5] =
    [Answer::Yes, Answer::BeyondEnd, Answer::Freed, Answer::Failed, Answer::Asleep];

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
    let (kind, argument) = match request {
        IpcRequest::Open { offset } => (0_u64, offset),
        IpcRequest::Pages { from } => (1, from),
        IpcRequest::Close { offset } => (2, offset),
    };
    let packet: [u8; REQUEST_BYTES] = packet([
        &MAGIC.to_le_bytes(),
        &tag.to_le_bytes(),
        &kind.to_le_bytes(),
        &argument.to_le_bytes(),
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
    let argument = u64::from_le_bytes(number(&packet, 16));
    let request = match kind {
        0 => IpcRequest::Open { offset: argument },
        1 => IpcRequest::Pages { from: argument },
        2 => IpcRequest::Close { offset: argument },
        _ => return Err(Errno::PROTO),
    };
    if length != REQUEST_BYTES || number(&packet, 0) != MAGIC.to_le_bytes() {
        return Err(Errno::PROTO);
    }
    Ok(Some((u32::from_le_bytes(number(&packet, 4)), request)))
}

/// Sends a reply with at most [`PAGES_AT_ONCE`] pages. Never waits.
pub(super) fn send_reply(
    socket: BorrowedFd<'_>,
    tag: u32,
    reply: &Reply,
    pages: &[SentPage],
) -> Result<()> {
    let head: [u8; REPLY_BYTES] = packet([
        &[MAGIC.to_le_bytes(), tag.to_le_bytes()].concat(),
        &(reply.answer as u64).to_le_bytes(),
        &reply.bytes.to_le_bytes(),
        &reply.uuid,
    ]);
    let sizes: Vec<u8> = pages.iter().flat_map(|page| page.bytes.to_le_bytes()).collect();
    let descriptors: Vec<BorrowedFd<'_>> =
        pages.iter().map(|page| page.descriptor.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PAGES_AT_ONCE))];
    let mut with = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !with.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(Errno::NOBUFS);
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let parts = [IoSlice::new(&head), IoSlice::new(&sizes)];
    again(|| rustix::net::sendmsg(socket, &parts, &mut with, flags)).map(|_| ())
}

/// A reply with what came with it; `None` if the connection has ended.
pub(super) fn receive_reply(socket: BorrowedFd<'_>) -> Result<Option<ReceivedReply>> {
    let mut head = [0; REPLY_BYTES];
    let mut sizes = [0; 8 * PAGES_AT_ONCE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PAGES_AT_ONCE))];
    let mut with = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = again(|| {
        let into = &mut [IoSliceMut::new(&mut head), IoSliceMut::new(&mut sizes)];
        rustix::net::recvmsg(socket, into, &mut with, flags)
    })?;
    let mut descriptors = Vec::new();
    for message in with.drain() {
        if let RecvAncillaryMessage::ScmRights(these) = message {
            descriptors.extend(these);
        }
    }
    if received.bytes == 0 {
        return Ok(None);
    }
    let answer = ANSWERS.get(u64::from_le_bytes(number(&head, 8)) as usize);
    let is_known = received.bytes >= REPLY_BYTES && number(&head, 0) == MAGIC.to_le_bytes();
    let Some(answer) = answer.copied().filter(|_| is_known) else { return Err(Errno::PROTO) };
    let sizes = sizes.get(..received.bytes - REPLY_BYTES).unwrap_or(&[]).chunks_exact(8);
    if descriptors.len() < sizes.len() {
        // The system leaves out what this process has no descriptors left for.
        return Err(Errno::MFILE);
    }
    let sizes = sizes.map(|size| u64::from_le_bytes(number(size, 0)));
    let pages = sizes.zip(descriptors).map(|(bytes, descriptor)| SentPage { bytes, descriptor });
    let bytes = u64::from_le_bytes(number(&head, 16));
    let reply = Reply { answer, bytes, uuid: number(&head, 24) };
    let tag = u32::from_le_bytes(number(&head, 4));
    Ok(Some(ReceivedReply { tag, reply, pages: pages.collect() }))
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
