//! Blocks that were freed while streams use them.
//!
//! At the free an event is recorded on each of those streams; the block is free when all events are
//! complete. A block whose events cannot be recorded yet (a stream is being captured, or the driver
//! refused) is put off, and recorded when it can be. A block that lacks only events of streams that the
//! running call must not touch is parked (`device::parked`).
//!
//! The owner of the blocks takes complete ones out with [`DeferredFrees::next_complete`] after each call
//! that may complete some, and reports each to [`DeferredFrees::count_taken_back`].

use std::collections::{BTreeMap, VecDeque};

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::{RelaxedCapture, StreamRef};

use super::delay_counters::DelayCounters;
use super::event_queues::{BlockId, EventQueues};
use crate::context::Runtime;
use crate::device::parked;
use crate::stream::Named;

/// The freed blocks of a cache that streams still use.
pub struct DeferredFrees {
    blocks: BTreeMap<BlockId, Deferred>,
    queues: EventQueues,
    /// Blocks that lack an event of a stream that any call may touch.
    put_off: Vec<BlockId>,
    /// Blocks that lack only events of streams of the program. They may wait for other events too.
    parked: Vec<BlockId>,
    /// Blocks that no stream uses any more, in the order in which that was found.
    complete: VecDeque<CompleteFree>,
}

/// A freed block that streams use.
struct Deferred {
    bytes: usize,
    /// The streams on which no event has been recorded.
    streams: Vec<Named>,
    /// Events that are not complete.
    events: usize,
    /// When it was freed, by the clock of the waits for devices.
    freed_at: u64,
    /// It is counted as waiting.
    counted: bool,
}

/// A block that no stream uses any more. It is counted as waiting until its owner has taken it back, so
/// that a thread that needs memory meanwhile does not fail.
#[must_use]
pub struct CompleteFree {
    pub id: BlockId,
    bytes: usize,
}

impl Deferred {
    /// Whether it lacks events, and only of streams of the program.
    fn is_parked(&self) -> bool {
        !self.streams.is_empty() && self.streams.iter().all(|stream| stream.is_foreign())
    }

    /// Records the events that it lacks, on streams that the running call may touch. Errors are not
    /// logged, since a log may call back; the next poll tries again.
    fn record(
        &mut self,
        runtime: &Runtime,
        queues: &mut EventQueues,
        id: BlockId,
        argument: Option<Named>,
    ) {
        let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return };
        let before = self.streams.len();
        self.streams.retain(|stream| {
            let recorded = stream.may_be_used(runtime, argument)
                && queues.record(runtime, stream.stream, id).unwrap_or(false);
            !recorded
        });
        self.events += before - self.streams.len();
    }
}

impl DeferredFrees {
    pub const fn new() -> DeferredFrees {
        DeferredFrees {
            blocks: BTreeMap::new(),
            queues: EventQueues::new(),
            put_off: Vec::new(),
            parked: Vec::new(),
            complete: VecDeque::new(),
        }
    }

    /// Adds a block of `bytes` bytes that was freed while streams use it, and records their events.
    pub fn add(
        &mut self,
        runtime: &Runtime,
        counters: &DelayCounters,
        (id, bytes): (BlockId, usize),
        streams: Vec<Named>,
    ) {
        // Counted at once, so that no thread concludes meanwhile that no block waits.
        counters.begin_wait(bytes);
        let block = Deferred { bytes, streams, events: 0, freed_at: parked::now(), counted: true };
        self.blocks.insert(id, block);
        self.record(runtime, counters, id, None);
    }

    /// Streams use a block that is not held: one that waits already, or another of `bytes` bytes, which waits from now
    /// on. For a stream that a block waits for already, an event is recorded once more, behind the new work.
    pub(crate) fn add_streams(
        &mut self,
        runtime: &Runtime,
        counters: &DelayCounters,
        (id, bytes): (BlockId, usize),
        streams: &[Named],
    ) {
        let Some(block) = self.blocks.get_mut(&id) else {
            return self.add(runtime, counters, (id, bytes), streams.to_vec());
        };
        let known = block.streams.len();
        for stream in streams {
            if !block.streams[..known].contains(stream) {
                block.streams.push(*stream);
            }
        }
        // A wait that began before does not include the new work.
        block.freed_at = parked::now();
        self.put_off.retain(|other| *other != id);
        let parked = self.parked.len();
        self.parked.retain(|other| *other != id);
        counters.unpark(parked - self.parked.len());
        self.record(runtime, counters, id, None);
    }

    /// Records the events that a block lacks, on streams that the running call may touch: `argument` is
    /// one that it was passed. A block that still lacks events is put off, or parked.
    fn record(
        &mut self,
        runtime: &Runtime,
        counters: &DelayCounters,
        id: BlockId,
        argument: Option<Named>,
    ) {
        let Some(block) = self.blocks.get_mut(&id) else { return };
        block.record(runtime, &mut self.queues, id, argument);
        if block.is_parked() {
            self.parked.push(id);
            counters.park();
        } else if !block.streams.is_empty() {
            self.put_off.push(id);
        }
        self.update(counters, id);
    }

    /// Updates the counters for a block, and moves it to the complete ones if it waits for nothing.
    fn update(&mut self, counters: &DelayCounters, id: BlockId) {
        let Some(block) = self.blocks.get_mut(&id) else { return };
        let counts = block.events != 0 || !block.is_parked();
        match (block.counted, counts) {
            (false, true) => counters.begin_wait(block.bytes),
            (true, false) => counters.end_wait(block.bytes),
            _ => {}
        }
        block.counted = counts;
        if block.events == 0 && block.streams.is_empty() {
            self.complete.push_back(CompleteFree { id, bytes: block.bytes });
            self.blocks.remove(&id);
        }
    }

