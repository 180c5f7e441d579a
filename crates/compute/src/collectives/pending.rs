//! Calls that have been checked, and how they are queued, alone or together, with the copies of tensors whose elements
//! lie in another order.

use std::sync::Arc;
use std::time::Instant;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::lock::{MutexGuard, rank};
use sconce_base::types::DevicePtr;
use sconce_driver::{CommCall, CommOp, EventFlags};
use sconce_runtime::context::runtime;
use sconce_runtime::event::{self, NativeEvent};
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};

use super::comm::{Comm, CommEnd};
use super::request::{self, Checked, CommRequest};
use super::watched_work::WatchedWork;
use super::work::Work;

/// A call that is to be queued.
pub(super) struct Pending {
    pub(super) comm: Arc<Comm>,
    call: CommCall,
    /// The caller's stream.
    stream: Stream,
    /// The work of an asynchronous call.
    pub(super) work: Option<Arc<Work>>,
    used: request::Used,
    /// Memory of the call's own, which is freed once the call is queued.
    scratch: Option<usize>,
    sequence: u64,
    name: &'static str,
}

impl Pending {
    pub(super) fn new(
        comm: Arc<Comm>,
        request: &CommRequest<'_>,
        stream: Stream,
        is_async: bool,
    ) -> Result<Self> {
        comm.failure.check()?;
        comm.check_stream(request.name(), stream)?;
        let runs_on = if is_async { comm.stream()? } else { stream };
        let (Checked { call, used }, scratch) = match request {
            CommRequest::Barrier => barrier(runs_on)?,
            request => (request::check(&comm, request)?, None),
        };
        let (sequence, name) = (comm.next_sequence(), request.name());
        let work = is_async.then(|| Arc::new(Work::new(&comm, sequence, name)));
        Ok(Pending { comm, call, stream, work, used, scratch, sequence, name })
    }

    /// The stream that the call runs on.
    fn runs_on(&self) -> Result<Stream> {
        if self.work.is_some() { self.comm.stream() } else { Ok(self.stream) }
    }

    /// Where the call goes: its stream, and whether that is the communicator's own.
    pub(super) fn goes_to(&self) -> (Option<i64>, bool) {
        let id = self.runs_on().ok().map(Stream::id);
        (id, self.work.is_some())
    }

    /// The bytes of a send of this rank to itself, or, with `receives`, of what it receives from itself.
    fn own_bytes(&self, receives: bool) -> Option<usize> {
        let (peer, count) = match (&self.call, receives) {
            (CommCall::Send { peer, count, .. }, false)
            | (CommCall::Recv { peer, count, .. }, true) => (*peer, *count),
            _ => return None,
        };
        (peer == self.comm.place().0).then(|| count * self.call.dtype().bytes())
    }

    /// Orders the call's own stream after the caller's.
    fn order(&self) -> Result<()> {
        match &self.work {
            Some(_) => event::wait_stream(self.comm.runtime, self.comm.stream()?, self.stream),
            None => Ok(()),
        }
    }

    #[inline]
    fn queue(&self, end: &mut CommEnd) -> Result<()> {
        end.open()?.queue(&self.call, self.runs_on()?.driver_ref())
    }

    /// Notes the end of a call that is queued.
    fn is_queued(&self) -> Result<()> {
        let runtime = self.comm.runtime;
        let limit = self.comm.config.limit.of_work();
        if self.work.is_none() && limit.is_none() {
            return stream::after_enqueue(runtime, self.stream);
        }
        let stream = self.runs_on()?;
        let event = NativeEvent::obtain(runtime, self.comm.device, EventFlags::default())?;
        runtime.driver().event_record(event.handle(), stream.driver_ref())?;
        let event = Arc::new(event);
        if let Some(work) = &self.work {
            // Memory that is freed early is not used again before the call has ended.
            for address in self.used.into_iter().flatten() {
                if memory::block_at(address).is_some() {
                    memory::record_stream(address, stream)?;
                }
            }
            work.is_queued(Arc::clone(&event));
        }
        // Work in a capture runs at each launch of the graph, and cannot be asked about.
        if let Some(limit) = limit
            && !stream::is_capturing(runtime, stream)?
        {
            let (sequence, name) = (self.sequence, self.name);
            let deadline = Instant::now() + limit;
            let work = WatchedWork { event, deadline, sequence, name };
            self.comm.watched.lock().push_back(work);
        }
        stream::after_enqueue(runtime, stream)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(scratch) = self.scratch {
            // In the order of the stream on which it was allocated.
            let _ = memory::free(scratch);
        }
    }
}

/// The copies between a tensor and the memory that stands for it. They keep both.
pub trait StagedCopies {
    /// Queues the copy to the memory, on a stream; does nothing if the calls do not read the tensor.
    fn copy_in(&self, stream: Stream) -> Result<()>;
    /// Queues the copy back, on a stream; does nothing if the calls do not write the tensor.
    fn copy_out(&self, stream: Stream) -> Result<()>;
}

