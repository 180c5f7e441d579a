//! Blocks that were freed while other streams, or other processes, use them.
//!
//! At the free an event is recorded on each of those streams; the block is free when all are
//! complete. Events of one stream complete in order, so only the oldest is asked about. A block
//! whose events cannot be recorded yet (a stream is being captured, or the driver refused) is put
//! off, and recorded when it can be. A block that lacks only events of streams that the call must not
//! touch is parked (`parked`). A block that other processes hold is free when the last of them lets go
//! of it; nobody waits for that, so such a block is not counted as waiting.

use std::collections::{HashMap, VecDeque};

use super::cache::{Cache, Inner};
use super::device::DeviceCache;
use super::live_blocks;
use super::parked;
use crate::context::{Runtime, runtime};
use crate::driver::{EventFlags, RelaxedCapture, StreamRef};
use crate::error::Result;
use crate::event::NativeEvent;
use crate::memory::addresses::address_map;
use crate::memory::addresses::block_ids::Chunk;
use crate::memory::heap::block::{BlockId, State};
use crate::stream::Named;
use crate::types::DeviceIndex;

/// Queues of streams that nothing waits for are kept up to this number: streams come and go.
const QUEUES_KEPT: usize = 64;

/// The blocks of one stream's cache that others use.
pub(crate) struct Pending {
    uses: HashMap<BlockId, Uses>,
    queues: Vec<Queue>,
    /// Freed blocks that lack an event of a stream that any call may touch.
    put_off: Vec<BlockId>,
    /// Freed blocks that lack only events of streams of the program.
    parked: Vec<BlockId>,
}

/// Who uses a block.
#[derive(Default)]
struct Uses {
    /// The streams on which nothing has been recorded.
    streams: Vec<Named>,
    /// Events that are not complete.
    events: usize,
    /// How its freed block is counted.
    counted: Delay,
    /// When it was freed, by the clock of the waits for devices.
    freed_at: u64,
    /// Other processes may ask to hold it.
    lent: bool,
    /// How often other processes hold it.
    holds: usize,
}

/// What delays a freed block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delay {
    /// No stream.
    #[default]
    None,
    /// Events, or streams on which any call may record one.
    Waiting,
    /// Only streams of the program that no call has named since.
    Parked,
}

impl Uses {
    fn delay(&self) -> Delay {
        match (self.events, self.streams.as_slice()) {
            (0, []) => Delay::None,
            (0, streams) if streams.iter().all(|stream| stream.is_foreign()) => Delay::Parked,
            _ => Delay::Waiting,
        }
    }
}

/// The events of one stream, oldest first, and the blocks that wait for them.
struct Queue {
    stream: StreamRef,
    events: VecDeque<(NativeEvent, BlockId)>,
}

impl Pending {
    pub(crate) fn new() -> Pending {
        Pending {
            uses: HashMap::new(),
            queues: Vec::new(),
            put_off: Vec::new(),
            parked: Vec::new(),
        }
    }

    fn queue(&mut self, stream: StreamRef) -> &mut Queue {
        let place = self.queues.iter().position(|queue| queue.stream == stream);
        let place = place.unwrap_or_else(|| {
            self.queues.push(Queue { stream, events: VecDeque::new() });
            self.queues.len() - 1
        });
        &mut self.queues[place]
    }

    /// The devices of the streams that parked blocks wait for.
    pub(crate) fn parked_on(&self) -> impl Iterator<Item = DeviceIndex> {
        let uses = self.parked.iter().filter_map(|id| self.uses.get(id));
        uses.flat_map(|uses| uses.streams.iter().map(|by| by.stream.device))
    }

    /// Whether no block is used by another stream or process.
    pub(crate) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Takes out the parked blocks that a stream of this handle uses.
    pub(crate) fn take_parked_for(&mut self, stream: StreamRef) -> Vec<BlockId> {
        let uses = &self.uses;
        let used = |id: &BlockId| {
            uses.get(id).is_some_and(|uses| uses.streams.iter().any(|by| by.stream == stream))
        };
        self.parked.extract_if(.., |id| used(id)).collect()
    }

