//! The board of a communicator: a page of counters on which the ranks, threads or processes, show how far they are.
//!
//! Data does not pass over the board. A rank posts a message, a memory file that does not change, and writes the
//! number of its descriptor on the board; the others open it through `/proc`. A rank posts message n + 2 only after
//! all have read message n, so two places for them suffice.
#![forbid(unsafe_code)]

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::types::DeviceIndex;
use sconce_driver::CommId;
use sconce_driver::IpcHandle;

use super::event_page::{Nonce, started};
use super::handle::{BOARD, HandleFields, open_memory_file};
use crate::host::pages::SharedPage;

/// The name of the page's file.
pub(crate) const BOARD_FILE: &CStr = c"sconce-sim-board";
/// The name of the files of messages.
pub(crate) const MESSAGE_FILE: &CStr = c"sconce-sim-message";

const MAGIC: u64 = u64::from_le_bytes(*b"sconCOM1");

// The counters of the page.
const MAGIC_AT: usize = 0;
const RANKS_AT: usize = 1;
const NONCE_AT: usize = 2;
/// 1 once a rank has seen that all have joined.
const MADE_AT: usize = 7;
const RANKS_BEGIN: usize = 8;
const RANK_WORDS: usize = 16;

/// The most ranks of a communicator.
pub(crate) const MOST_RANKS: usize = (SharedPage::COUNTERS - RANKS_BEGIN) / RANK_WORDS;

/// The words of a rank.
#[derive(Clone, Copy)]
pub(crate) enum BoardWord {
    Pid = 0,
    PidStarted = 1,
    Device = 2,
    /// A [`Standing`].
    Standing = 3,
    /// How many collective calls have been posted, and the descriptors of the last two messages.
    Posted = 4,
    Message = 5,
    /// The number of the group of sends and receives that is under way, the descriptor of its message, and how many
    /// of its sends have been received.
    Group = 7,
    GroupMessage = 8,
    Received = 9,
    /// How many splits have been posted; colours and keys of the last two; the boards of their new communicators.
    Splits = 10,
    Split = 11,
    Child = 13,
    /// How many collective calls have been read to the end.
    Done = 15,
}

/// How a rank stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Absent = 0,
    Joined = 1,
    Left = 2,
    Aborted = 3,
    Failed = 4,
    Died = 5,
}

/// The board of one communicator.
pub(crate) struct Board {
    page: SharedPage,
    nonce: Nonce,
}

impl Board {
    /// A new board.
    pub(crate) fn new(nonce: Nonce) -> io::Result<Board> {
        let page = SharedPage::new(BOARD_FILE)?;
        for (at, part) in nonce.into_iter().enumerate() {
            page.counter(NONCE_AT + at).store(part, Ordering::Relaxed);
        }
        page.counter(MAGIC_AT).store(MAGIC, Ordering::Release);
        Ok(Board { page, nonce })
    }

    /// The bytes by which ranks find the board.
    pub(crate) fn id(&self) -> CommId {
        let device = DeviceIndex::ZERO;
        let handle = HandleFields::here(BOARD, self.page.fd(), device, self.nonce).pack();
        let mut bytes = [0; CommId::BYTES];
        bytes[..handle.0.len()].copy_from_slice(&handle.0);
        CommId(bytes)
    }

    /// The fields of an id; `None` for bytes that are none.
    pub(crate) fn fields(id: &CommId) -> Option<HandleFields> {
        let (handle, rest) = id.0.split_first_chunk()?;
        let fields = HandleFields::unpack(&IpcHandle(*handle))?;
        (fields.kind == BOARD && rest.iter().all(|byte| *byte == 0)).then_some(fields)
    }

    /// The board of another process.
    pub(crate) fn open(pid: u64, fd: u64, nonce: Option<Nonce>) -> io::Result<Board> {
        let page = SharedPage::open(open_memory_file(pid, fd, BOARD_FILE, false)?)?;
        let found = std::array::from_fn(|at| page.counter(NONCE_AT + at).load(Ordering::Relaxed));
        let is_board = page.counter(MAGIC_AT).load(Ordering::Acquire) == MAGIC;
        if is_board && nonce.is_none_or(|nonce| nonce == found) {
            Ok(Board { page, nonce: found })
        } else {
            Err(io::Error::from(io::ErrorKind::InvalidData))
        }
    }

    pub(crate) fn nonce(&self) -> Nonce {
        self.nonce
    }

