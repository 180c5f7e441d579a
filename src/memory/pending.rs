//! Blocks that were freed while other streams, or other processes, use them.
//!
//! At the free an event is recorded on each of those streams; the block is free when all are
//! complete. Events of one stream complete in order, so only the oldest is asked about. A block
//! whose events cannot be recorded yet (a stream is being captured, or the driver refused) is put
//! off, and recorded when it can be. A block that other processes hold is free when the last of them
//! lets go of it; nobody waits for that, so such a block is not counted as waiting.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::Ordering;

use super::block::{BlockId, State};
use super::cache::{Cache, Inner};
use super::device_cache::DeviceCache;
use super::{address_map, numbers::Chunk};
use crate::context::{Runtime, runtime};
use crate::driver::{EventFlags, RelaxedCapture, StreamRef};
use crate::error::{Result, Status};
use crate::event::NativeEvent;

/// The blocks of one stream's cache that others use.
pub(super) struct Pending {
    uses: HashMap<BlockId, Uses>,
    queues: Vec<Queue>,
    put_off: Vec<BlockId>,
}

/// Who uses a block.
#[derive(Default)]
struct Uses {
    /// The streams on which nothing has been recorded.
    streams: Vec<StreamRef>,
    /// Events that are not complete.
    events: usize,
    /// It is counted as waiting for events.
    counted: bool,
    /// Other processes may ask to hold it.
    lent: bool,
    /// How often other processes hold it.
    holds: usize,
}

/// The events of one stream, oldest first, and the blocks that wait for them.
struct Queue {
    stream: StreamRef,
    events: VecDeque<(NativeEvent, BlockId)>,
}

impl Pending {
    pub(super) fn new() -> Pending {
        Pending { uses: HashMap::new(), queues: Vec::new(), put_off: Vec::new() }
    }

    fn queue(&mut self, stream: StreamRef) -> &mut Queue {
        let place = self.queues.iter().position(|queue| queue.stream == stream);
        let place = place.unwrap_or_else(|| {
            self.queues.push(Queue { stream, events: VecDeque::new() });
            self.queues.len() - 1
        });
        &mut self.queues[place]
    }

    /// Whether no block is used by another stream or process.
    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Whether any block waits for an event.
    pub(super) fn has_events(&self) -> bool {
        self.queues.iter().any(|queue| !queue.events.is_empty())
    }

    /// Blocks that wait, for the walker.
    pub(super) fn waiting(&self) -> impl Iterator<Item = BlockId> {
        let queued = self.queues.iter().flat_map(|queue| queue.events.iter().map(|(_, id)| *id));
        queued.chain(self.put_off.iter().copied())
    }
}

/// Notes that a stream uses a live block of a cache that is not its own.
pub(super) fn note_use(cache: &Cache, inner: &mut Inner, address: u64, id: BlockId, by: StreamRef) {
    if by == cache.stream() {
        return;
    }
    let uses = inner.pending.uses.entry(id).or_default();
    if !uses.streams.contains(&by) {
        uses.streams.push(by);
    }
    inner.heap.blocks[id].used_elsewhere = true;
    address_map::mark_used_elsewhere(address);
}

/// Notes that other processes may hold a live block.
pub(super) fn note_lent(inner: &mut Inner, address: u64, id: BlockId) {
    inner.pending.uses.entry(id).or_default().lent = true;
    inner.heap.blocks[id].used_elsewhere = true;
    address_map::mark_used_elsewhere(address);
}

/// One more process holds a live block; `false` when it has not been lent.
pub(super) fn hold(inner: &mut Inner, id: BlockId) -> bool {
    let uses = inner.pending.uses.get_mut(&id).filter(|uses| uses.lent);
    uses.map(|uses| uses.holds += 1).is_some()
}

/// A process lets go of a block.
pub(super) fn release_hold(cache: &'static Cache, id: BlockId) {
    let mut inner = cache.visit();
    if let Some(uses) = inner.pending.uses.get_mut(&id) {
        uses.holds -= 1;
    }
    finish_if_complete(cache, &mut inner, id);
}

/// A caller has freed a block that other streams or processes use.
pub(super) fn suspend(cache: &'static Cache, inner: &mut Inner, id: BlockId) {
    inner.heap.suspend(id);
    let uses = inner.pending.uses.entry(id).or_default();
    if uses.streams.is_empty() {
        return finish_if_complete(cache, inner, id);
    }
    uses.counted = true;
    cache.waiting.fetch_add(1, Ordering::Relaxed);
    cache.home.add_waiting();
    record(cache, inner, id);
}

/// Records the events that a block lacks, or puts it off.
fn record(cache: &'static Cache, inner: &mut Inner, id: BlockId) {
    let recorded = runtime().and_then(|runtime| record_all(runtime, inner, id));
    match recorded {
        Ok(true) => finish_if_complete(cache, inner, id),
        Ok(false) => inner.pending.put_off.push(id),
        // It waits longer; whoever polls next tries again. Nothing is logged: a log may call back.
        Err(_) => inner.pending.put_off.push(id),
    }
}

/// `Ok(false)`: a stream is being captured.
fn record_all(runtime: &Runtime, inner: &mut Inner, id: BlockId) -> Result<bool> {
    let driver = runtime.driver();
    let _relaxed = RelaxedCapture::enter(driver)?;
    let pending = &mut inner.pending;
    while let Some(stream) = pending.uses.get(&id).and_then(|uses| uses.streams.last().copied()) {
        if driver.stream_is_capturing(stream)? {
            return Ok(false);
        }
        let event = NativeEvent::obtain(runtime, stream.device, EventFlags::default())?;
        driver.event_record(event.handle(), stream)?;
        pending.queue(stream).events.push_back((event, id));
        if let Some(uses) = pending.uses.get_mut(&id) {
            uses.streams.pop();
            uses.events += 1;
        }
    }
    Ok(true)
}

