//! Groups of sends and receives. A group posts all its sends in one message, takes what it receives out of the
//! others' messages, and ends when its own sends have been received.
#![forbid(unsafe_code)]

use std::cell::RefCell;

use sconce_base::error::{Error, Status};
use sconce_driver::CommCall;

use super::collective::{append, copy_into};
use super::message::{self, Description, Message};
use super::stop::WorkStop;
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};
use crate::processes::board::BoardWord;
use crate::processes::handle::numbers;
use crate::processes::rank::{Rank, RankProgress};

/// Words of an entry of a group's message: the receiver, where the elements begin, and how many bytes they have.
const ENTRY_WORDS: usize = 3;
const ENTRY_BYTES: usize = ENTRY_WORDS * 8;

fn sends(calls: &[CommCall]) -> impl Iterator<Item = (usize, u64, usize)> {
    calls.iter().filter_map(|call| match call {
        CommCall::Send { send, count, dtype, peer } => Some((*peer, send.0, count * dtype.bytes())),
        _ => None,
    })
}

fn receives(calls: &[CommCall]) -> impl Iterator<Item = (usize, u64, usize)> {
    calls.iter().filter_map(|call| match call {
        CommCall::Recv { recv, count, dtype, peer } => Some((*peer, recv.0, count * dtype.bytes())),
        _ => None,
    })
}

/// The memory that a group uses on this rank.
pub(super) fn accesses(calls: &[CommCall]) -> Vec<MemoryAccess> {
    let range = |intent, (_, address, bytes): (usize, u64, usize)| {
        (bytes > 0).then(|| MemoryAccess::range(intent, address, bytes as u64))
    };
    let reads = sends(calls).filter_map(|send| range(Intent::Read, send));
    reads.chain(receives(calls).filter_map(|receive| range(Intent::Write, receive))).collect()
}

/// Posts the sends of a group; returns the group's number.
pub(super) fn post(
    rank: &Rank,
    progress: &mut RankProgress,
    calls: &[CommCall],
    memory: &DeviceMemoryView<'_>,
) -> Result<u64, WorkStop> {
    let count = sends(calls).count();
    let mut content = vec![0; count * ENTRY_BYTES];
    for (index, (peer, address, bytes)) in sends(calls).enumerate() {
        let at = content.len();
        let entry = [peer as u64, at as u64, bytes as u64];
        for (word, number) in entry.into_iter().enumerate() {
            let place = index * ENTRY_BYTES + word * 8;
            content[place..place + 8].copy_from_slice(&number.to_le_bytes());
        }
        append((address, bytes), memory, &mut content)?;
    }
    let number = progress.groups + 1;
    let description = Description::of_group(count);
    let (file, fd) = message::write(rank, number, &description, &content)?;
    progress.group_message = Some(file);
    progress.groups = number;
    progress.receives_done = vec![false; receives(calls).count()];
    rank.board.set(rank.rank, BoardWord::Received, 0);
    rank.board.set(rank.rank, BoardWord::GroupMessage, fd);
    rank.board.set(rank.rank, BoardWord::Group, number);
    Ok(number)
}

/// The message of another rank's group that has a send to this rank that has not been received: the message, the
/// group's number, and where the elements lie.
fn next_send(
    rank: &Rank,
    progress: &RankProgress,
    from: usize,
) -> Option<(Message, u64, usize, usize)> {
    let number = rank.board.get(from, BoardWord::Group);
    if number == 0 {
        return None;
    }
    // The group may end while its message is opened; then it has nothing for this rank.
    let fd = rank.board.get(from, BoardWord::GroupMessage);
    let message = Message::try_open(rank, from, fd, number).ok()?;
    let mut entries = vec![0; message.description.group_sends() * ENTRY_BYTES];
    message.read(0, &mut entries).ok()?;
    let entries = numbers(&entries);
    let mut mine = entries.chunks_exact(ENTRY_WORDS).filter(|entry| entry[0] == rank.rank as u64);
    let (group, taken) = progress.received[from];
    let entry = mine.nth(if group == number { taken } else { 0 })?;
    let (at, bytes) = (entry[1] as usize, entry[2] as usize);
    Some((message, number, at, bytes))
}

