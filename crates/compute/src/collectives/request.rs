//! Calls, checked: memory, ranks, types.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{CommCall, CommOp, CommParts};
use sconce_runtime::context::Runtime;
use sconce_runtime::operand::address_range::{MemoryKind, kind_of};

use super::comm::Comm;
use super::wire::{Wire, check_capability, to_copy, to_reduce};

/// A call of a rank. Addresses are of the communicator's device; counts and offsets are elements.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the fields are those of the functions of the C API")]
pub enum CommRequest<'a> {
    AllReduce { send: usize, recv: usize, count: usize, dtype: Dtype, op: CommOp },
    Reduce { send: usize, recv: usize, count: usize, dtype: Dtype, op: CommOp, root: i32 },
    Broadcast { send: usize, recv: usize, count: usize, dtype: Dtype, root: i32 },
    AllGather { send: usize, recv: usize, count: usize, dtype: Dtype },
    ReduceScatter { send: usize, recv: usize, count: usize, dtype: Dtype, op: CommOp },
    AllToAll { send: usize, recv: usize, count: usize, dtype: Dtype },
    AllToAllV { send: PartsOf<'a>, recv: PartsOf<'a>, dtype: Dtype },
    Gather { send: usize, recv: usize, count: usize, dtype: Dtype, root: i32 },
    Scatter { send: usize, recv: usize, count: usize, dtype: Dtype, root: i32 },
    Send { send: usize, count: usize, dtype: Dtype, peer: i32 },
    Recv { recv: usize, count: usize, dtype: Dtype, peer: i32 },
    Barrier,
}

/// Parts for each rank, or from each.
#[derive(Clone, Copy, Debug)]
pub struct PartsOf<'a> {
    /// The address that offsets count from.
    pub base: usize,
    /// For each rank how many elements.
    pub counts: &'a [usize],
    /// For each rank where they begin.
    pub offsets: &'a [usize],
}

/// The memory that a call uses on this rank: addresses and bytes. At most two ranges, for what streams must know.
pub(super) type Used = [Option<usize>; 2];

/// A call that has been checked.
pub(super) struct Checked {
    pub(super) call: CommCall,
    pub(super) used: Used,
}

struct Checker<'a> {
    runtime: &'static Runtime,
    device: DeviceIndex,
    rank: usize,
    ranks: usize,
    used: Used,
    name: &'a str,
}

/// Checks a request; `Barrier` is none that can be.
#[inline]
pub(super) fn check(comm: &Comm, request: &CommRequest<'_>) -> Result<Checked> {
    let (rank, ranks) = comm.place();
    let name = request.name();
    let (runtime, device) = (comm.runtime, comm.device);
    let mut checker = Checker { runtime, device, rank, ranks, used: [None; 2], name };
    let call = checker.call(request)?;
    Ok(Checked { call, used: checker.used })
}

impl CommRequest<'_> {
    /// What the call is called.
    pub(super) fn name(&self) -> &'static str {
        match self {
            CommRequest::AllReduce { .. } => "all_reduce",
            CommRequest::Reduce { .. } => "reduce",
            CommRequest::Broadcast { .. } => "broadcast",
            CommRequest::AllGather { .. } => "all_gather",
            CommRequest::ReduceScatter { .. } => "reduce_scatter",
            CommRequest::AllToAll { .. } => "all_to_all",
            CommRequest::AllToAllV { .. } => "all_to_all_v",
            CommRequest::Gather { .. } => "gather",
            CommRequest::Scatter { .. } => "scatter",
            CommRequest::Send { .. } => "send",
            CommRequest::Recv { .. } => "recv",
            CommRequest::Barrier => "barrier",
        }
    }
}

