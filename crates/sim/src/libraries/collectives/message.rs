//! Messages: what a rank gives the others, in a memory file that does not change.
//!
//! A message of a collective call has a description of the call, by which mismatches are found, and the rank's
//! elements. One of a group has all its sends. Others may have destroyed their file by the time it is read, so each
//! read checks what it finds.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_driver::{CommCall, CommOp};

use crate::host::pages::constant_file;
use crate::processes::board::MESSAGE_FILE;
use crate::processes::handle::numbers;
use crate::processes::rank::Rank;

const MAGIC: u64 = u64::from_le_bytes(*b"sconMSG1");
/// Words before the lists of a description.
const FIXED_WORDS: usize = 10;
const WORD: usize = 8;

/// What all ranks must agree on in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Description {
    kind: u64,
    dtype: u64,
    op: u64,
    count: u64,
    root: u64,
    /// For calls with parts: how many elements go to each rank, and come from each.
    pub(super) sends: Vec<u64>,
    pub(super) receives: Vec<u64>,
}

const KINDS: [&str; 9] = [
    "all_reduce",
    "reduce",
    "broadcast",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "gather",
    "scatter",
    "group of sends and receives",
];
const OPS: [&str; 6] = ["sum", "prod", "min", "max", "avg", "premul_sum"];
/// The number of a field that a call does not have.
const NONE: u64 = u64::MAX;
/// The kind of a group.
const GROUP: u64 = 8;

fn op_number(op: &CommOp) -> u64 {
    match op {
        CommOp::Sum => 0,
        CommOp::Prod => 1,
        CommOp::Min => 2,
        CommOp::Max => 3,
        CommOp::Avg => 4,
        CommOp::PremulSum(_) => 5,
    }
}

impl Description {
    /// The description of a group.
    pub(super) fn of_group(sends: usize) -> Description {
        Description {
            kind: GROUP,
            dtype: NONE,
            op: NONE,
            count: sends as u64,
            root: NONE,
            sends: Vec::new(),
            receives: Vec::new(),
        }
    }

    /// How many sends the group has that this describes.
    pub(super) fn group_sends(&self) -> usize {
        if self.kind == GROUP { self.count as usize } else { 0 }
    }

    /// The description of a collective call.
    pub(super) fn of(call: &CommCall) -> Description {
        let make = |kind, dtype: &Dtype, op: Option<&CommOp>, count: usize, root: Option<usize>| {
            Description {
                kind,
                dtype: *dtype as u64,
                op: op.map_or(NONE, op_number),
                count: count as u64,
                root: root.map_or(NONE, |root| root as u64),
                sends: Vec::new(),
                receives: Vec::new(),
            }
        };
        match call {
            CommCall::AllReduce { count, dtype, op, .. } => make(0, dtype, Some(op), *count, None),
            CommCall::Reduce { count, dtype, op, root, .. } => {
                make(1, dtype, Some(op), *count, Some(*root))
            }
            CommCall::Broadcast { count, dtype, root, .. } => {
                make(2, dtype, None, *count, Some(*root))
            }
            CommCall::AllGather { count, dtype, .. } => make(3, dtype, None, *count, None),
            CommCall::ReduceScatter { count, dtype, op, .. } => {
                make(4, dtype, Some(op), *count, None)
            }
            CommCall::AllToAll { send, recv, dtype } => {
                let counts = |parts: &[(usize, usize)]| parts.iter().map(|p| p.1 as u64).collect();
                let (sends, receives) = (counts(&send.parts), counts(&recv.parts));
                Description { sends, receives, ..make(5, dtype, None, 0, None) }
            }
            CommCall::Gather { count, dtype, root, .. } => {
                make(6, dtype, None, *count, Some(*root))
            }
            CommCall::Scatter { count, dtype, root, .. } => {
                make(7, dtype, None, *count, Some(*root))
            }
            CommCall::Send { .. } | CommCall::Recv { .. } => Description::of_group(0),
        }
    }