    /// An event of a block is complete.
    pub(crate) fn event_done(&mut self, counters: &DelayCounters, id: BlockId) {
        if let Some(block) = self.blocks.get_mut(&id) {
            block.events -= 1;
        }
        self.update(counters, id);
    }

    /// Takes out a block that no stream uses any more. Its owner takes it back, and then calls
    /// [`DeferredFrees::count_taken_back`].
    #[inline]
    pub fn next_complete(&mut self) -> Option<CompleteFree> {
        self.complete.pop_front()
    }

    /// Counts that the owner has taken a complete block back.
    pub fn count_taken_back(counters: &DelayCounters, complete: CompleteFree) {
        counters.end_wait(complete.bytes);
    }

    /// Tries again to record the events of blocks that were put off.
    pub(crate) fn record_put_off(&mut self, runtime: &Runtime, counters: &DelayCounters) {
        for id in std::mem::take(&mut self.put_off) {
            self.record(runtime, counters, id, None);
        }
    }

    /// Asks about the oldest event of each stream, and the next one when it is complete. Returns the
    /// first failure.
    pub fn poll(&mut self, runtime: &Runtime, counters: &DelayCounters) -> Result<()> {
        self.record_put_off(runtime, counters);
        let mut outcome = Ok(());
        for queue in 0..self.queues.len() {
            loop {
                match self.queues.next_complete(runtime, queue) {
                    Ok(Some(id)) => self.event_done(counters, id),
                    Ok(None) => break,
                    Err(error) => {
                        outcome = outcome.and(Err(error));
                        break;
                    }
                }
            }
        }
        self.queues.tidy_up();
        outcome
    }

    /// Takes the events out, to wait for them without a lock ([`EventQueues::synchronize`]); those that
    /// were not waited for must be put back.
    pub(crate) fn take_queues(&mut self) -> EventQueues {
        std::mem::replace(&mut self.queues, EventQueues::new())
    }

    /// Puts events back that were not waited for.
    pub(crate) fn put_back(&mut self, queues: EventQueues) {
        self.queues.put_back(queues);
    }

    /// Whether parked blocks are used by a stream of this handle.
    pub fn has_parked_for(&self, stream: StreamRef) -> bool {
        let mut blocks = self.parked.iter().filter_map(|id| self.blocks.get(id));
        blocks.any(|block| block.streams.iter().any(|by| by.stream == stream))
    }

    /// The running call names a stream: records the events that parked blocks lack on it, if it is still
    /// the stream that used them.
    pub fn named(&mut self, runtime: &Runtime, counters: &DelayCounters, named: Named) {
        let blocks = &self.blocks;
        let uses = |id: &mut BlockId| {
            let block = blocks.get(id);
            block.is_some_and(|block| block.streams.iter().any(|by| by.stream == named.stream))
        };
        let due: Vec<BlockId> = self.parked.extract_if(.., uses).collect();
        counters.unpark(due.len());
        for id in due {
            self.record(runtime, counters, id, Some(named));
        }
    }

    /// All work queued on a device before a moment has finished: blocks freed before lack no events of
    /// the program's streams there any more.
    pub fn waited(&mut self, counters: &DelayCounters, device: DeviceIndex, moment: u64) {
        for block in self.blocks.values_mut().filter(|block| block.freed_at <= moment) {
            block.streams.retain(|by| !by.is_foreign() || by.stream.device != device);
        }
        let blocks = &self.blocks;
        let lacks_none =
            |id: &mut BlockId| blocks.get(id).is_none_or(|block| block.streams.is_empty());
        let due: Vec<BlockId> = self.parked.extract_if(.., lacks_none).collect();
        counters.unpark(due.len());
        for id in due {
            self.update(counters, id);
        }
    }

    /// The devices of the streams that parked blocks wait for.
    pub(crate) fn parked_on(&self) -> impl Iterator<Item = DeviceIndex> {
        let parked = self.parked.iter().filter_map(|id| self.blocks.get(id));
        parked.flat_map(|block| block.streams.iter().map(|by| by.stream.device))
    }

    /// Whether a block is here.
    pub(crate) fn contains(&self, id: BlockId) -> bool {
        self.blocks.contains_key(&id)
    }

    /// Whether there is no block.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether a block waits for an event, or is parked. Those that were put off do not count.
    pub(crate) fn has_delayed(&self) -> bool {
        !self.parked.is_empty() || !self.queues.is_empty()
    }

    /// The blocks that wait, for the walkers.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = BlockId> {
        let listed = self.put_off.iter().chain(&self.parked).copied();
        self.blocks.keys().copied().chain(self.queues.blocks()).chain(listed)
    }
}

/// Waits for devices, each once. Called with no lock held.
pub(crate) fn wait_for_devices(runtime: &Runtime, mut devices: Vec<DeviceIndex>) -> Result<()> {
    if devices.is_empty() {
        return Ok(());
    }
    devices.sort_unstable();
    devices.dedup();
    // Relaxed, because a capture of another device in global mode would make CUDA refuse the wait,
    // although it cannot affect that capture.
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let mut outcome = Ok(());
    for device in devices {
        outcome = outcome.and(parked::wait(runtime, device));
    }
    outcome
}
