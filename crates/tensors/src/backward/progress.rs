//! What a pass still has to do, and its first error.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::thread::Thread;

use sconce_base::error::Error;
use sconce_base::lock::{Mutex, rank};
use sconce_runtime::stream::Stream;

/// A node that can run.
pub(super) struct ReadyNode {
    /// In how many passes its pass was called.
    pub(super) depth: usize,
    /// Of the ready nodes of equal depth the one with the greatest urgency runs first.
    pub(super) urgency: u64,
    pub(super) run: Box<dyn FnOnce() + Send>,
}

impl ReadyNode {
    fn rank(&self) -> (usize, u64) {
        (self.depth, self.urgency)
    }
}

impl Ord for ReadyNode {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for ReadyNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ReadyNode {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ReadyNode {}

/// The state of a pass that its threads share.
pub(super) struct Progress {
    /// The thread that waits for the pass.
    caller: Thread,
    state: Mutex<rank::BackwardProgress, ProgressState>,
}

struct ProgressState {
    /// Ready nodes of the CPU, for the caller.
    ready: BinaryHeap<ReadyNode>,
    /// Ready nodes that have not run to the end.
    open: usize,
    error: Option<Error>,
    failed: bool,
    /// Streams of the leaves that ran.
    leaf_streams: Vec<Stream>,
}

/// What the caller does next.
pub(super) enum NextStep {
    Run(ReadyNode),
    Wait,
    Done,
}

impl Progress {
    /// Of a pass that the calling thread waits for. One node is open: the initial gradients.
    pub(super) fn new() -> Progress {
        let state = ProgressState {
            ready: BinaryHeap::new(),
            open: 1,
            error: None,
            failed: false,
            leaf_streams: Vec::new(),
        };
        Progress { caller: std::thread::current(), state: Mutex::new(state) }
    }

    /// A node is ready.
    pub(super) fn begin(&self) {
        self.state.lock().open += 1;
    }

    /// A ready node, already counted, is for the caller.
    pub(super) fn push(&self, ready: ReadyNode) {
        self.state.lock().ready.push(ready);
        self.caller.unpark();
    }

    /// A node has run, or was left out. Nothing of the pass is used by the thread any more.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.open -= 1;
        let done = state.open == 0;
        drop(state);
        if done {
            self.caller.unpark();
        }
    }

    /// Stops the pass. The first error is kept.
    pub(super) fn fail(&self, error: Error) {
        let mut state = self.state.lock();
        state.failed = true;
        state.error.get_or_insert(error);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.state.lock().failed
    }

    pub(super) fn add_leaf_stream(&self, stream: Stream) {
        let mut state = self.state.lock();
        if !state.leaf_streams.contains(&stream) {
            state.leaf_streams.push(stream);
        }
    }

    pub(super) fn next(&self) -> NextStep {
        let mut state = self.state.lock();
        match state.ready.pop() {
            Some(ready) => NextStep::Run(ready),
            None if state.open == 0 => NextStep::Done,
            None => NextStep::Wait,
        }
    }

    /// The streams of leaves and the error, once the pass is done.
    pub(super) fn outcome(&self) -> (Vec<Stream>, Option<Error>) {
        let mut state = self.state.lock();
        (std::mem::take(&mut state.leaf_streams), state.error.take())
    }
}
