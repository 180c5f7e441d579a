//! Operations: what is queued on streams, and what the machine must know of the work they do.
#![forbid(unsafe_code)]

use std::sync::Arc;

use super::token::Token;
use crate::call::Call;
use crate::memory::Accesses;

/// How the machine runs a kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// The work takes no time; it is completed as soon as its turn comes.
    Instant,
    /// The work is a kernel: it holds one of the device's execution slots and a thread.
    Slot,
    /// The work holds a thread.
    Thread,
}

/// The work of one operation. The machine decides when it runs; the work does the rest.
/// A node of a graph does its work at each launch, so the work may be done any number of times.
pub(crate) trait QueuedWork: Send + Sync {
    /// How the machine runs it.
    fn pace(&self) -> Pace;

    /// The memory that [`run`](Self::run) reads and writes. It depends on nothing that may change after
    /// the work is queued.
    fn accesses(&self) -> Accesses;

    /// Does the work. An error is the driver's code; the device then fails for good.
    fn run(&self) -> Result<(), i32>;

    /// Why the last run failed, where the code alone does not tell.
    fn failure(&self) -> Option<String> {
        None
    }

    /// What is known of the work beside the call that queued it, for people.
    fn details(&self) -> Option<String> {
        None
    }

    /// Writes the graphs that the work runs in the language of Graphviz. `node` is the name of its node.
    fn write_bodies(&self, _node: &str, _text: &mut String) {}

    /// How long the work that was done last takes in the model, where that shows only when it is done.
    fn modelled_ns(&self) -> u64 {
        0
    }

    /// Whether nothing outside this process prevents it from running.
    fn may_start(&self) -> bool {
        true
    }

    /// Called when the operation has ended, whether the work ran or not.
    fn announce_end(&self) {}

    /// Whether [`abandon`](Self::abandon) is to be called for an operation that has ended.
    fn is_to_be_abandoned(&self) -> bool {
        false
    }

    /// Does what is to be done instead of the work. Called once, without a lock.
    fn abandon(&self) {}
}

/// An operation to be queued.
pub(crate) struct Submission {
    pub(crate) call: Call,
    pub(crate) work: Arc<dyn QueuedWork>,
    pub(crate) duration_ns: u64,
    /// Operations that must have ended before, besides those of the same stream.
    pub(crate) after: Vec<Arc<Token>>,
    /// The code with which the operation fails instead of running.
    pub(crate) fault: Option<i32>,
    /// The operation never completes, until the faults are cleared.
    pub(crate) stuck: bool,
}

/// One queued operation.
pub(crate) struct Operation {
    pub(crate) call: Call,
    pub(crate) work: Arc<dyn QueuedWork>,
    pub(crate) duration_ns: u64,
    /// What must have ended before, besides the operation ahead in the queue.
    pub(crate) dependencies: Vec<Arc<Token>>,
    pub(crate) token: Arc<Token>,
    pub(crate) submitted_ns: u64,
    /// What the thread had announced that queued it.
    pub(crate) announced: u64,
    /// The code with which the operation fails instead of running.
    pub(crate) fault: Option<i32>,
    /// The operation never completes, until the faults are cleared.
    pub(crate) stuck: bool,
    /// Its stream is already among the dependents of a dependency.
    pub(crate) registered: bool,
}

impl Operation {
    /// The place in the order in which all streams were given work.
    pub(crate) fn arrival(&self) -> u64 {
        self.token.operation()
    }

    /// The operation by its call, and why it failed.
    pub(crate) fn failure(&self, complaint: Option<String>) -> String {
        let call = self.call.name();
        match (self.work.failure().or(complaint), self.work.details()) {
            (Some(why), _) => format!("{call}: {why}"),
            (None, Some(details)) => format!("{call} ({})", details.replace('\n', ", ")),
            (None, None) => call.to_owned(),
        }
    }

    /// Whether all its dependencies have ended.
    pub(crate) fn is_runnable(&self) -> bool {
        !self.stuck
            && self.dependencies.iter().all(|token| token.is_done())
            && self.work.may_start()
    }

    pub(crate) fn earliest_start_ns(&self) -> u64 {
        self.dependencies.iter().map(|token| token.end_ns()).fold(self.submitted_ns, u64::max)
    }
}
