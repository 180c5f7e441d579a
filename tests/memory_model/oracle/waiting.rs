//! Blocks that were freed while other streams used them, and what their events wait for.

use std::collections::{BTreeSet, VecDeque};

use super::{Oracle, STREAMS, State};

/// The events on the streams, which take until the test completes them.
#[derive(Default)]
pub struct Waiting {
    /// How many events were ever recorded on each stream, and how many are complete.
    queued: [u64; STREAMS],
    done: [u64; STREAMS],
    /// For each stream the events at which blocks wait: how many must be complete, and whose they are.
    events: [VecDeque<(u64, usize)>; STREAMS],
}

impl Waiting {
    /// An event at the end of what is queued now on each of the streams.
    pub fn record(&mut self, block: usize, streams: BTreeSet<usize>) {
        for stream in streams {
            self.queued[stream] += 1;
            self.events[stream].push_back((self.queued[stream], block));
        }
    }

    fn is_empty(&self) -> bool {
        self.events.iter().all(VecDeque::is_empty)
    }
}

impl Oracle {
    pub fn record_stream(&mut self, id: usize, stream: usize) {
        let block = &mut self.blocks[id];
        if block.stream != stream {
            block.used_on.insert(stream);
        }
    }

    /// How many operations of a stream have not completed; all of them are events of freed blocks.
    pub fn pending_work(&self, stream: usize) -> usize {
        (self.waiting.queued[stream] - self.waiting.done[stream]) as usize
    }

    /// The oldest of them completes.
    pub fn finish_one(&mut self, stream: usize) {
        self.waiting.done[stream] += 1;
    }

    pub fn finish_all_work(&mut self) {
        self.waiting.done = self.waiting.queued;
    }

    pub fn has_pending(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Looks at the oldest event of each stream until one is not complete.
    pub(super) fn take_up_completed(&mut self) {
        for stream in 0..STREAMS {
            while let Some(&(needs, id)) = self.waiting.events[stream].front() {
                if self.waiting.done[stream] < needs {
                    break;
                }
                self.waiting.events[stream].pop_front();
                let State::Pending(events) = &mut self.blocks[id].state else {
                    panic!("only freed blocks wait");
                };
                *events -= 1;
                if *events == 0 {
                    self.complete_free(id);
                }
            }
        }
    }

    /// Waits for every event; the streams have then done all that was queued.
    pub(super) fn wait_for_pending(&mut self) {
        self.stats.num_sync_all_streams += 1;
        if self.has_pending() {
            self.finish_all_work();
            self.take_up_completed();
        }
        assert!(self.waiting.is_empty());
    }
}
