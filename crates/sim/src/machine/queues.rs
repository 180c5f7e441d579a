//! The data of queues: streams, devices, threads.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use sconce_base::lock::{Condvar, rank};
use sconce_base::types::DeviceIndex;

use super::operation::Operation;
use super::token::{StreamKey, Token};
use crate::call::Call;

/// What a stream is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamPhase {
    /// Empty, or its head cannot run yet.
    Idle,
    /// Its head is a kernel that waits for an execution slot.
    AwaitingSlot,
    /// Its head waits for a worker.
    Ready,
    /// Its head is being run.
    Running,
}

/// The queue of one stream.
pub(crate) struct StreamQueue {
    pub(crate) device: DeviceIndex,
    pub(crate) priority: i32,
    pub(crate) non_blocking: bool,
    pub(crate) destroyed: bool,
    pub(crate) queue: VecDeque<Operation>,
    /// The call of the head that is being run, and what the thread had announced that queued it.
    pub(crate) running: Option<(Call, u64)>,
    pub(crate) phase: StreamPhase,
    /// Token of the newest operation, done or not.
    pub(crate) last: Option<Arc<Token>>,
    /// When the operation that ended last ended.
    pub(crate) end_ns: u64,
    /// The execution slot its head holds.
    pub(crate) slot: Option<usize>,
}

impl StreamQueue {
    /// Operations that have not ended.
    pub(crate) fn pending(&self) -> usize {
        self.queue.len() + usize::from(self.phase == StreamPhase::Running)
    }

    pub(crate) fn pending_token(&self) -> Option<Arc<Token>> {
        self.last.clone().filter(|token| !token.is_done())
    }
}

/// One of the places in which a device can run a kernel.
#[derive(Clone, Copy, Default)]
pub(crate) struct KernelSlot {
    pub(crate) busy: bool,
    pub(crate) free_at_ns: u64,
}

/// The streams and execution slots of one device.
pub(crate) struct DeviceQueues {
    /// Living streams, and destroyed ones that still have work; the legacy stream first.
    pub(crate) streams: Vec<StreamKey>,
    pub(crate) slots: Vec<KernelSlot>,
    /// Streams whose head waits for a slot: by priority, then by arrival.
    pub(crate) awaiting: BTreeSet<(i32, u64, StreamKey)>,
    /// The code that every call fails with after queued work has failed.
    pub(crate) error: Option<i32>,
    /// The operation that failed, and what it said.
    pub(crate) failure: Option<String>,
}

/// The threads that run operations.
#[derive(Default)]
pub(crate) struct WorkerThreads {
    pub(crate) idle: usize,
    /// Threads that have been spawned and have not taken the engine's lock yet.
    pub(crate) starting: usize,
    pub(crate) alive: usize,
    /// How many may be alive at a time.
    pub(crate) most: usize,
    /// Why a thread could not be started. The devices have failed then. What still runs may wait for
    /// work that will never run, so no call waits for an operation any more.
    pub(crate) exhausted: Option<String>,
    /// Notified when a stream is ready.
    pub(crate) work: Arc<Condvar<rank::SimWork>>,
}