    /// Whether two ranks' calls belong together; `me` and `other` are their ranks.
    pub(super) fn matches(&self, me: usize, of_other: &Description, other: usize) -> bool {
        let same = |a: &Description| (a.kind, a.dtype, a.op, a.count, a.root);
        same(self) == same(of_other)
            && self.sends.get(other) == of_other.receives.get(me)
            && self.receives.get(other) == of_other.sends.get(me)
    }

    /// The call in words.
    pub(super) fn words(&self) -> String {
        let kind = KINDS.get(self.kind as usize).copied().unwrap_or("an unknown call");
        let name = Dtype::ALL.into_iter().find(|dtype| *dtype as u64 == self.dtype);
        let dtype = name.map_or("?", |dtype| dtype.name().trim_start_matches("SCONCE_DTYPE_"));
        let mut words = format!("{kind}(");
        if self.sends.is_empty() {
            words += &format!("{} elements of {dtype}", self.count);
        } else {
            let (sends, receives) = (&self.sends, &self.receives);
            words += &format!("{dtype}, sends {sends:?}, receives {receives:?}");
        }
        if let Some(op) = OPS.get(self.op as usize) {
            words += &format!(", {op}");
        }
        if self.root != NONE {
            words += &format!(", root {}", self.root);
        }
        words + ")"
    }
}

/// Makes the file of a message: the description, and behind it the content.
pub(super) fn write(
    rank: &Rank,
    number: u64,
    description: &Description,
    content: &[u8],
) -> io::Result<(File, u64)> {
    let Description { kind, dtype, op, count, root, sends, receives } = description;
    let [nonce, ..] = rank.board.nonce();
    let parts = sends.len() as u64;
    let fixed = [MAGIC, nonce, rank.rank as u64, number, *kind, *dtype, *op, *count, *root, parts];
    let words = fixed.iter().chain(sends).chain(receives);
    let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend_from_slice(content);
    let file = constant_file(MESSAGE_FILE, &bytes)?;
    let fd = file.as_raw_fd() as u64;
    Ok((file, fd))
}

/// A message of another rank, or of this one.
pub(super) struct Message {
    file: File,
    pub(super) description: Description,
    content_at: u64,
}

impl Message {
    /// Opens message `number` of a rank.
    pub(super) fn open(reader: &Rank, rank: usize, fd: u64, number: u64) -> Result<Message> {
        Message::try_open(reader, rank, fd, number).map_err(|why| {
            let why = format!("the message of rank {rank} cannot be read ({why})");
            Error::new(Status::Remote, why)
        })
    }

    /// [`open`](Self::open), where the message may be gone.
    pub(super) fn try_open(
        reader: &Rank,
        rank: usize,
        fd: u64,
        number: u64,
    ) -> io::Result<Message> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let file = reader.board.message(rank, fd)?;
        let mut fixed = [0; FIXED_WORDS * WORD];
        file.read_exact_at(&mut fixed, 0)?;
        let fixed = numbers(&fixed);
        let [nonce, ..] = reader.board.nonce();
        if fixed[..4] != [MAGIC, nonce, rank as u64, number] {
            return Err(invalid());
        }
        let [kind, dtype, op, count, root, parts] = fixed[4..] else { return Err(invalid()) };
        if parts != 0 && parts != reader.ranks as u64 {
            return Err(invalid());
        }
        let mut lists = vec![0; 2 * parts as usize * WORD];
        file.read_exact_at(&mut lists, (FIXED_WORDS * WORD) as u64)?;
        let lists = numbers(&lists);
        let (sends, receives) = lists.split_at(parts as usize);
        let description = Description {
            kind,
            dtype,
            op,
            count,
            root,
            sends: sends.to_vec(),
            receives: receives.to_vec(),
        };
        let content_at = ((FIXED_WORDS + lists.len()) * WORD) as u64;
        Ok(Message { file, description, content_at })
    }

    /// Reads a part of the content.
    pub(super) fn read(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(into, self.content_at + offset).map_err(|why| {
            Error::new(Status::Remote, format!("another rank's message cannot be read ({why})"))
        })
    }
}
