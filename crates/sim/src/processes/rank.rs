//! A rank of a communicator: its place on the board, how far it is, and how it waits for the others.
#![forbid(unsafe_code)]

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;

use super::board::{Board, BoardWord, Standing};

/// How often a waiting thread looks again before it begins to sleep, and how long it then sleeps.
const EAGER_LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_micros(50);
/// After how many looks the processes of the others are looked at.
const LOOKS_A_CHECK: u32 = 200;

/// One rank; shared by its endpoint and its queued work.
pub(crate) struct Rank {
    pub(crate) board: Arc<Board>,
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    pub(crate) device: DeviceIndex,
    /// A number for the library's handle.
    pub(crate) native: usize,
    /// Held by the operation of this rank that runs: they run one after the other.
    pub(crate) progress: Mutex<rank::SimRankProgress, RankProgress>,
    failure: Mutex<rank::SimRankFailure, Option<Error>>,
    ended: AtomicBool,
    /// How long each operation is late, by a test's wish.
    pub(crate) delay_ns: AtomicU64,
    /// How long an operation waits for others before it is given up.
    patience_ms: Arc<AtomicU64>,
}

/// How far a rank is.
#[derive(Default)]
pub(crate) struct RankProgress {
    /// How many collective calls it has posted, and the messages of the last two.
    pub(crate) posted: u64,
    pub(crate) messages: [Option<File>; 2],
    /// How many groups of sends and receives it has posted, and the message of the last.
    pub(crate) groups: u64,
    pub(crate) group_message: Option<File>,
    /// For each rank the group whose sends it has received last, and how many of them.
    pub(crate) received: Vec<(u64, usize)>,
    /// The operation that has been entered and not run to its end, and which of its receives are done.
    pub(crate) entered: Option<EnteredOperation>,
    pub(crate) receives_done: Vec<bool>,
}

/// An operation that has been entered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnteredOperation {
    /// Tells the operations of a rank apart.
    pub(crate) operation: usize,
    pub(crate) number: u64,
}

impl Rank {
    pub(crate) fn new(
        board: Arc<Board>,
        (rank, ranks): (usize, usize),
        device: DeviceIndex,
        native: usize,
        patience_ms: Arc<AtomicU64>,
    ) -> Rank {
        let received = vec![(0, 0); ranks];
        Rank {
            board,
            rank,
            ranks,
            device,
            native,
            progress: Mutex::new(RankProgress { received, ..RankProgress::default() }),
            failure: Mutex::new(None),
            ended: AtomicBool::new(false),
            delay_ns: AtomicU64::new(0),
            patience_ms,
        }
    }

    /// Its number, and how many ranks there are.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.rank, self.ranks)
    }

    /// Why the rank does nothing any more; `None` while it does.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure.lock().clone()
    }

    /// Whether the rank does nothing any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Ends the rank: what is queued ends without a result, and others learn how it stands.
    pub(crate) fn end(&self, standing: Standing, why: Error) {
        self.failure.lock().get_or_insert(why);
        self.board.stand(self.rank, standing);
        self.ended.store(true, Ordering::Release);
    }

    /// Ends the rank because it was aborted.
    pub(crate) fn abort(&self) {
        let why = Error::new(Status::Aborted, "the communicator was aborted by this process");
        self.end(Standing::Aborted, why);
    }

    /// Blocks until `done` returns true. `missing` returns the rank that is waited for, `what` describes the wait.
    pub(crate) fn wait(
        &self,
        mut done: impl FnMut() -> bool,
        missing: impl Fn() -> Option<usize>,
        what: impl Fn(usize) -> String,
    ) -> Result<()> {
        let began = Instant::now();
        let mut looks = 0_u32;
        loop {
            if done() {
                return Ok(());
            }
            if self.has_ended() {
                let why = self.failure();
                return Err(why.unwrap_or_else(|| Error::new(Status::Aborted, "aborted")));
            }
            looks = looks.wrapping_add(1);
            if looks < EAGER_LOOKS {
                std::thread::yield_now();
                continue;
            }
            if looks.is_multiple_of(LOOKS_A_CHECK)
                && let Some(other) = missing()
            {
                self.check_other(other, &mut done, &what, began.elapsed())?;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn check_other(
        &self,
        other: usize,
        done: &mut dyn FnMut() -> bool,
        what: &dyn Fn(usize) -> String,
        waited: Duration,
    ) -> Result<()> {
        let how = match self.board.standing(other, true) {
            Standing::Joined | Standing::Absent => {
                let patience = Duration::from_millis(self.patience_ms.load(Ordering::Relaxed));
                if waited < patience {
                    return Ok(());
                }
                let why = format!("{}; given up after {patience:?}", what(other));
                return Err(Error::new(Status::Timeout, why));
            }
            Standing::Left => "has destroyed its communicator",
            Standing::Aborted => "has aborted",
            Standing::Failed => "has failed",
            Standing::Died => "has died",
        };
        // It may have done what is waited for just before.
        if done() {
            return Ok(());
        }
        Err(Error::new(Status::Remote, format!("rank {other} {how}: {}", what(other))))
    }
}

/// Messages of ranks that have gone, until the other ranks of this process have read them.
static UNREAD: Mutex<rank::SimUnread, Vec<UnreadMessages>> = Mutex::new(Vec::new());

struct UnreadMessages {
    board: Arc<Board>,
    ranks: usize,
    number: u64,
    _files: [Option<File>; 2],
}

impl UnreadMessages {
    fn has_readers(&self) -> bool {
        (0..self.ranks).any(|rank| {
            self.board.get(rank, BoardWord::Done) < self.number
                && self.board.standing(rank, false) == Standing::Joined
        })
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        self.board.stand(self.rank, Standing::Left);
        let progress = self.progress.get_mut();
        let (board, ranks, number) = (Arc::clone(&self.board), self.ranks, progress.posted);
        let files = std::mem::take(&mut progress.messages);
        let mut unread = UNREAD.lock();
        unread.push(UnreadMessages { board, ranks, number, _files: files });
        unread.retain(UnreadMessages::has_readers);
    }
}

/// The ranks of a simulator.
pub(crate) struct RankTable {
    /// Boards that this process made, until all ranks have joined.
    boards: Mutex<rank::SimRanks, Vec<Arc<Board>>>,
    /// The ranks of this process, for faults.
    ranks: Mutex<rank::SimRanks, Vec<Weak<Rank>>>,
    /// How long operations wait for other ranks, in milliseconds.
    pub(crate) patience_ms: Arc<AtomicU64>,
}

/// How long an operation waits if no test says otherwise.
const PATIENCE_MS: u64 = 60_000;

impl Default for RankTable {
    fn default() -> RankTable {
        RankTable {
            boards: Mutex::default(),
            ranks: Mutex::default(),
            patience_ms: Arc::new(AtomicU64::new(PATIENCE_MS)),
        }
    }
}

impl RankTable {
    /// Keeps a new board until all ranks have opened it.
    pub(crate) fn keep_board(&self, board: Board) {
        let mut boards = self.boards.lock();
        boards.retain(|board| !board.is_complete());
        boards.push(Arc::new(board));
    }

    /// Adds a rank of this process.
    pub(crate) fn add(&self, rank: &Arc<Rank>) {
        let mut ranks = self.ranks.lock();
        ranks.retain(|rank| rank.strong_count() > 0);
        ranks.push(Arc::downgrade(rank));
    }

    /// The rank with this handle.
    pub(crate) fn find(&self, native: usize) -> Option<Arc<Rank>> {
        self.ranks.lock().iter().filter_map(Weak::upgrade).find(|rank| rank.native == native)
    }
}