/// Takes what has arrived; returns whether the group is over.
pub(super) fn advance(
    rank: &Rank,
    progress: &mut RankProgress,
    calls: &[CommCall],
    memory: &DeviceMemoryView<'_>,
) -> Result<bool, WorkStop> {
    let wanted: Vec<_> = receives(calls).collect();
    let mut left = Vec::new();
    // Receives of one rank are served in their order; those of different ranks as they come.
    for (index, (from, address, bytes)) in wanted.iter().enumerate() {
        if progress.receives_done[index] {
            continue;
        }
        let found = if left.contains(from) { None } else { next_send(rank, progress, *from) };
        let Some((message, number, at, sent)) = found else {
            left.push(*from);
            continue;
        };
        if sent != *bytes {
            let me = rank.rank;
            let why = format!(
                "rank {from} sends {sent} bytes to rank {me}, which receives {bytes}; both must be equal"
            );
            return Err(WorkStop::Comm(Error::new(Status::InvalidState, why)));
        }
        copy_into(&message, at, (*address, *bytes), memory)?;
        let (group, taken) = progress.received[*from];
        progress.received[*from] = (number, if group == number { taken + 1 } else { 1 });
        progress.receives_done[index] = true;
        rank.board.add(*from, BoardWord::Received);
    }
    Ok(left.is_empty() && unreceived(rank, calls) == 0)
}

/// How many sends of the group under way have not been received.
fn unreceived(rank: &Rank, calls: &[CommCall]) -> u64 {
    (sends(calls).count() as u64).saturating_sub(rank.board.get(rank.rank, BoardWord::Received))
}

/// Waits until the group is over.
pub(super) fn complete(
    rank: &Rank,
    progress: &mut RankProgress,
    calls: &[CommCall],
    memory: &DeviceMemoryView<'_>,
) -> Result<(), WorkStop> {
    let progress = RefCell::new(progress);
    let mut stop = None;
    let waited = rank.wait(
        || match advance(rank, &mut progress.borrow_mut(), calls, memory) {
            Ok(is_over) => is_over,
            Err(why) => {
                stop = Some(why);
                true
            }
        },
        || missing(&progress.borrow(), calls),
        |_| words(rank, &progress.borrow(), calls),
    );
    match stop {
        Some(why) => return Err(why),
        None => waited?,
    }
    let mut progress = progress.borrow_mut();
    rank.board.set(rank.rank, BoardWord::Group, 0);
    progress.group_message = None;
    Ok(())
}

/// The first receive that has not been served.
fn pending(progress: &RankProgress, calls: &[CommCall]) -> Option<(usize, u64, usize)> {
    receives(calls).zip(&progress.receives_done).find(|(_, done)| !**done).map(|(call, _)| call)
}

/// A rank that the group waits for.
fn missing(progress: &RankProgress, calls: &[CommCall]) -> Option<usize> {
    let from = pending(progress, calls).map(|(from, ..)| from);
    from.or_else(|| sends(calls).next().map(|(to, ..)| to))
}

/// What the group waits for.
fn words(rank: &Rank, progress: &RankProgress, calls: &[CommCall]) -> String {
    let me = rank.rank;
    if let Some((from, _, bytes)) = pending(progress, calls) {
        return format!(
            "rank {me} receives {bytes} bytes from rank {from}, which has not sent them"
        );
    }
    let to = sends(calls).map(|(to, _, bytes)| format!("{bytes} bytes to rank {to}"));
    let to = to.collect::<Vec<_>>().join(", ");
    format!(
        "rank {me} sends {to}, and not all of that has been received; sends and receives that need \
         each other must be in one group"
    )
}
