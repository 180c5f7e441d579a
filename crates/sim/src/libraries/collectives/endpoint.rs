//! One rank of a simulated communicator, as the trait [`CommEndpoint`] has it.
//!
//! The ranks may be threads or processes. They share a *board*, a page of memory on which each rank writes what the
//! others must know: that it has joined, its device, how it splits the communicator, that it has gone. No rank waits
//! inside of a call: [`poll`](CommEndpoint::poll) reads the board and moves the rank from one [`EndpointPhase`] to the
//! next.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::nvidia::comm_failure;
use sconce_driver::{CommAbort, CommCall, CommEndpoint, CommOptions, StreamRef};

use super::group::{self, LastOperation, QueuedCalls, as_calls};
use super::reduce::is_reducible;
use crate::call::Call;
use crate::libraries::compute::native_handle;
use crate::processes::board::{Board, BoardWord, Standing};
use crate::processes::handle::nonce;
use crate::processes::rank::Rank;
use crate::state::State;

/// `ncclInvalidUsage`.
const INVALID_USAGE: i32 = 5;

/// The failure of a call that NCCL refuses as a wrong use.
pub(super) fn refused(call: Call) -> Error {
    comm_failure(call.name(), INVALID_USAGE)
}

pub(super) fn no_board(why: std::io::Error) -> Error {
    Error::new(Status::Io, format!("no page for the ranks of a communicator: {why}"))
}

/// What a rank does or waits for.
enum EndpointPhase {
    /// It comes from a split, and waits until all ranks of the parent have said how they split.
    Splitting(Split),
    /// It has joined, and waits until all other ranks have.
    Joining,
    Ready,
    /// It waits until its queued calls have ended.
    Finalizing,
    Finalized,
}

/// A split under way.
struct Split {
    parent: Arc<Rank>,
    /// How many splits of the parent there have been, this one included.
    number: u64,
    color: u32,
}

/// The endpoint, and the rank that it shares with its queued operations.
pub(super) struct SimEndpoint {
    inner: Arc<State>,
    /// The parent's rank while it is split off.
    rank: Arc<Rank>,
    last: LastOperation,
    /// The same rank, for threads that abort it; `None` until the rank has been split off.
    member: Arc<Mutex<rank::SimCollectiveMember, Option<Arc<Rank>>>>,
    /// How many splits it has begun.
    splits: u64,
    phase: EndpointPhase,
}

impl SimEndpoint {
    /// Takes a rank's place on a board.
    pub(super) fn join(
        inner: &Arc<State>,
        board: Arc<Board>,
        place: (usize, usize),
        device: DeviceIndex,
    ) -> Result<SimEndpoint> {
        let rank = take_place(inner, board, place, device)?;
        Ok(SimEndpoint {
            inner: Arc::clone(inner),
            member: Arc::new(Mutex::new(Some(Arc::clone(&rank)))),
            rank,
            last: LastOperation::default(),
            splits: 0,
            phase: EndpointPhase::Joining,
        })
    }

    /// Whether all ranks have joined, each with a device of its own.
    fn has_all_ranks(&self) -> Result<bool> {
        let Rank { board, ranks, .. } = &*self.rank;
        let mut is_complete = true;
        for other in 0..*ranks {
            match board.standing(other, true) {
                Standing::Absent => is_complete = false,
                Standing::Joined | Standing::Left => {}
                // A rank that goes after all have joined fails the calls, not this.
                Standing::Aborted | Standing::Failed | Standing::Died if board.is_made() => {}
                Standing::Aborted | Standing::Failed | Standing::Died => {
                    let why = format!("rank {other} has gone before the communicator was made");
                    return Err(Error::new(Status::Remote, why));
                }
            }
        }
        if !is_complete {
            return Ok(false);
        }
        let device = |rank| board.get(rank, BoardWord::Device);
        for other in 0..*ranks {
            if let Some(first) = (0..other).find(|first| device(*first) == device(other)) {
                let why = format!(
                    "ranks {first} and {other} are on device {}; each rank needs a device of its own",
                    device(other)
                );
                return Err(refused(Call::CommCreate).context(why));
            }
        }
        board.set_made();
        Ok(true)
    }

