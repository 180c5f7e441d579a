//! Calls of all ranks. Each posts its elements, waits for all, and computes its own result.
#![forbid(unsafe_code)]

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Status};
use sconce_base::types::DevicePtr;
use sconce_driver::{CommCall, CommOp, CommParts};

use super::message::{self, Description, Message};
use super::reduce::{combine, finish, prepare};
use super::stop::WorkStop;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};
use crate::processes::board::{BoardWord, Standing};
use crate::processes::rank::{Rank, RankProgress};

/// Bytes of a result that are computed at once.
const PIECE: usize = 256 << 10;

/// What a call reads on a rank of a number of ranks: address and bytes, in the order in which they are posted.
fn reads((me, ranks): (usize, usize), call: &CommCall) -> Vec<(u64, usize)> {
    let one = |send: &DevicePtr, count: usize, dtype: &Dtype| vec![(send.0, count * dtype.bytes())];
    match call {
        CommCall::AllReduce { send, count, dtype, .. }
        | CommCall::Reduce { send, count, dtype, .. }
        | CommCall::AllGather { send, count, dtype, .. }
        | CommCall::Gather { send, count, dtype, .. } => one(send, *count, dtype),
        CommCall::ReduceScatter { send, count, dtype, .. } => one(send, ranks * count, dtype),
        CommCall::Broadcast { send, count, dtype, root, .. } if *root == me => {
            one(send, *count, dtype)
        }
        CommCall::Scatter { send, count, dtype, root, .. } if *root == me => {
            one(send, ranks * count, dtype)
        }
        CommCall::AllToAll { send, dtype, .. } => parts(send, dtype),
        _ => Vec::new(),
    }
}

/// What a call writes on a rank of a number of ranks.
fn writes((me, ranks): (usize, usize), call: &CommCall) -> Vec<(u64, usize)> {
    let one = |recv: &DevicePtr, count: usize, dtype: &Dtype| vec![(recv.0, count * dtype.bytes())];
    match call {
        CommCall::AllReduce { recv, count, dtype, .. }
        | CommCall::Broadcast { recv, count, dtype, .. }
        | CommCall::ReduceScatter { recv, count, dtype, .. }
        | CommCall::Scatter { recv, count, dtype, .. } => one(recv, *count, dtype),
        CommCall::AllGather { recv, count, dtype, .. } => one(recv, ranks * count, dtype),
        CommCall::Reduce { recv, count, dtype, root, .. } if *root == me => {
            one(recv, *count, dtype)
        }
        CommCall::Gather { recv, count, dtype, root, .. } if *root == me => {
            one(recv, ranks * count, dtype)
        }
        CommCall::AllToAll { recv, dtype, .. } => parts(recv, dtype),
        _ => Vec::new(),
    }
}

fn parts(parts: &CommParts, dtype: &Dtype) -> Vec<(u64, usize)> {
    let bytes = dtype.bytes();
    let part = |(offset, count): &(usize, usize)| {
        (parts.base.0.wrapping_add((offset * bytes) as u64), count * bytes)
    };
    parts.parts.iter().map(part).collect()
}

/// The memory that a call uses on a rank of a number of ranks.
pub(super) fn accesses(place: (usize, usize), call: &CommCall) -> Vec<MemoryAccess> {
    let range = |intent, (address, bytes): &(u64, usize)| {
        (*bytes > 0).then(|| MemoryAccess::range(intent, *address, *bytes as u64))
    };
    let (reads, writes) = (reads(place, call), writes(place, call));
    let reads = reads.iter().filter_map(|read| range(Intent::Read, read));
    reads.chain(writes.iter().filter_map(|write| range(Intent::Write, write))).collect()
}

/// Appends what a range of memory holds. Where nothing is read, the address may be anything.
pub(super) fn append(
    (address, bytes): (u64, usize),
    memory: &DeviceMemoryView<'_>,
    content: &mut Vec<u8>,
) -> Result<(), WorkStop> {
    if bytes == 0 {
        return Ok(());
    }
    memory.covers(address, bytes as u64)?;
    let before = content.len();
    content.resize(before + bytes, 0);
    memory.read(address, &mut content[before..])?;
    Ok(())
}

/// Posts this rank's part of a call; returns the call's number.
pub(super) fn post(
    rank: &Rank,
    progress: &mut RankProgress,
    call: &CommCall,
    memory: &DeviceMemoryView<'_>,
) -> Result<u64, WorkStop> {
    let mut content = Vec::new();
    for (address, bytes) in reads(rank.place(), call) {
        append((address, bytes), memory, &mut content)?;
    }
    if let CommCall::AllReduce { dtype, op, .. }
    | CommCall::Reduce { dtype, op, .. }
    | CommCall::ReduceScatter { dtype, op, .. } = call
    {
        prepare(*dtype, *op, rank.ranks, &mut content);
    }
    let number = progress.posted + 1;
    let (file, fd) = message::write(rank, number, &Description::of(call), &content)?;
    progress.messages[(number & 1) as usize] = Some(file);
    progress.posted = number;
    rank.board.set_of(rank.rank, BoardWord::Message, number, fd);
    rank.board.set(rank.rank, BoardWord::Posted, number);
    Ok(number)
}

/// The first rank whose counter has not reached a number.
fn behind(rank: &Rank, word: BoardWord, number: u64) -> Option<usize> {
    (0..rank.ranks).find(|other| rank.board.get(*other, word) < number)
}

/// Whether all ranks have posted their part of a call.
pub(super) fn all_posted(rank: &Rank, number: u64) -> bool {
    behind(rank, BoardWord::Posted, number).is_none()
}

