//! Blocks that were freed while streams use them.
//!
//! At the free an event is recorded on each of those streams; the block is free when all are
//! complete. Events of one stream complete in order, so only the oldest of each is asked about. A
//! block whose events cannot be recorded yet is put off, and recorded when it can be. A block that
//! lacks only events of streams that the call must not touch is parked (`parked`).

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;

use super::cache::Cache;
use super::drain;
use super::grow;
use super::heap::block::{BlockId, State};
use super::parked;
use crate::context::Runtime;
use crate::driver::{EventFlags, RelaxedCapture, StreamRef};
use crate::error::Result;
use crate::event::NativeEvent;
use crate::stream::Named;
use crate::types::DeviceIndex;

/// Queues of streams that nothing waits for are kept up to so many; streams come and go.
const QUEUES_KEPT: usize = 64;

/// What waits.
pub(super) struct Queues {
    streams: Vec<Queue>,
    /// Blocks by how many events they still wait for, and the streams that lack one.
    blocks: BTreeMap<BlockId, Missing>,
    /// Blocks that lack an event of a stream that any call may touch.
    put_off: Vec<BlockId>,
    /// Blocks that lack only events of streams of the program. Unless they wait for other events too,
    /// looking at them again is of no use, so they are not counted as waiting.
    parked: Vec<BlockId>,
}

struct Missing {
    bytes: usize,
    events: usize,
    streams: Vec<Named>,
    /// When the block was freed, by the clock of the waits for devices.
    freed_at: u64,
    /// It is counted as waiting.
    counted: bool,
}

impl Missing {
    /// Whether it waits for nothing.
    fn is_complete(&self) -> bool {
        self.events == 0 && self.streams.is_empty()
    }

    /// Whether it lacks events only of streams of the program.
    fn is_parked(&self) -> bool {
        !self.streams.is_empty() && self.streams.iter().all(|stream| stream.is_foreign())
    }
}

/// The events of one stream, oldest first, and the blocks that wait for them.
struct Queue {
    stream: StreamRef,
    events: VecDeque<(NativeEvent, BlockId)>,
}

impl Queues {
    pub(super) const fn new() -> Queues {
        Queues {
            streams: Vec::new(),
            blocks: BTreeMap::new(),
            put_off: Vec::new(),
            parked: Vec::new(),
        }
    }

    fn push(&mut self, stream: StreamRef, event: NativeEvent, id: BlockId) {
        let place = self.streams.iter().position(|queue| queue.stream == stream);
        let place = place.unwrap_or_else(|| {
            self.streams.push(Queue { stream, events: VecDeque::new() });
            self.streams.len() - 1
        });
        self.streams[place].events.push_back((event, id));
    }

    /// One event of a block is complete; whether it was the last.
    fn event_done(&mut self, cache: &Cache, id: BlockId) -> bool {
        if let Some(missing) = self.blocks.get_mut(&id) {
            missing.events -= 1;
        }
        self.settle(cache, id)
    }

    /// Counts a block anew; whether it waits for nothing, and is no longer here.
    fn settle(&mut self, cache: &Cache, id: BlockId) -> bool {
        let Some(missing) = self.blocks.get_mut(&id) else { return false };
        // One that is complete is counted until it is back in the heap.
        let counts = missing.events != 0 || !missing.is_parked();
        match (missing.counted, counts) {
            (false, true) => cache.waits(missing.bytes),
            (true, false) => cache.waits_no_more(1, missing.bytes),
            _ => {}
        }
        missing.counted = counts;
        let complete = missing.is_complete();
        if complete {
            self.blocks.remove(&id);
        }
        complete
    }

    /// Records the events that a block lacks, on streams that the running call may touch: `argument`
    /// is one that it was passed. Tells whether the block waits for nothing.
    pub(super) fn record(
        &mut self,
        runtime: &Runtime,
        cache: &Cache,
        id: BlockId,
        argument: Option<Named>,
    ) -> bool {
        let Some(missing) = self.blocks.get_mut(&id) else { return false };
        let mut streams = std::mem::take(&mut missing.streams);
        let mut events = 0;
        streams.retain(|stream| {
            let may_be_used = stream.may_be_used(runtime, argument);
            let event = if may_be_used { record_one(runtime, stream.stream) } else { Ok(None) };
            // After a failure it waits longer; whoever polls next tries again.
            let Ok(Some(event)) = event else { return true };
            self.push(stream.stream, event, id);
            events += 1;
            false
        });
        let Some(missing) = self.blocks.get_mut(&id) else { return false };
        (missing.streams, missing.events) = (streams, missing.events + events);
        if missing.is_parked() {
            self.parked.push(id);
            parked::add();
        } else if !missing.streams.is_empty() {
            self.put_off.push(id);
        }
        self.settle(cache, id)
    }

    /// Takes out the parked blocks for which `due` says so.
    fn take_parked(&mut self, due: impl Fn(&Missing) -> bool) -> Vec<BlockId> {
        let blocks = &self.blocks;
        let due = |id: &mut BlockId| blocks.get(id).is_some_and(&due);
        let taken: Vec<BlockId> = self.parked.extract_if(.., due).collect();
        parked::remove(taken.len());
        taken
    }

    /// Takes out the parked blocks that a stream of this handle uses.
    pub(super) fn take_parked_for(&mut self, stream: StreamRef) -> Vec<BlockId> {
        self.take_parked(|missing| missing.streams.iter().any(|by| by.stream == stream))
    }

