//! The group of a thread: calls that are queued together when it ends. Sends and receives of one rank on one stream
//! become one operation, so that none waits for another of them.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_driver::{CommCall, StreamRef};

use super::work::{Calls, CommWork};
use crate::call::Call;
use crate::machine::token::Token;
use crate::processes::rank::Rank;
use crate::state::State;

thread_local! {
    static GROUP: RefCell<Option<Vec<QueuedCalls>>> = const { RefCell::new(None) };
}

/// What is queued on a rank: its newest operation.
pub(super) type LastOperation = Arc<Mutex<rank::SimLastOperation, Option<Arc<Token>>>>;

/// Calls of one rank on one stream.
pub(super) struct QueuedCalls {
    pub(super) inner: Arc<State>,
    pub(super) rank: Arc<Rank>,
    pub(super) last: LastOperation,
    pub(super) stream: StreamRef,
    pub(super) calls: Calls,
}

impl QueuedCalls {
    /// Queues them as one operation, behind those that the rank has on any stream.
    pub(super) fn submit(self) -> Result<()> {
        let QueuedCalls { inner, rank, last, stream, calls } = self;
        let work = CommWork { space: Arc::clone(&inner.space), rank, calls };
        let mut last = last.lock();
        let after = last.iter().cloned().collect();
        let latency = inner.latency_ns();
        let token = inner.submit_behind(Call::CommQueue, stream, work, latency, after)?;
        if token.is_some() {
            *last = token;
        }
        Ok(())
    }

    /// Adds a call, if it is a send or receive that joins these.
    fn join(&mut self, more: QueuedCalls) -> Option<QueuedCalls> {
        let same = Arc::ptr_eq(&self.rank, &more.rank) && self.stream == more.stream;
        match (&mut self.calls, more) {
            (Calls::Group(calls), QueuedCalls { calls: Calls::Group(others), .. }) if same => {
                calls.extend(others);
                None
            }
            (_, more) => Some(more),
        }
    }
}

/// What a call is queued as.
pub(crate) fn as_calls(call: CommCall) -> Calls {
    match call {
        CommCall::Send { .. } | CommCall::Recv { .. } => Calls::Group(vec![call]),
        call => Calls::Collective(call),
    }
}

/// Begins the thread's group.
pub(super) fn start() -> Result<()> {
    GROUP.with_borrow_mut(|group| match group {
        Some(_) => Err(Error::invalid_state("the thread is in a group of calls already")),
        None => {
            *group = Some(Vec::new());
            Ok(())
        }
    })
}

/// Queues calls, or adds them to the thread's group.
pub(super) fn queue(calls: QueuedCalls) -> Result<()> {
    let now = GROUP.with_borrow_mut(|group| match group {
        None => Some(calls),
        Some(group) => {
            let left = group.iter_mut().try_fold(calls, |calls, other| other.join(calls).ok_or(()));
            group.extend(left);
            None
        }
    });
    now.map_or(Ok(()), QueuedCalls::submit)
}

/// Ends the thread's group.
pub(super) fn end() -> Result<()> {
    let group = GROUP.take();
    let Some(group) = group else {
        return Err(Error::invalid_state("the thread is in no group of calls"));
    };
    group.into_iter().try_for_each(QueuedCalls::submit)
}