impl Checker<'_> {
    /// How elements are reduced on the device.
    #[inline]
    fn reduced(&self, dtype: Dtype, op: CommOp) -> Result<(Wire, CommOp)> {
        let reduced = to_reduce(dtype, op)?;
        check_capability(dtype, || {
            let properties = self.runtime.driver().device_properties(self.device)?;
            Ok((properties.major, properties.minor))
        })?;
        Ok(reduced)
    }

    fn call(&mut self, request: &CommRequest<'_>) -> Result<CommCall> {
        let ranks = self.ranks;
        Ok(match *request {
            CommRequest::AllReduce { send, recv, count, dtype, op } => {
                let (wire, op) = self.reduced(dtype, op)?;
                let count = self.counted(count, wire, 1)?;
                self.apart_or_equal((send, count), (recv, count), 0, wire)?;
                let (send, recv) =
                    (self.sends(send, count, wire)?, self.receives(recv, count, wire)?);
                CommCall::AllReduce { send, recv, count, dtype: wire.dtype, op }
            }
            CommRequest::Reduce { send, recv, count, dtype, op, root } => {
                let (wire, op) = self.reduced(dtype, op)?;
                let root = self.root(root)?;
                let count = self.counted(count, wire, 1)?;
                let send_at = self.sends(send, count, wire)?;
                let recv = if root == self.rank {
                    self.apart_or_equal((send, count), (recv, count), 0, wire)?;
                    self.receives(recv, count, wire)?
                } else {
                    DevicePtr(0)
                };
                CommCall::Reduce { send: send_at, recv, count, dtype: wire.dtype, op, root }
            }
            CommRequest::Broadcast { send, recv, count, dtype, root } => {
                let wire = to_copy(dtype);
                let root = self.root(root)?;
                let count = self.counted(count, wire, 1)?;
                let recv_at = self.receives(recv, count, wire)?;
                let send = if root == self.rank {
                    self.apart_or_equal((send, count), (recv, count), 0, wire)?;
                    self.sends(send, count, wire)?
                } else {
                    recv_at
                };
                CommCall::Broadcast { send, recv: recv_at, count, dtype: wire.dtype, root }
            }
            CommRequest::AllGather { send, recv, count, dtype } => {
                let wire = to_copy(dtype);
                let count = self.counted(count, wire, ranks)?;
                self.apart_or_equal((send, count), (recv, ranks * count), self.rank * count, wire)?;
                let (send, recv) =
                    (self.sends(send, count, wire)?, self.receives(recv, ranks * count, wire)?);
                CommCall::AllGather { send, recv, count, dtype: wire.dtype }
            }
            CommRequest::ReduceScatter { send, recv, count, dtype, op } => {
                let (wire, op) = self.reduced(dtype, op)?;
                let count = self.counted(count, wire, ranks)?;
                self.apart_or_equal((recv, count), (send, ranks * count), self.rank * count, wire)?;
                let (send, recv) =
                    (self.sends(send, ranks * count, wire)?, self.receives(recv, count, wire)?);
                CommCall::ReduceScatter { send, recv, count, dtype: wire.dtype, op }
            }
            CommRequest::AllToAll { send, recv, count, dtype } => {
                let wire = to_copy(dtype);
                let count = self.counted(count, wire, ranks)?;
                self.apart((send, ranks * count), (recv, ranks * count), wire)?;
                let base = |address| CommParts {
                    base: address,
                    parts: (0..ranks).map(|rank| (rank * count, count)).collect(),
                };
                let (send, recv) = (
                    base(self.sends(send, ranks * count, wire)?),
                    base(self.receives(recv, ranks * count, wire)?),
                );
                CommCall::AllToAll { send, recv, dtype: wire.dtype }
            }
            CommRequest::AllToAllV { send, recv, dtype } => {
                let wire = to_copy(dtype);
                let (from, sent) = self.parts("send", &send, wire)?;
                let (to, received) = self.parts("recv", &recv, wire)?;
                self.own_part(&from, &to)?;
                self.separate(&to)?;
                self.apart((send.base, sent), (recv.base, received), wire)?;
                let base = self.sends(send.base, sent, wire)?;
                let send = CommParts { base, parts: from };
                let base = self.receives(recv.base, received, wire)?;
                let recv = CommParts { base, parts: to };
                CommCall::AllToAll { send, recv, dtype: wire.dtype }
            }
            CommRequest::Gather { send, recv, count, dtype, root } => {
                let wire = to_copy(dtype);
                let root = self.root(root)?;
                let count = self.counted(count, wire, ranks)?;
                let send_at = self.sends(send, count, wire)?;
                let recv = if root == self.rank {
                    let place = root * count;
                    self.apart_or_equal((send, count), (recv, ranks * count), place, wire)?;
                    self.receives(recv, ranks * count, wire)?
                } else {
                    DevicePtr(0)
                };
                CommCall::Gather { send: send_at, recv, count, dtype: wire.dtype, root }
            }
            CommRequest::Scatter { send, recv, count, dtype, root } => {
                let wire = to_copy(dtype);
                let root = self.root(root)?;
                let count = self.counted(count, wire, ranks)?;
                let recv_at = self.receives(recv, count, wire)?;
                let send = if root == self.rank {
                    let place = root * count;
                    self.apart_or_equal((recv, count), (send, ranks * count), place, wire)?;
                    self.sends(send, ranks * count, wire)?
                } else {
                    DevicePtr(0)
                };
                CommCall::Scatter { send, recv: recv_at, count, dtype: wire.dtype, root }
            }
            CommRequest::Send { send, count, dtype, peer } => {
                let wire = to_copy(dtype);
                let peer = self.peer(peer)?;
                let count = self.counted(count, wire, 1)?;
                CommCall::Send {
                    send: self.sends(send, count, wire)?,
                    count,
                    dtype: wire.dtype,
                    peer,
                }
            }
            CommRequest::Recv { recv, count, dtype, peer } => {
                let wire = to_copy(dtype);
                let peer = self.peer(peer)?;
                let count = self.counted(count, wire, 1)?;
                let recv = self.receives(recv, count, wire)?;
                CommCall::Recv { recv, count, dtype: wire.dtype, peer }
            }
            CommRequest::Barrier => {
                return Err(Error::new(Status::Internal, "a barrier is queued as an all_reduce"));
            }
        })
    }

    /// A count in the library's elements, of which `times` as many must be addressable.
    #[inline]
    fn counted(&self, count: usize, wire: Wire, times: usize) -> Result<usize> {
        let bytes = count.checked_mul(wire.per_element * wire.dtype.bytes() * times);
        match bytes {
            Some(bytes) if bytes <= isize::MAX as usize => Ok(count * wire.per_element),
            _ => Err(Error::invalid_argument(format!(
                "{}: count is {count}, which is too large",
                self.name
            ))),
        }
    }

    #[inline]
    fn sends(&mut self, send: usize, count: usize, wire: Wire) -> Result<DevicePtr> {
        self.used[0] = self.memory("send", send, count * wire.dtype.bytes())?;
        Ok(DevicePtr(send as u64))
    }

    #[inline]
    fn receives(&mut self, recv: usize, count: usize, wire: Wire) -> Result<DevicePtr> {
        self.used[1] = self.memory("recv", recv, count * wire.dtype.bytes())?;
        Ok(DevicePtr(recv as u64))
    }

    /// Checks a range of memory: it lies on the communicator's device.
    #[inline]
    fn memory(&self, what: &str, address: usize, bytes: usize) -> Result<Option<usize>> {
        if bytes == 0 {
            return Ok(None);
        }
        match kind_of(self.runtime, address, bytes, what)? {
            MemoryKind::Device(device) if device == self.device => Ok(Some(address)),
            MemoryKind::Managed(_) => Ok(Some(address)),
            MemoryKind::Device(other) => Err(Error::new(
                Status::CrossDevice,
                format!(
                    "{}: {what} is on device {other}, but the communicator works on device {}",
                    self.name, self.device
                ),
            )),
            MemoryKind::Ordinary | MemoryKind::Pinned => Err(Error::invalid_argument(format!(
                "{}: {what} {address:#x} is host memory; it must be memory of device {}",
                self.name, self.device
            ))),
        }
    }

    /// The rank that an argument names.
    #[inline]
    fn rank_of(&self, what: &str, rank: i32) -> Result<usize> {
        match usize::try_from(rank) {
            Ok(rank) if rank < self.ranks => Ok(rank),
            _ => Err(Error::invalid_argument(format!(
                "{}: {what} is {rank}; it must be from 0 to {}",
                self.name,
                self.ranks - 1
            ))),
        }
    }

    fn root(&self, root: i32) -> Result<usize> {
        self.rank_of("root", root)
    }

    fn peer(&self, peer: i32) -> Result<usize> {
        self.rank_of("peer", peer)
    }

    /// Offsets and counts of parts, and how many elements they reach over.
    fn parts(
        &self,
        what: &str,
        parts: &PartsOf<'_>,
        wire: Wire,
    ) -> Result<(Vec<(usize, usize)>, usize)> {
        let mut reach = 0;
        let mut all = Vec::with_capacity(self.ranks);
        for (offset, count) in parts.offsets.iter().zip(parts.counts) {
            let end = offset.checked_add(*count).ok_or_else(|| {
                let why = format!("{}: {what}_offsets are too large", self.name);
                Error::invalid_argument(why)
            })?;
            if *count > 0 {
                reach = reach.max(self.counted(end, wire, 1)?);
            }
            all.push((offset * wire.per_element, count * wire.per_element));
        }
        Ok((all, reach))
    }

    /// Refuses parts of which this rank sends another number of elements to itself than it receives.
    fn own_part(&self, sent: &[(usize, usize)], received: &[(usize, usize)]) -> Result<()> {
        let count = |parts: &[(usize, usize)]| parts.get(self.rank).map_or(0, |part| part.1);
        let (sent, received) = (count(sent), count(received));
        if sent == received {
            return Ok(());
        }
        Err(Error::invalid_argument(format!(
            "{}: send_counts[{rank}] and recv_counts[{rank}] differ; both are what rank {rank}, this one, sends to \
             itself",
            self.name,
            rank = self.rank
        )))
    }

    /// Refuses parts that are received into the same memory.
    fn separate(&self, received: &[(usize, usize)]) -> Result<()> {
        let mut parts: Vec<_> =
            received.iter().enumerate().filter(|(_, part)| part.1 > 0).collect();
        parts.sort_unstable_by_key(|(_, part)| **part);
        for pair in parts.windows(2) {
            let [(one, (offset, count)), (other, (next, _))] = pair else { continue };
            if offset + count > *next {
                return Err(Error::invalid_argument(format!(
                    "{}: the parts {one} and {other} of recv overlap (recv_offsets, recv_counts)",
                    self.name
                )));
            }
        }
        Ok(())
    }

    /// Refuses ranges that overlap. Counts are the library's elements.
    fn apart(&self, one: (usize, usize), other: (usize, usize), wire: Wire) -> Result<()> {
        self.apart_or_equal(one, other, usize::MAX, wire)
    }

    /// Refuses ranges that overlap, unless the small one begins at element `place` of the large one.
    #[inline]
    fn apart_or_equal(
        &self,
        small: (usize, usize),
        large: (usize, usize),
        place: usize,
        wire: Wire,
    ) -> Result<()> {
        let bytes = wire.dtype.bytes();
        let end = |(start, count): (usize, usize)| start.saturating_add(count * bytes);
        let overlap = small.0 < end(large) && large.0 < end(small);
        if !overlap || place.checked_mul(bytes).is_some_and(|place| large.0 + place == small.0) {
            return Ok(());
        }
        let why = if place == usize::MAX {
            "send and recv overlap; the call needs separate memory for both"
        } else {
            "send and recv overlap; a call in place needs this rank's part exactly in its place"
        };
        Err(Error::invalid_argument(format!("{}: {why}", self.name)))
    }
}
