//! Work that the host does not know to be done, and what a wait that does not end waits for.
#![forbid(unsafe_code)]

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sconce_base::types::DeviceIndex;
use sconce_driver::{HeadState, StreamHead, StreamRef};

use crate::clock::{Clock, Epoch, Lane};
use crate::operation::Operation;

/// How many operations of a stream are kept; of more, the oldest are forgotten.
const MOST_OF_A_LANE: usize = 4096;

/// The work of each stream.
#[derive(Default)]
pub(crate) struct Pending {
    pub(crate) lanes: HashMap<Lane, VecDeque<(u64, Arc<Operation>)>>,
    pub(crate) streams: HashMap<Lane, StreamRef>,
}

impl Pending {
    /// A stream is used.
    pub(crate) fn stream(&mut self, lane: Lane, stream: StreamRef) {
        self.streams.insert(lane, stream);
    }

    /// A lane becomes another stream's.
    pub(crate) fn forget(&mut self, lane: Lane) {
        self.lanes.remove(&lane);
        self.streams.remove(&lane);
    }

    pub(crate) fn add(&mut self, epoch: Epoch, by: &Arc<Operation>, settled: &Clock) {
        let operations = self.lanes.entry(epoch.lane).or_default();
        let is_gone = |(count, _): &(u64, _)| *count <= settled.of(epoch.lane);
        while operations.front().is_some_and(is_gone) || operations.len() >= MOST_OF_A_LANE {
            operations.pop_front();
        }
        operations.push_back((epoch.count, Arc::clone(by)));
    }

    /// The driver has refused an operation.
    pub(crate) fn withdraw(&mut self, number: u64) {
        for operations in self.lanes.values_mut() {
            operations.retain(|(_, by)| by.number != number);
        }
    }

    /// The operation of a lane that the driver is at.
    pub(crate) fn announced(&self, lane: Lane, number: u64) -> Option<&Arc<Operation>> {
        let operations = self.lanes.get(&lane)?;
        operations.iter().rev().map(|(_, by)| by).find(|by| by.number <= number)
    }
}

/// What the host waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Awaited {
    Stream(StreamRef),
    Event(usize),
    Device(DeviceIndex),
    AllDevices,
}

/// A wait of the host.
#[derive(Clone)]
pub(crate) struct Wait {
    pub(crate) by: Arc<Operation>,
    /// What has to be done.
    pub(crate) target: Clock,
    /// An event of another process.
    pub(crate) is_foreign: bool,
}

/// A stream whose work a wait waits for, and what the driver says of it.
pub(crate) struct Suspect {
    pub(crate) lane: Lane,
    pub(crate) stream: StreamRef,
    pub(crate) head: Option<StreamHead>,
}

pub(crate) fn other_process() -> String {
    "the event is another process's, and that process has not reached its record: let it record the event and end the \
     work before"
        .to_owned()
}

/// What would end a wait.
pub(crate) fn repair(
    needs: Option<HeadState>,
    by: Option<&Operation>,
    stream: Option<&str>,
    limit: &str,
) -> String {
    let operation =
        by.map_or("the stream's work".to_owned(), |by| format!("{} #{}", by.name, by.number));
    let stream = stream.unwrap_or("the stream");
    match needs {
        Some(HeadState::Step) => format!(
            "the simulator is in manual mode, and nobody completes {operation}: call sconce_sim_step for {stream}, or \
             sconce_sim_run_until_idle, before the wait or on another thread, or sconce_sim_set_manual(false)"
        ),
        Some(HeadState::EndOfFault) => format!(
            "a record or an operation behind {operation} never completes, because a test has injected a fault: call \
             sconce_sim_clear_faults"
        ),
        Some(HeadState::OtherProcess) => other_process(),
        Some(HeadState::OtherWork) => format!(
            "{stream} waits for work of a stream that the sanitizer does not follow; queue that work, or do not wait for \
             it"
        ),
        _ if by.is_some_and(|by| by.name == HOST_FUNCTION) => format!(
            "the host function #{} has not returned: what it waits for must not need this wait to end",
            by.map_or(0, |by| by.number)
        ),
        Some(HeadState::Time) => format!(
            "{operation} has not ended after {limit} s: if it needs that long, raise SCONCE_SANITIZER_HANG_S; a kernel \
             that waits for a flag needs the thread or stream that sets it"
        ),
        None => format!(
            "{operation} is the first operation on {stream} that is not known to be done after {limit} s, it or a later \
             one has not ended: if that needs so long, raise SCONCE_SANITIZER_HANG_S; a kernel that waits for a flag \
             needs the thread or stream that sets it"
        ),
    }
}

/// The name of host functions.
pub(crate) const HOST_FUNCTION: &str = "host function";