/// Memory of a group, and what it stands for.
pub(super) struct Staged {
    comm: Arc<Comm>,
    /// The caller's stream.
    stream: Stream,
    is_async: bool,
    copies: Box<dyn StagedCopies>,
}

impl Staged {
    pub(super) fn new(
        comm: Arc<Comm>,
        stream: Stream,
        is_async: bool,
        copies: Box<dyn StagedCopies>,
    ) -> Staged {
        Staged { comm, stream, is_async, copies }
    }

    /// Queues what must be done before the group's calls are queued.
    pub(super) fn before(&self) -> Result<()> {
        self.copies.copy_in(self.stream)
    }

    /// Queues what must be done behind the group's calls, on the stream that they run on.
    pub(super) fn after(&self) -> Result<()> {
        let runs_on = if self.is_async { self.comm.stream()? } else { self.stream };
        self.copies.copy_out(runs_on)
    }
}

/// A barrier: one byte is reduced, in memory of its own.
fn barrier(stream: Stream) -> Result<(Checked, Option<usize>)> {
    let scratch = memory::alloc_on(1, stream)?;
    let at = DevicePtr(scratch as u64);
    runtime()?.driver().needs_no_contents(at, 1);
    let call =
        CommCall::AllReduce { send: at, recv: at, count: 1, dtype: Dtype::U8, op: CommOp::Max };
    Ok((Checked { call, used: [None; 2] }, Some(scratch)))
}

/// Refuses sends of a rank to itself without a receive of as many bytes, and the other way round: they would break the
/// communicator, or wait for ever.
fn check_own(calls: &[Pending]) -> Result<()> {
    let own = |receives: bool| {
        calls.iter().filter_map(move |call| Some((&call.comm, call.own_bytes(receives)?)))
    };
    let mut received: Vec<_> = own(true).collect();
    for (comm, sent) in own(false) {
        let place = received.iter().position(|(other, _)| Arc::ptr_eq(comm, other));
        let found = place.map(|place| received.remove(place).1);
        if found != Some(sent) {
            return Err(unpaired(comm, Some(sent), found));
        }
    }
    match received.first() {
        None => Ok(()),
        Some((comm, bytes)) => Err(unpaired(comm, None, Some(*bytes))),
    }
}

#[cold]
fn unpaired(comm: &Comm, sent: Option<usize>, received: Option<usize>) -> Error {
    let (rank, _) = comm.place();
    let bytes = |bytes: Option<usize>| {
        bytes.map_or(String::from("nothing"), |bytes| format!("{bytes} bytes"))
    };
    Error::invalid_argument(format!(
        "rank {rank} sends {} to itself and receives {} from itself; a group must have both, with as many bytes",
        bytes(sent),
        bytes(received)
    ))
}

/// Queues a call.
pub(super) fn submit_alone(pending: &Pending) -> Result<()> {
    check_own(std::slice::from_ref(pending))?;
    pending.order()?;
    let mut end = pending.comm.lock();
    Comm::inside(&[&pending.comm], || pending.queue(&mut end))?;
    drop(end);
    pending.is_queued()
}

/// Queues calls of a group, with the copies of its tensors before and behind them.
pub(super) fn submit_together(group: &[Pending], staged: &[Staged]) -> Result<()> {
    let Some(first) = group.first() else { return Ok(()) };
    check_own(group)?;
    staged.iter().try_for_each(Staged::before)?;
    for pending in group {
        pending.order()?;
    }
    let driver = first.comm.runtime.driver();
    let mut comms: Vec<Arc<Comm>> = group.iter().map(|pending| Arc::clone(&pending.comm)).collect();
    comms.sort_by_key(|comm| Arc::as_ptr(comm).addr());
    comms.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let queued = {
        // All locks, in the same order on all threads.
        let mut ends: Vec<MutexGuard<'_, rank::CommEnd, CommEnd>> =
            comms.iter().map(|comm| comm.lock()).collect();
        for end in &mut ends {
            end.open()?;
        }
        let all: Vec<&Comm> = comms.iter().map(|comm| &**comm).collect();
        driver.comm_group_start()?;
        Comm::inside(&all, || {
            let queued = group.iter().try_for_each(|pending| {
                let at = comms.iter().position(|comm| Arc::ptr_eq(comm, &pending.comm));
                match at.and_then(|at| ends.get_mut(at)) {
                    Some(end) => pending.queue(end),
                    None => Ok(()),
                }
            });
            let ended = driver.comm_group_end();
            queued.and(ended)
        })
    };
    queued?;
    staged.iter().try_for_each(Staged::after)?;
    group.iter().try_for_each(Pending::is_queued)
}
