//! Calls in which several ranks take part, as a library such as NCCL does them.
//!
//! A *communicator* is a set of ranks; each rank works on one device. A rank's end of it is a [`CommEndpoint`]. The
//! ranks may be in one process or in several.
//!
//! | method | precondition | postcondition | blocks? | thread |
//! |---|---|---|---|---|
//! | `comm_version` | – | the library's number of its version | while the library is opened | any |
//! | `comm_unique_id` | – | bytes by which ranks find each other; each communicator needs its own | while the library is opened | any |
//! | `comm_create` | ranks below `ranks`, each on a device of its own | ends that are pending until all ranks of the communicator have called | no | any |
//! | `comm_group_start`, `comm_group_end` | not nested | calls in between are queued by the end, and those that need each other cannot hang for their order | the end as `queue` | both on one thread |
//! | `comm_pending` | – | how many threads of the backend are inside the library, also for ends that were dropped | never | any |
//! | `poll` | – | whether what was begun has ended: `Ok(false)` while it has not | never | one at a time |
//! | `queue` | the end is not pending; the stream is of its device; the memory is valid until the call is done | the call runs in stream order when its counterparts on the other ranks run | the first calls of a kind, until the other ranks make them | one at a time |
//! | `split` | not pending; all ranks call | an end of the new communicator, pending as after `comm_create`; none without a colour | no | one at a time |
//! | `finalize` | not pending | the end is pending until all that was queued is done | no | one at a time |
//! | `abort` of a [`CommAbort`] | – | calls that are queued end without a result, on this rank at once; on others when they abort; a method that waits returns | shortly | any; while another method runs only if that does not end |
//!
//! What is pending goes on while it is asked for: a thread that waits for several ends polls all of them in turn.
//!
//! *One at a time*: no other method of that end runs meanwhile. A method of an end whose communicator is broken fails,
//! `poll` as well. Calls of one communicator are made in the
//! same order by all ranks, except sends and receives, which are matched by their two ranks.
//!
//! Work in a capture becomes nodes of the graph. A failure that another rank caused is `Remote`.

use std::sync::Arc;

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};

use crate::StreamRef;
use crate::contract::lacks;

/// Bytes by which the ranks of a communicator find each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommId(pub [u8; CommId::BYTES]);

impl CommId {
    /// How many bytes it has.
    pub const BYTES: usize = 128;
}

/// How a communicator is made. All ranks give the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommOptions {
    /// The fewest thread blocks of a call; `None`: the library chooses.
    pub min_ctas: Option<i32>,
    /// The most thread blocks of a call; `None`: the library chooses.
    pub max_ctas: Option<i32>,
    /// The size of a cluster of thread blocks; `None`: the library chooses.
    pub cga_cluster_size: Option<i32>,
    /// Whether a communicator that is split from this one shares its resources.
    pub split_share: bool,
}

/// A rank of the calling process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommMember {
    /// Its number in the communicator.
    pub rank: usize,
    /// The device on which it works.
    pub device: DeviceIndex,
}

/// How values of all ranks become one. Each rank gives the same, except the factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CommOp {
    /// The sum.
    Sum,
    /// The product.
    Prod,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum divided by the number of ranks; of integers, rounded towards 0.
    Avg,
    /// The sum of each rank's values times its factor.
    PremulSum(f64),
}

