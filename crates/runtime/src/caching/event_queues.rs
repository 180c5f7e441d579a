//! The events that freed blocks wait for, one queue for each stream.
//!
//! Events of one stream complete in order, so only the oldest event of a queue is asked about.

use std::collections::VecDeque;

use sconce_base::error::Result;
use sconce_driver::{EventFlags, StreamRef};

use crate::context::Runtime;
use crate::event::NativeEvent;
use crate::stream;

/// The number of a block among those of its owner.
pub type BlockId = u32;

/// Queues without events are kept up to this number of queues, since streams come and go.
const QUEUES_KEPT: usize = 64;

/// The queues of a cache.
pub(crate) struct EventQueues(Vec<EventQueue>);

/// The events of one stream, oldest first, and the blocks that wait for them.
struct EventQueue {
    stream: StreamRef,
    events: VecDeque<(NativeEvent, BlockId)>,
}

impl EventQueues {
    pub(super) const fn new() -> EventQueues {
        EventQueues(Vec::new())
    }

    /// Whether no event is queued.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|queue| queue.events.is_empty())
    }

    fn of(&mut self, stream: StreamRef) -> &mut VecDeque<(NativeEvent, BlockId)> {
        let place = self.0.iter().position(|queue| queue.stream == stream);
        let place = place.unwrap_or_else(|| {
            self.0.push(EventQueue { stream, events: VecDeque::new() });
            self.0.len() - 1
        });
        &mut self.0[place].events
    }

    /// Records an event on a stream for a block; `Ok(false)` if the stream is being captured, or a capture begins: an
    /// event of a capture says nothing of the work before, and a query of it would make the capture invalid.
    pub(super) fn record(&mut self, runtime: &Runtime, by: StreamRef, id: BlockId) -> Result<bool> {
        let driver = runtime.driver();
        let Some(_no_capture_begins) = stream::try_hold_back_captures() else { return Ok(false) };
        if driver.stream_is_capturing(by)? {
            return Ok(false);
        }
        let event = NativeEvent::obtain(runtime, by.device, EventFlags::default())?;
        driver.event_record(event.handle(), by)?;
        self.of(by).push_back((event, id));
        Ok(true)
    }

    /// How many queues there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the oldest event out of a queue if it is complete, and returns its block.
    pub(super) fn next_complete(
        &mut self,
        runtime: &Runtime,
        queue: usize,
    ) -> Result<Option<BlockId>> {
        let events = &mut self.0[queue].events;
        match events.front() {
            Some((event, _)) if runtime.driver().event_query(event.handle())? => {
                Ok(events.pop_front().map(|(_, id)| id))
            }
            _ => Ok(None),
        }
    }

    /// Forgets queues without events if there are many.
    pub(super) fn tidy_up(&mut self) {
        if self.0.len() > QUEUES_KEPT {
            self.0.retain(|queue| !queue.events.is_empty());
        }
    }

    /// Waits for every event and passes the block of each to `done`. Called with no lock held. After a
    /// failure the events of that stream stay; the first failure is returned.
    pub(crate) fn synchronize(
        &mut self,
        runtime: &Runtime,
        mut done: impl FnMut(BlockId),
    ) -> Result<()> {
        let mut outcome = Ok(());
        for queue in &mut self.0 {
            while let Some((event, _)) = queue.events.front() {
                let waited = runtime.driver().event_synchronize(event.handle());
                if let Err(error) = waited {
                    outcome = outcome.and(Err(error));
                    break;
                }
                if let Some((_, id)) = queue.events.pop_front() {
                    done(id);
                }
            }
        }
        outcome
    }

    /// Puts events back that were taken out and not waited for; they are older than those queued since.
    pub(super) fn put_back(&mut self, older: EventQueues) {
        for mut queue in older.0 {
            if !queue.events.is_empty() {
                let newer = self.of(queue.stream);
                queue.events.append(newer);
                *newer = queue.events;
            }
        }
    }

    /// The blocks that wait for events, for the walkers.
    pub(super) fn blocks(&self) -> impl Iterator<Item = BlockId> {
        self.0.iter().flat_map(|queue| queue.events.iter().map(|(_, id)| *id))
    }
}