/// One event of a block is complete.
fn event_done(cache: &'static Cache, inner: &mut Inner, id: BlockId) {
    if let Some(uses) = inner.pending.uses.get_mut(&id) {
        uses.events -= 1;
    }
    finish_if_complete(cache, inner, id);
}

fn finish_if_complete(cache: &'static Cache, inner: &mut Inner, id: BlockId) {
    if inner.heap.blocks[id].state != State::Pending {
        return;
    }
    let Some(uses) = inner.pending.uses.get_mut(&id) else { return };
    if uses.events != 0 || !uses.streams.is_empty() {
        return;
    }
    let counted = std::mem::take(&mut uses.counted);
    if uses.holds == 0 {
        inner.pending.uses.remove(&id);
        cache.complete(inner, id, false);
    }
    if counted {
        cache.waiting.fetch_sub(1, Ordering::Relaxed);
        cache.home.remove_waiting();
    }
}

/// Takes back what has become free on any stream of the device. A stream that another thread is
/// using at the moment is left to that thread.
pub(super) fn poll(runtime: &Runtime, home: &DeviceCache, own: &'static Cache) -> Result<()> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    for cache in home.caches() {
        if cache.waiting.load(Ordering::Relaxed) == 0 {
            continue;
        }
        if std::ptr::eq(cache, own) {
            poll_one(runtime, cache, &mut cache.visit())?;
        } else if let Some(mut inner) = cache.try_visit() {
            poll_one(runtime, cache, &mut inner)?;
        }
    }
    Ok(())
}

fn poll_one(runtime: &Runtime, cache: &'static Cache, inner: &mut Inner) -> Result<()> {
    for id in std::mem::take(&mut inner.pending.put_off) {
        record(cache, inner, id);
    }
    for place in 0..inner.pending.queues.len() {
        while let Some((event, _)) = inner.pending.queues[place].events.front() {
            if !runtime.driver().event_query(event.handle())? {
                break;
            }
            if let Some((_, id)) = inner.pending.queues[place].events.pop_front() {
                event_done(cache, inner, id);
            }
        }
    }
    Ok(())
}

/// Waits for every event of the device, and takes back what waited for them. What a capture holds
/// up stays.
pub(super) fn wait_for_all(runtime: &Runtime, home: &DeviceCache) -> Result<()> {
    for cache in home.caches() {
        if cache.waiting.load(Ordering::Relaxed) != 0 {
            wait_for_one(runtime, cache)?;
        }
    }
    Ok(())
}

fn wait_for_one(runtime: &Runtime, cache: &'static Cache) -> Result<()> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let queues = {
        let mut inner = cache.visit();
        for id in std::mem::take(&mut inner.pending.put_off) {
            record(cache, &mut inner, id);
        }
        std::mem::take(&mut inner.pending.queues)
    };
    // Without the lock: other threads go on meanwhile, and may begin new queues.
    let mut outcome = Ok(());
    for queue in queues {
        let Queue { stream, mut events } = queue;
        while outcome.is_ok()
            && let Some((event, id)) = events.pop_front()
        {
            match runtime.driver().event_synchronize(event.handle()) {
                Ok(()) => event_done(cache, &mut cache.visit(), id),
                Err(error) => {
                    events.push_front((event, id));
                    outcome = Err(error);
                }
            }
        }
        if !events.is_empty() {
            let mut inner = cache.visit();
            let queue = inner.pending.queue(stream);
            events.append(&mut queue.events);
            queue.events = events;
        }
    }
    outcome?;
    wait_for_lost_streams(runtime, cache)
}

/// Blocks whose events can no longer be recorded, because the stream is gone: its work is done when
/// its device is.
fn wait_for_lost_streams(runtime: &Runtime, cache: &'static Cache) -> Result<()> {
    let lost: Vec<(BlockId, StreamRef)> = {
        let inner = cache.visit();
        let pending = &inner.pending;
        let streams = pending.put_off.iter().filter_map(|id| Some((*id, pending.uses.get(id)?)));
        streams.flat_map(|(id, uses)| uses.streams.iter().map(move |s| (id, *s))).collect()
    };
    for (id, stream) in lost {
        let gone = runtime.driver().stream_is_capturing(stream).err();
        if gone.is_none_or(|error| error.status() != Status::InvalidHandle) {
            continue;
        }
        runtime.driver().device_synchronize(stream.device)?;
        let mut inner = cache.visit();
        if let Some(uses) = inner.pending.uses.get_mut(&id) {
            uses.streams.retain(|other| *other != stream);
        }
        inner.pending.put_off.retain(|other| *other != id);
        record(cache, &mut inner, id);
    }
    Ok(())
}

/// Notes that a stream uses the live block at an address; `false` when there is none.
pub(super) fn record_stream(address: u64, by: StreamRef) -> bool {
    let Some(entry) = address_map::look_up(address) else { return false };
    let Some(chunk) = Chunk::of(entry.number()) else { return false };
    let mut inner = chunk.owner.visit();
    // It may have been freed since.
    let id = chunk.block(entry.number());
    let live = address_map::look_up(address)
        .is_some_and(|now| now.number() == entry.number() && !now.is_claimed());
    if live {
        note_use(chunk.owner, &mut inner, address, id, by);
    }
    live
}