/// One call of a rank. `send` is what it gives and `recv` what it gets, which may be the same memory where both have
/// the same size. `count` is in elements. The types are I8, U8, I32, U32, I64, U64, F16, BF16, F32, F64, and for
/// reductions `F8_E4M3FN` and `F8_E5M2`, on devices of compute capability 9.0 or later.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields of all variants are described with the type")]
pub enum CommCall {
    /// Every rank receives the reduction of all.
    AllReduce { send: DevicePtr, recv: DevicePtr, count: usize, dtype: Dtype, op: CommOp },
    /// The root receives the reduction of all; `recv` of other ranks is not used.
    Reduce { send: DevicePtr, recv: DevicePtr, count: usize, dtype: Dtype, op: CommOp, root: usize },
    /// Every rank receives the root's elements; `send` of other ranks is not used.
    Broadcast { send: DevicePtr, recv: DevicePtr, count: usize, dtype: Dtype, root: usize },
    /// Every rank receives all ranks' elements, `count` of each, in the order of the ranks.
    AllGather { send: DevicePtr, recv: DevicePtr, count: usize, dtype: Dtype },
    /// Rank r receives part r, of `count` elements, of the reduction of all.
    ReduceScatter { send: DevicePtr, recv: DevicePtr, count: usize, dtype: Dtype, op: CommOp },
    /// Rank r receives part r of every rank, in the order of the ranks.
    AllToAll { send: CommParts, recv: CommParts, dtype: Dtype },
    /// The root receives all ranks' elements, `count` of each; `recv` of other ranks is not used.
    Gather { send: DevicePtr, recv: DevicePtr, count: usize, dtype: Dtype, root: usize },
    /// Rank r receives part r, of `count` elements, of the root's; `send` of other ranks is not used.
    Scatter { send: DevicePtr, recv: DevicePtr, count: usize, dtype: Dtype, root: usize },
    /// Sends to a rank that receives as many bytes.
    Send { send: DevicePtr, count: usize, dtype: Dtype, peer: usize },
    /// Receives from a rank that sends as many bytes.
    Recv { recv: DevicePtr, count: usize, dtype: Dtype, peer: usize },
}

impl CommCall {
    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        match self {
            CommCall::AllReduce { dtype, .. }
            | CommCall::Reduce { dtype, .. }
            | CommCall::Broadcast { dtype, .. }
            | CommCall::AllGather { dtype, .. }
            | CommCall::ReduceScatter { dtype, .. }
            | CommCall::AllToAll { dtype, .. }
            | CommCall::Gather { dtype, .. }
            | CommCall::Scatter { dtype, .. }
            | CommCall::Send { dtype, .. }
            | CommCall::Recv { dtype, .. } => *dtype,
        }
    }
}

/// Where the parts for each rank, or from each rank, lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommParts {
    /// The address that the offsets count from.
    pub base: DevicePtr,
    /// For each rank the offset of its part, and how many elements it has.
    pub parts: Vec<(usize, usize)>,
}

/// The collective calls of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Collectives: Send + Sync {
    /// The version of the library, as the library counts: 10,000 for each major one, 100 for each minor one.
    fn comm_version(&self) -> Result<i32> {
        lacks("comm_version", "library of collective calls")
    }
    /// Makes bytes by which the ranks of a communicator find each other.
    fn comm_unique_id(&self) -> Result<CommId> {
        lacks("comm_unique_id", "library of collective calls")
    }
    /// Begins to make a communicator; returns the ends of the given ranks, in their order.
    fn comm_create(
        &self,
        id: &CommId,
        ranks: usize,
        members: &[CommMember],
        options: &CommOptions,
    ) -> Result<Vec<Box<dyn CommEndpoint>>> {
        lacks("comm_create", "library of collective calls")
    }
    /// Begins a group on the calling thread.
    fn comm_group_start(&self) -> Result<()> {
        lacks("comm_group_start", "library of collective calls")
    }
    /// Ends the group, and queues what it holds.
    fn comm_group_end(&self) -> Result<()> {
        lacks("comm_group_end", "library of collective calls")
    }
    /// How many threads of the backend are inside the library, also for ends that were dropped. While there is one, the
    /// library must not be unloaded.
    fn comm_pending(&self) -> usize {
        0
    }
}

/// A rank's end of a communicator. Dropping it gives up what is queued; `finalize` first.
pub trait CommEndpoint: Send {
    /// Whether what was begun has ended.
    fn poll(&mut self) -> Result<bool>;
    /// Queues a call on a stream.
    fn queue(&mut self, call: &CommCall, stream: StreamRef) -> Result<()>;
    /// Begins to split the communicator by colour; ranks of a colour are ordered by `key`, then by rank.
    fn split(
        &mut self,
        color: Option<i32>,
        key: i32,
        options: &CommOptions,
    ) -> Result<Option<Box<dyn CommEndpoint>>>;
    /// Rank and number of ranks, once the end is not pending.
    fn place(&mut self) -> Result<(usize, usize)>;
    /// Begins to end the communicator in order.
    fn finalize(&mut self) -> Result<()>;
    /// What ends the communicator at once.
    fn aborter(&self) -> Arc<dyn CommAbort>;
    /// The library's own handle.
    fn native(&self) -> usize;
}

/// Ends a communicator on one rank.
pub trait CommAbort: Send + Sync {
    /// Ends it at once; does nothing if it has ended.
    fn abort(&self) -> Result<()>;
}