    /// If all ranks of the parent have said how they split, joins the new communicator. The member with the lowest key
    /// makes its board, and tells the others through the parent's.
    fn split_off(&mut self) -> Result<()> {
        let EndpointPhase::Splitting(Split { parent, number, color }) = &self.phase else {
            return Ok(());
        };
        let board = &parent.board;
        let mut members = Vec::new();
        for other in 0..parent.ranks {
            if board.get(other, BoardWord::Splits) < *number {
                let standing = board.standing(other, true);
                if standing == Standing::Joined {
                    return Ok(());
                }
                let why = format!("rank {other} has gone before it split the communicator");
                return Err(Error::new(Status::Remote, why));
            }
            let [its_color, key] = halves(board.get_of(other, BoardWord::Split, *number));
            if its_color == *color {
                members.push((key as i32, other));
            }
        }
        members.sort_unstable();
        let ranks = members.len();
        let mine = members.iter().position(|(_, other)| *other == parent.rank).unwrap_or(0);
        let leader = members.first().map_or(parent.rank, |(_, other)| *other);
        let new_board = if leader == parent.rank {
            let new_board = Board::new(nonce()?).map_err(no_board)?;
            let fd = new_board.fd() as u64 + 1;
            board.set_of(parent.rank, BoardWord::Child, *number, fd);
            new_board
        } else {
            match board.get_of(leader, BoardWord::Child, *number) {
                0 if board.standing(leader, true) == Standing::Joined => return Ok(()),
                0 => {
                    let why = format!("rank {leader} has gone while it split the communicator");
                    return Err(Error::new(Status::Remote, why));
                }
                fd => {
                    Board::open(board.get(leader, BoardWord::Pid), fd - 1, None).map_err(|why| {
                        let why = format!("rank {leader} has gone while it split ({why})");
                        Error::new(Status::Remote, why)
                    })?
                }
            }
        };
        let agreed = new_board.agree_on_ranks(ranks);
        agreed.map_err(|_| refused(Call::CommSplit))?;
        let device = parent.device;
        self.rank = take_place(&self.inner, Arc::new(new_board), (mine, ranks), device)?;
        *self.member.lock() = Some(Arc::clone(&self.rank));
        self.phase = EndpointPhase::Joining;
        Ok(())
    }

    /// Refuses calls of a communicator that is broken or not ready.
    fn check(&self, call: Call) -> Result<()> {
        self.inner.enter_library(call, comm_failure)?;
        match self.rank.failure() {
            Some(why) => Err(why),
            None if matches!(self.phase, EndpointPhase::Ready) => Ok(()),
            None => {
                Err(refused(call).context("the communicator is not ready, or has been finalized"))
            }
        }
    }
}

fn take_place(
    inner: &Arc<State>,
    board: Arc<Board>,
    place: (usize, usize),
    device: DeviceIndex,
) -> Result<Arc<Rank>> {
    if !board.join(place.0, inner.visible.number_of(device)) {
        let why = format!("rank {} of this communicator exists already", place.0);
        return Err(refused(Call::CommCreate).context(why));
    }
    let patience = Arc::clone(&inner.ranks.patience_ms);
    let rank = Arc::new(Rank::new(board, place, device, native_handle(), patience));
    inner.ranks.add(&rank);
    Ok(rank)
}

/// The colour and the key of a split, which one word of the board holds.
fn halves(word: u64) -> [u32; 2] {
    [(word >> 32) as u32, word as u32]
}