/// Waits for all ranks and writes this rank's result.
pub(super) fn complete(
    rank: &Rank,
    call: &CommCall,
    number: u64,
    memory: &DeviceMemoryView<'_>,
) -> Result<(), WorkStop> {
    let own = Description::of(call);
    rank.wait(
        || all_posted(rank, number),
        || behind(rank, BoardWord::Posted, number),
        |other| {
            let (me, words) = (rank.rank, own.words());
            format!("rank {me} is at call {number}, {words}, which rank {other} has not made")
        },
    )?;
    let messages = (0..rank.ranks).map(|other| {
        let fd = rank.board.get_of(other, BoardWord::Message, number);
        Message::open(rank, other, fd, number)
    });
    let messages = messages.collect::<Result<Vec<_>, _>>()?;
    for (other, message) in messages.iter().enumerate() {
        if !own.matches(rank.rank, &message.description, other) {
            return Err(mismatch(number, (rank.rank, &own), (other, &message.description)));
        }
    }
    write_result(rank, call, &messages, memory)?;
    rank.board.set(rank.rank, BoardWord::Done, number);
    // A process that ends takes its messages with it, so ranks of several processes go on together.
    let unread = || {
        let elsewhere = |other: &usize| !rank.board.is_here(*other);
        let joined = |other: &usize| rank.board.standing(*other, false) == Standing::Joined;
        (0..rank.ranks)
            .filter(|other| rank.board.get(*other, BoardWord::Done) < number)
            .find(|other| elsewhere(other) && joined(other))
    };
    rank.wait(
        || unread().is_none(),
        unread,
        |other| format!("rank {other} has not read the elements of call {number}"),
    )?;
    Ok(())
}

fn mismatch(number: u64, one: (usize, &Description), other: (usize, &Description)) -> WorkStop {
    let [(first, a), (second, b)] = if one.0 < other.0 { [one, other] } else { [other, one] };
    let why = format!(
        "call {number} of the communicator differs between its ranks: rank {first} calls {}, rank {second} calls {}; \
         all ranks must make the same calls in the same order",
        a.words(),
        b.words()
    );
    WorkStop::Comm(Error::new(Status::InvalidState, why))
}

fn write_result(
    rank: &Rank,
    call: &CommCall,
    messages: &[Message],
    memory: &DeviceMemoryView<'_>,
) -> Result<(), WorkStop> {
    let me = rank.rank;
    match call {
        CommCall::AllReduce { recv, count, dtype, op, .. } => {
            reduce_into(messages, 0, recv.0, *count, (*dtype, *op), memory)
        }
        CommCall::Reduce { recv, count, dtype, op, root, .. } if *root == me => {
            reduce_into(messages, 0, recv.0, *count, (*dtype, *op), memory)
        }
        CommCall::ReduceScatter { recv, count, dtype, op, .. } => {
            let offset = me * count * dtype.bytes();
            reduce_into(messages, offset, recv.0, *count, (*dtype, *op), memory)
        }
        CommCall::Broadcast { recv, count, dtype, root, .. } => {
            copy_into(&messages[*root], 0, (recv.0, count * dtype.bytes()), memory)
        }
        CommCall::Scatter { recv, count, dtype, root, .. } => {
            let bytes = count * dtype.bytes();
            copy_into(&messages[*root], me * bytes, (recv.0, bytes), memory)
        }
        CommCall::AllGather { recv, count, dtype, .. } => {
            copy_all(messages, recv.0, count * dtype.bytes(), memory)
        }
        CommCall::Gather { recv, count, dtype, root, .. } if *root == me => {
            copy_all(messages, recv.0, count * dtype.bytes(), memory)
        }
        CommCall::AllToAll { recv, dtype, .. } => {
            for (message, place) in messages.iter().zip(parts(recv, dtype)) {
                let before: u64 = message.description.sends[..me].iter().sum();
                copy_into(message, before as usize * dtype.bytes(), place, memory)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn copy_all(
    messages: &[Message],
    recv: u64,
    bytes: usize,
    memory: &DeviceMemoryView<'_>,
) -> Result<(), WorkStop> {
    for (index, message) in messages.iter().enumerate() {
        copy_into(message, 0, (recv.wrapping_add((index * bytes) as u64), bytes), memory)?;
    }
    Ok(())
}

/// Copies a part of a message into memory, piece by piece.
pub(super) fn copy_into(
    message: &Message,
    offset: usize,
    (address, bytes): (u64, usize),
    memory: &DeviceMemoryView<'_>,
) -> Result<(), WorkStop> {
    let mut piece = vec![0; PIECE.min(bytes)];
    for start in (0..bytes).step_by(PIECE) {
        let piece = &mut piece[..PIECE.min(bytes - start)];
        message.read((offset + start) as u64, piece)?;
        memory.write(address.wrapping_add(start as u64), piece)?;
    }
    Ok(())
}

/// Reduces parts of all messages into memory, piece by piece.
fn reduce_into(
    messages: &[Message],
    offset: usize,
    recv: u64,
    count: usize,
    (dtype, op): (Dtype, CommOp),
    memory: &DeviceMemoryView<'_>,
) -> Result<(), WorkStop> {
    let bytes = count * dtype.bytes();
    let (mut so_far, mut more) = (vec![0; PIECE.min(bytes)], vec![0; PIECE.min(bytes)]);
    for start in (0..bytes).step_by(PIECE) {
        let length = PIECE.min(bytes - start);
        let at = (offset + start) as u64;
        let (so_far, more) = (&mut so_far[..length], &mut more[..length]);
        for (index, message) in messages.iter().enumerate() {
            if index == 0 {
                message.read(at, so_far)?;
            } else {
                message.read(at, more)?;
                combine(dtype, op, so_far, more);
            }
        }
        finish(dtype, op, messages.len(), so_far);
        memory.write(recv.wrapping_add(start as u64), so_far)?;
    }
    Ok(())
}