    pub(crate) fn fd(&self) -> i32 {
        self.page.fd()
    }

    /// Sets the number of ranks; `Err` with the number that another rank has set.
    pub(crate) fn agree_on_ranks(&self, ranks: usize) -> Result<(), usize> {
        let place = self.page.counter(RANKS_AT);
        match place.compare_exchange(0, ranks as u64, Ordering::AcqRel, Ordering::Acquire) {
            Err(other) if other != ranks as u64 => Err(other as usize),
            _ => Ok(()),
        }
    }

    /// Notes that all ranks have joined. From then on the communicator is made, whatever becomes of them.
    pub(crate) fn set_made(&self) {
        self.page.counter(MADE_AT).store(1, Ordering::Release);
    }

    /// Whether a rank has noted that all have joined.
    pub(crate) fn is_made(&self) -> bool {
        self.page.counter(MADE_AT).load(Ordering::Acquire) == 1
    }

    /// Whether all ranks have joined.
    pub(crate) fn is_complete(&self) -> bool {
        let ranks = self.page.counter(RANKS_AT).load(Ordering::Acquire) as usize;
        ranks > 0 && (0..ranks).all(|rank| self.get(rank, BoardWord::Standing) != 0)
    }

    fn word(&self, rank: usize, at: usize) -> &AtomicU64 {
        self.page.counter(RANKS_BEGIN + rank * RANK_WORDS + at)
    }

    pub(crate) fn get(&self, rank: usize, word: BoardWord) -> u64 {
        self.word(rank, word as usize).load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, rank: usize, word: BoardWord, value: u64) {
        self.word(rank, word as usize).store(value, Ordering::Release);
    }

    /// One of two places for things with consecutive numbers.
    pub(crate) fn get_of(&self, rank: usize, word: BoardWord, number: u64) -> u64 {
        self.word(rank, word as usize + (number & 1) as usize).load(Ordering::Acquire)
    }

    pub(crate) fn set_of(&self, rank: usize, word: BoardWord, number: u64, value: u64) {
        self.word(rank, word as usize + (number & 1) as usize).store(value, Ordering::Release);
    }

    pub(crate) fn add(&self, rank: usize, word: BoardWord) {
        self.word(rank, word as usize).fetch_add(1, Ordering::AcqRel);
    }

    /// Takes a rank's place on the board; false if it is taken.
    pub(crate) fn join(&self, rank: usize, device: DeviceIndex) -> bool {
        let pid = u64::from(std::process::id());
        let place = self.word(rank, BoardWord::Pid as usize);
        if place.compare_exchange(0, pid, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return false;
        }
        self.set(rank, BoardWord::PidStarted, started(pid).unwrap_or(0));
        self.set(rank, BoardWord::Device, device.as_usize() as u64);
        self.set(rank, BoardWord::Standing, Standing::Joined as u64);
        true
    }

    /// How a rank stands. Finding out whether its process lives costs a look at the system's files.
    pub(crate) fn standing(&self, rank: usize, look_at_process: bool) -> Standing {
        let standing = match self.get(rank, BoardWord::Standing) {
            0 => return Standing::Absent,
            1 => Standing::Joined,
            2 => Standing::Left,
            3 => Standing::Aborted,
            4 => Standing::Failed,
            _ => return Standing::Died,
        };
        let pid = self.get(rank, BoardWord::Pid);
        if standing == Standing::Joined
            && look_at_process
            && pid != u64::from(std::process::id())
            && started(pid) != Some(self.get(rank, BoardWord::PidStarted))
        {
            return Standing::Died;
        }
        standing
    }

    /// Whether a rank is one of this process.
    pub(crate) fn is_here(&self, rank: usize) -> bool {
        self.get(rank, BoardWord::Pid) == u64::from(std::process::id())
    }

    /// Changes how a rank stands, once: a rank that has aborted does not fail any more.
    pub(crate) fn stand(&self, rank: usize, standing: Standing) {
        let place = self.word(rank, BoardWord::Standing as usize);
        let joined = Standing::Joined as u64;
        let _ =
            place.compare_exchange(joined, standing as u64, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Opens a message that a rank has posted.
    pub(crate) fn message(&self, rank: usize, fd: u64) -> io::Result<File> {
        open_memory_file(self.get(rank, BoardWord::Pid), fd, MESSAGE_FILE, true)
    }
}