impl CommEndpoint for SimEndpoint {
    fn poll(&mut self) -> Result<bool> {
        if let Some(why) = self.rank.failure() {
            return Err(why);
        }
        if matches!(self.phase, EndpointPhase::Splitting(_)) {
            self.split_off()?;
        }
        if matches!(self.phase, EndpointPhase::Joining) && self.has_all_ranks()? {
            self.phase = EndpointPhase::Ready;
        }
        if matches!(self.phase, EndpointPhase::Finalizing)
            && self.last.lock().as_ref().is_none_or(|token| token.is_done())
        {
            self.phase = EndpointPhase::Finalized;
        }
        Ok(matches!(self.phase, EndpointPhase::Ready | EndpointPhase::Finalized))
    }

    fn queue(&mut self, call: &CommCall, stream: StreamRef) -> Result<()> {
        self.check(Call::CommQueue)?;
        if stream.device != self.rank.device {
            return Err(refused(Call::CommQueue).context("the stream is of another device"));
        }
        if !is_reducible(call.dtype()) {
            let why = format!("NCCL has no elements of {}", call.dtype().name());
            return Err(Error::not_supported(why));
        }
        group::queue(QueuedCalls {
            inner: Arc::clone(&self.inner),
            rank: Arc::clone(&self.rank),
            last: Arc::clone(&self.last),
            stream,
            calls: as_calls(call.clone()),
        })
    }

    fn split(
        &mut self,
        color: Option<i32>,
        key: i32,
        _options: &CommOptions,
    ) -> Result<Option<Box<dyn CommEndpoint>>> {
        self.check(Call::CommSplit)?;
        self.inner.check_held_back(Call::CommSplit)?;
        self.splits += 1;
        let (number, parent) = (self.splits, Arc::clone(&self.rank));
        let board = &parent.board;
        // Colours are not negative, so no colour is the number of none.
        let color_word = color.map_or(u32::MAX, |color| color as u32);
        let word = u64::from(color_word) << 32 | u64::from(key as u32);
        board.set_of(parent.rank, BoardWord::Child, number, 0);
        board.set_of(parent.rank, BoardWord::Split, number, word);
        board.set(parent.rank, BoardWord::Splits, number);
        if color.is_none() {
            return Ok(None);
        }
        let rank = Arc::clone(&parent);
        let phase = EndpointPhase::Splitting(Split { parent, number, color: color_word });
        let (inner, last) = (Arc::clone(&self.inner), Arc::new(Mutex::new(None)));
        let member = Arc::default();
        Ok(Some(Box::new(SimEndpoint { inner, rank, last, member, splits: 0, phase })))
    }

    fn place(&mut self) -> Result<(usize, usize)> {
        Ok(self.rank.place())
    }

    fn finalize(&mut self) -> Result<()> {
        self.check(Call::CommFinalize)?;
        self.phase = EndpointPhase::Finalizing;
        Ok(())
    }

    fn aborter(&self) -> Arc<dyn CommAbort> {
        let member = Arc::clone(&self.member);
        Arc::new(SimAborter { inner: Arc::clone(&self.inner), member })
    }

    fn native(&self) -> usize {
        self.rank.native
    }
}

/// Aborts a rank from any thread. A rank that is still to be split off does not exist yet.
struct SimAborter {
    inner: Arc<State>,
    member: Arc<Mutex<rank::SimCollectiveMember, Option<Arc<Rank>>>>,
}

impl CommAbort for SimAborter {
    fn abort(&self) -> Result<()> {
        self.inner.enter_library(Call::CommAbort, comm_failure)?;
        if let Some(rank) = &*self.member.lock() {
            rank.abort();
        }
        Ok(())
    }
}

impl Drop for SimEndpoint {
    fn drop(&mut self) {
        if matches!(
            self.phase,
            EndpointPhase::Joining | EndpointPhase::Ready | EndpointPhase::Finalizing
        ) {
            let why = Error::new(Status::Aborted, "the communicator was destroyed");
            self.rank.end(Standing::Left, why);
        }
    }
}
