//! Listeners: code that is called when operations are queued, started and finished.
#![forbid(unsafe_code)]

use sconce_base::types::DeviceIndex;

use crate::call::Call;
use crate::memory::Accesses;

/// A queued operation, as a listener sees it.
#[derive(Clone, Copy, Debug)]
pub struct QueuedOperation<'a> {
    /// The operation's place in the order in which all streams were given work, from 1 on.
    pub number: u64,
    /// The driver call that queued it.
    pub call: Call,
    /// The device of its stream.
    pub device: DeviceIndex,
    /// The number of its stream, which no other stream of the simulator ever has.
    pub stream: u64,
    /// The memory that it reads and writes.
    pub accesses: &'a Accesses,
    /// The operations of other streams that must end before it starts, by their numbers: the record
    /// that a wait is for, and those that the legacy default stream's rule names. It also starts only
    /// after the operation queued on its own stream before.
    pub after: &'a [u64],
}

/// Code that observes every operation. The methods do nothing by default.
///
/// They are called under the engine's lock, in the order in which things happen, and must not call the
/// simulator. While a simulator has a listener, waits for events that have already completed are queued
/// too, since they order work.
pub trait OperationListener: Send + Sync {
    /// An operation was put at the end of a stream.
    fn queued(&self, operation: &QueuedOperation<'_>) {
        let _ = operation;
    }

    /// An operation was taken out of its stream's queue to be run.
    fn started(&self, number: u64, start_ns: u64) {
        let _ = (number, start_ns);
    }

    /// An operation ended, or was dropped because its device failed; then it was not started.
    fn finished(&self, number: u64, end_ns: u64, result: Result<(), i32>) {
        let _ = (number, end_ns, result);
    }
}