    /// All work queued on a device before a moment has finished: blocks freed before lack no events of
    /// the program's streams there any more. Returns the blocks to look at.
    pub(crate) fn forget_streams_until(
        &mut self,
        device: DeviceIndex,
        moment: u64,
    ) -> Vec<BlockId> {
        for uses in self.uses.values_mut() {
            if uses.counted != Delay::None && uses.freed_at <= moment {
                uses.streams.retain(|by| !by.is_foreign() || by.stream.device != device);
            }
        }
        let uses = &self.uses;
        let lacks = |id: &BlockId| uses.get(id).is_some_and(|uses| !uses.streams.is_empty());
        self.parked.extract_if(.., |id| !lacks(id)).collect()
    }

    /// Whether any freed block waits for an event, or is parked.
    pub(crate) fn has_delayed(&self) -> bool {
        !self.parked.is_empty() || self.queues.iter().any(|queue| !queue.events.is_empty())
    }

    /// Blocks that wait, for the walker.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = BlockId> {
        let queued = self.queues.iter().flat_map(|queue| queue.events.iter().map(|(_, id)| *id));
        queued.chain(self.put_off.iter().copied()).chain(self.parked.iter().copied())
    }
}

/// Notes that a stream uses a live block of a cache that is not its own.
pub(crate) fn note_use(cache: &Cache, inner: &mut Inner, address: u64, id: BlockId, by: Named) {
    if cache.is_of(by) {
        return;
    }
    if by.is_foreign() {
        parked::register();
    }
    let uses = inner.pending.uses.entry(id).or_default();
    if !uses.streams.contains(&by) {
        uses.streams.push(by);
    }
    inner.heap.blocks[id].used_elsewhere = true;
    address_map::mark_used_elsewhere(address);
}

/// Notes that other processes may hold a live block.
pub(crate) fn note_lent(inner: &mut Inner, address: u64, id: BlockId) {
    inner.pending.uses.entry(id).or_default().lent = true;
    inner.heap.blocks[id].used_elsewhere = true;
    address_map::mark_used_elsewhere(address);
}

/// One more process holds a live block; `false` when it has not been lent.
pub(crate) fn hold(inner: &mut Inner, id: BlockId) -> bool {
    let uses = inner.pending.uses.get_mut(&id).filter(|uses| uses.lent);
    uses.map(|uses| uses.holds += 1).is_some()
}

/// A process lets go of a block.
pub(crate) fn release_hold(cache: &'static Cache, id: BlockId) {
    let mut inner = cache.visit();
    if let Some(uses) = inner.pending.uses.get_mut(&id) {
        uses.holds -= 1;
    }
    settle(cache, &mut inner, id);
}

/// A caller has freed a block that other streams or processes use.
pub(crate) fn suspend(cache: &'static Cache, inner: &mut Inner, id: BlockId) {
    inner.heap.suspend(id);
    let uses = inner.pending.uses.entry(id).or_default();
    uses.freed_at = crate::device::parked::now();
    if uses.streams.is_empty() {
        return settle(cache, inner, id);
    }
    // Until it is known better, so that nobody takes the device for calm meanwhile.
    uses.counted = Delay::Waiting;
    cache.count(Delay::None, Delay::Waiting);
    record(cache, inner, id, None);
}

/// Records the events that a freed block lacks, on streams that the running call may touch:
/// `argument` is one that it was passed. What cannot be recorded is put off, or parked. Errors are not
/// logged, since a log may call back; whoever polls next tries again.
pub(crate) fn record(
    cache: &'static Cache,
    inner: &mut Inner,
    id: BlockId,
    argument: Option<Named>,
) {
    if let Ok(runtime) = runtime() {
        record_all(runtime, &mut inner.pending, id, argument);
    }
    match inner.pending.uses.get(&id).map(|uses| uses.streams.as_slice()) {
        None | Some([]) => {}
        Some(streams) if streams.iter().all(|stream| stream.is_foreign()) => {
            inner.pending.parked.push(id);
        }
        Some(_) => inner.pending.put_off.push(id),
    }
    settle(cache, inner, id);
}

