//! Calls as crates above make them.

use sconce_base::error::{Error, Result, Status};
use sconce_runtime::stream::Stream;

use super::Key;
use super::pending::{Pending, Staged, StagedCopies, submit_alone};
use super::request::CommRequest;
use super::{group, registry, work};

/// Queues a call on a stream.
pub fn queue(comm: Key, request: &CommRequest<'_>, stream: Stream) -> Result<()> {
    let pending = Pending::new(registry::comm(comm)?, request, stream, false)?;
    submit(pending)
}

/// Queues a call on the communicator's stream, after the work that is on `stream` now; returns its work.
pub fn queue_async(comm: Key, request: &CommRequest<'_>, stream: Stream) -> Result<Key> {
    let pending = Pending::new(registry::comm(comm)?, request, stream, true)?;
    let work = pending.work.clone();
    submit(pending)?;
    match work {
        Some(work) => work::publish(&work),
        None => Err(Error::new(Status::Internal, "an asynchronous call has no work")),
    }
}

/// Has the thread's group make copies before and behind its calls of a communicator, which are on `stream`, or, if they
/// are asynchronous, on the communicator's own.
pub fn stage(
    comm: Key,
    stream: Stream,
    is_async: bool,
    copies: Box<dyn StagedCopies>,
) -> Result<()> {
    group::add_staged(Staged::new(registry::comm(comm)?, stream, is_async, copies))
}

/// Refuses what [`stage`] cannot be called with.
pub fn check_stage(comm: Key, stream: Stream) -> Result<()> {
    let comm = registry::comm(comm)?;
    comm.failure.check()?;
    comm.check_stream("sconce_comm_stage_tensor", stream)?;
    group::require()
}

/// Queues a call now, or with the thread's group.
#[inline]
fn submit(pending: Pending) -> Result<()> {
    match group::add(pending) {
        None => Ok(()),
        Some(pending) => submit_alone(&pending),
    }
}
