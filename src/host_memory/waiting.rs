//! Blocks that were freed while streams use them.
//!
//! At the free an event is recorded on each of those streams; the block is free when all are
//! complete. Events of one stream complete in order, so only the oldest of each is asked about. A
//! block whose events cannot be recorded yet is put off, and recorded when it can be.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;

use super::block::{BlockId, State};
use super::cache::Cache;
use super::{drain, grow};
use crate::context::Runtime;
use crate::driver::{EventFlags, RelaxedCapture, StreamRef};
use crate::error::{Result, Status};
use crate::event::NativeEvent;
use crate::stream;

/// Queues of streams that nothing waits for are kept up to so many; streams come and go.
const QUEUES_KEPT: usize = 64;

/// What waits.
pub(super) struct Queues {
    streams: Vec<Queue>,
    /// Blocks by how many events they still wait for, and the streams that lack one.
    blocks: BTreeMap<BlockId, Missing>,
    /// Blocks with streams that lack an event.
    put_off: Vec<BlockId>,
    /// Blocks that a stream used that is gone. Looking at them again is of no use, so they are not
    /// counted as waiting.
    lost: Vec<BlockId>,
}

struct Missing {
    bytes: usize,
    events: usize,
    streams: Vec<StreamRef>,
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
            lost: Vec::new(),
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
    fn event_done(&mut self, id: BlockId) -> bool {
        let Some(missing) = self.blocks.get_mut(&id) else { return false };
        missing.events -= 1;
        let complete = missing.events == 0 && missing.streams.is_empty();
        if complete {
            self.blocks.remove(&id);
        }
        complete
    }

    /// Records the events that a block lacks; whether it waits for nothing.
    fn record(&mut self, runtime: &Runtime, cache: &Cache, id: BlockId) -> bool {
        let Some(mut missing) = self.blocks.remove(&id) else { return false };
        while let Some(stream) = missing.streams.last().copied() {
            match record_one(runtime, stream) {
                Ok(Some(event)) => {
                    self.push(stream, event, id);
                    missing.streams.pop();
                    missing.events += 1;
                }
                Err(error) if error.status() == Status::InvalidHandle => {
                    cache.waits_no_more(1, missing.bytes);
                    self.lost.push(id);
                    break;
                }
                // It waits longer; whoever polls next tries again.
                Ok(None) | Err(_) => {
                    self.put_off.push(id);
                    break;
                }
            }
        }
        let complete = missing.events == 0 && missing.streams.is_empty();
        if !complete {
            self.blocks.insert(id, missing);
        }
        complete
    }

    /// Has the blocks whose streams are gone looked at again.
    fn recall_lost(&mut self, cache: &Cache) {
        for id in std::mem::take(&mut self.lost) {
            if let Some(missing) = self.blocks.get(&id) {
                cache.waits(missing.bytes);
                self.put_off.push(id);
            }
        }
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
    streams: Vec<StreamRef>,
) {
    let complete = {
        let mut queues = cache.queues.lock();
        cache.waits(bytes);
        queues.blocks.insert(id, Missing { bytes, events: 0, streams });
        queues.record(runtime, cache, id)
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
        if queues.record(runtime, cache, id) {
            complete.push(id);
        }
    }
    for place in 0..queues.streams.len() {
        while let Some((event, _)) = queues.streams[place].events.front()
            && runtime.driver().event_query(event.handle()).unwrap_or(false)
        {
            if let Some((_, id)) = queues.streams[place].events.pop_front()
                && queues.event_done(id)
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
fn finish(runtime: &Runtime, cache: &Cache, complete: &[BlockId]) {
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
    cache.queues.lock().recall_lost(cache);
    if cache.waiting.load(Ordering::Relaxed) == 0 {
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
            } else if queues.event_done(id) {
                complete.push(id);
            }
        }
    }
    finish(runtime, cache, &complete);
    forget_lost(runtime, cache);
    true
}

/// Takes back what waits for streams that are gone: their work is done when their device is.
pub(super) fn forget_lost(runtime: &Runtime, cache: &Cache) {
    let lost = {
        let mut queues = cache.queues.lock();
        queues.recall_lost(cache);
        lost_streams(runtime, &queues)
    };
    if lost.is_empty() || stream::device_under_capture(runtime).is_some() {
        return;
    }
    let mut complete = Vec::new();
    for stream in lost {
        if runtime.driver().device_synchronize(stream.device).is_ok() {
            complete.extend(forget_stream(&mut cache.queues.lock(), stream));
        }
    }
    finish(runtime, cache, &complete);
}

/// Streams that are gone, on which events can no longer be recorded.
fn lost_streams(runtime: &Runtime, queues: &Queues) -> Vec<StreamRef> {
    let mut lost: Vec<StreamRef> = Vec::new();
    for stream in queues.blocks.values().flat_map(|missing| missing.streams.iter().copied()) {
        let gone = runtime.driver().stream_is_capturing(stream).err();
        if !lost.contains(&stream)
            && gone.is_some_and(|error| error.status() == Status::InvalidHandle)
        {
            lost.push(stream);
        }
    }
    lost
}

fn forget_stream(queues: &mut Queues, stream: StreamRef) -> Vec<BlockId> {
    let mut complete = Vec::new();
    queues.blocks.retain(|id, missing| {
        missing.streams.retain(|other| *other != stream);
        let waits = missing.events != 0 || !missing.streams.is_empty();
        if !waits {
            complete.push(*id);
        }
        waits
    });
    queues.put_off.retain(|id| !complete.contains(id));
    complete
}