fn record_all(runtime: &Runtime, pending: &mut Pending, id: BlockId, argument: Option<Named>) {
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return };
    let Some(uses) = pending.uses.get_mut(&id) else { return };
    let mut streams = std::mem::take(&mut uses.streams);
    let mut events = 0;
    streams.retain(|stream| {
        let may_be_used = stream.may_be_used(runtime, argument);
        let event = if may_be_used { record_one(runtime, stream.stream) } else { Ok(None) };
        let Ok(Some(event)) = event else { return true };
        pending.queue(stream.stream).events.push_back((event, id));
        events += 1;
        false
    });
    if let Some(uses) = pending.uses.get_mut(&id) {
        (uses.streams, uses.events) = (streams, uses.events + events);
    }
}

/// `Ok(None)`: the stream is being captured.
fn record_one(runtime: &Runtime, stream: StreamRef) -> Result<Option<NativeEvent>> {
    let driver = runtime.driver();
    if driver.stream_is_capturing(stream)? {
        return Ok(None);
    }
    let event = NativeEvent::obtain(runtime, stream.device, EventFlags::default())?;
    driver.event_record(event.handle(), stream)?;
    Ok(Some(event))
}

/// One event of a block is complete.
fn event_done(cache: &'static Cache, inner: &mut Inner, id: BlockId) {
    if let Some(uses) = inner.pending.uses.get_mut(&id) {
        uses.events -= 1;
    }
    settle(cache, inner, id);
}

/// Counts a freed block by what delays it now, and frees it when nothing does.
pub(crate) fn settle(cache: &'static Cache, inner: &mut Inner, id: BlockId) {
    if inner.heap.blocks[id].state != State::Pending {
        return;
    }
    let Some(uses) = inner.pending.uses.get_mut(&id) else { return };
    let now = uses.delay();
    let before = std::mem::replace(&mut uses.counted, now);
    if now == Delay::None && uses.holds == 0 {
        inner.pending.uses.remove(&id);
        cache.complete(inner, id, false);
    }
    cache.count(before, now);
}

/// Takes back what has become free on any stream of the device. A stream that another thread is
/// using at the moment is left to that thread.
pub(crate) fn poll(runtime: &Runtime, home: &DeviceCache, own: &'static Cache) -> Result<()> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    for cache in home.caches() {
        if !cache.has_waiting() {
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
        record(cache, inner, id, None);
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
    if inner.pending.queues.len() > QUEUES_KEPT {
        inner.pending.queues.retain(|queue| !queue.events.is_empty());
    }
    Ok(())
}

/// Waits for every event of the device, and for the device itself if blocks are parked, and takes back
/// what waited. What a capture holds up stays.
pub(crate) fn wait_for_all(runtime: &Runtime, home: &DeviceCache) -> Result<()> {
    for cache in home.caches() {
        if cache.has_waiting() {
            wait_for_one(runtime, cache)?;
        }
    }
    parked::wait(runtime, home)
}

fn wait_for_one(runtime: &Runtime, cache: &'static Cache) -> Result<()> {
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    let queues = {
        let mut inner = cache.visit();
        for id in std::mem::take(&mut inner.pending.put_off) {
            record(cache, &mut inner, id, None);
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
    outcome
}

/// Notes that a stream uses the live block that holds an address; `false` when the address is not in
/// memory of a cache, an error when no live block holds it.
pub(crate) fn record_stream(address: u64, by: Named) -> Result<bool> {
    if note_start(address, by) {
        return Ok(true);
    }
    if live_blocks::owner_of(address).is_none() {
        return Ok(false);
    }
    live_blocks::with_live(address as usize, |inner, owner, _, id, block| {
        // Another thread may have freed it, and left it for this cache to take up.
        let is_live = address_map::look_up(block.address).is_some_and(|word| !word.is_claimed());
        if is_live {
            note_use(owner, inner, block.address, id, by);
        }
        is_live.then_some(true)
    })?
    .ok_or_else(|| live_blocks::freed_already(address as usize))
}

/// The same for the live block that starts at an address, which takes no search.
fn note_start(address: u64, by: Named) -> bool {
    let Some(entry) = address_map::look_up(address) else { return false };
    let Some(chunk) = Chunk::of(entry.number()) else { return false };
    let mut inner = chunk.owner.visit();
    // It may have been freed since.
    let live = address_map::look_up(address)
        .is_some_and(|now| now.number() == entry.number() && !now.is_claimed());
    if live {
        note_use(chunk.owner, &mut inner, address, chunk.block(entry.number()), by);
    }
    live
}