    /// All work queued on a device before a moment has finished: blocks that were parked before lack
    /// no events of its streams any more. Tells which wait for nothing.
    pub(super) fn forget_streams_until(
        &mut self,
        runtime: &Runtime,
        cache: &Cache,
        device: DeviceIndex,
        moment: u64,
    ) -> Vec<BlockId> {
        let mut due = self.take_parked(|missing| missing.freed_at <= moment);
        for id in &due {
            if let Some(missing) = self.blocks.get_mut(id) {
                missing.streams.retain(|stream| stream.stream.device != device);
            }
        }
        // Those that streams of other devices use are parked again.
        due.retain(|id| self.record(runtime, cache, *id, None));
        due
    }

    /// The devices of the streams that parked blocks wait for.
    pub(super) fn parked_on(&self) -> Vec<DeviceIndex> {
        let missing = self.parked.iter().filter_map(|id| self.blocks.get(id));
        let mut devices: Vec<_> =
            missing.flat_map(|missing| &missing.streams).map(|it| it.stream.device).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    /// The blocks that wait, for the walker.
    pub(super) fn waiting(&self) -> impl Iterator<Item = BlockId> {
        self.blocks.keys().copied()
    }
}

/// `Ok(None)`: the stream is being captured.
fn record_one(runtime: &Runtime, stream: StreamRef) -> Result<Option<NativeEvent>> {
    let driver = runtime.driver();
    let _relaxed = RelaxedCapture::enter(driver)?;
    if driver.stream_is_capturing(stream)? {
        return Ok(None);
    }
    let event = NativeEvent::obtain(runtime, stream.device, EventFlags::default())?;
    driver.event_record(event.handle(), stream)?;
    Ok(Some(event))
}

/// Takes in a block of so many bytes that was freed while streams use it.
pub(super) fn add(
    runtime: &Runtime,
    cache: &'static Cache,
    (id, bytes): (BlockId, usize),
    streams: Vec<Named>,
) {
    let freed_at = crate::device::parked::now();
    let complete = {
        let mut queues = cache.queues.lock();
        let missing = Missing { bytes, events: 0, streams, freed_at, counted: false };
        queues.blocks.insert(id, missing);
        queues.record(runtime, cache, id, None)
    };
    drain::wake();
    if complete {
        finish(runtime, cache, &[id]);
    }
}

/// Takes back what has become free; whether there was any. Somebody else's looking is as good.
pub(super) fn poll(runtime: &Runtime, cache: &Cache) -> bool {
    if cache.waiting.load(Ordering::Relaxed) == 0 {
        return false;
    }
    let Some(mut queues) = cache.queues.try_lock() else { return false };
    // Errors stay with the device, and show at the calls that use it.
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return false };
    let mut complete = Vec::new();
    for id in std::mem::take(&mut queues.put_off) {
        if queues.record(runtime, cache, id, None) {
            complete.push(id);
        }
    }
    for place in 0..queues.streams.len() {
        while let Some((event, _)) = queues.streams[place].events.front()
            && runtime.driver().event_query(event.handle()).unwrap_or(false)
        {
            if let Some((_, id)) = queues.streams[place].events.pop_front()
                && queues.event_done(cache, id)
            {
                complete.push(id);
            }
        }
    }
    if queues.streams.len() > QUEUES_KEPT {
        queues.streams.retain(|queue| !queue.events.is_empty());
    }
    drop(queues);
    finish(runtime, cache, &complete);
    !complete.is_empty()
}

/// Gives blocks back to the heap, and to the driver what is not kept.
pub(super) fn finish(runtime: &Runtime, cache: &Cache, complete: &[BlockId]) {
    if complete.is_empty() {
        return;
    }
    let mut outgoing = Vec::new();
    let mut bytes = 0;
    let mut inner = cache.enter();
    for id in complete {
        debug_assert_eq!(inner.heap.blocks[*id].state, State::Waiting);
        bytes += inner.heap.blocks[*id].bytes;
        inner.heap.blocks[*id].used = false;
        outgoing.extend(inner.heap.give_back(*id));
    }
    drop(inner);
    cache.waits_no_more(complete.len(), bytes);
    grow::give_back(runtime, cache, outgoing);
}

/// Waits for every event, and takes back what waited for them; whether there was any, which another
/// thread may have taken back meanwhile.
pub(super) fn wait(runtime: &Runtime, cache: &Cache) -> bool {
    let parked = !cache.queues.lock().parked.is_empty();
    if cache.waiting.load(Ordering::Relaxed) == 0 && !parked {
        return false;
    }
    // Who comes second finds no events, but must not give up before the first is done.
    let _turn = cache.turn.lock();
    poll(runtime, cache);
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return false };
    let mut queues = cache.queues.lock();
    let streams = std::mem::take(&mut queues.streams);
    drop(queues);
    // Without the lock: other threads go on freeing meanwhile.
    let mut complete = Vec::new();
    for Queue { stream, mut events } in streams {
        while let Some((event, id)) = events.pop_front() {
            let done = runtime.driver().event_synchronize(event.handle()).is_ok();
            let mut queues = cache.queues.lock();
            if !done {
                queues.push(stream, event, id);
            } else if queues.event_done(cache, id) {
                complete.push(id);
            }
        }
    }
    finish(runtime, cache, &complete);
    parked::wait(runtime, cache);
    true
}
