//! Blocks that were freed while other streams used them, and what their events wait for.
//!
//! In which order streams are looked at is nobody's promise, but peaks can tell. Here it is the
//! allocator's: streams in the order of their first requests, and for the blocks of each the streams
//! that used them in the order of their first events.

use std::collections::VecDeque;

use super::{Oracle, STREAMS, State};

/// The events on the streams, which take until the test completes them.
#[derive(Default)]
pub struct Waiting {
    /// How many events were ever recorded on each stream, and how many are complete.
    recorded: [u64; STREAMS],
    complete: [u64; STREAMS],
    /// For each stream that has had requests, and each that used its blocks, the events.
    queues: Vec<(usize, Vec<(usize, Events)>)>,
}

/// How many must be complete, and whose event it is; oldest first.
type Events = VecDeque<(u64, usize)>;

impl Waiting {
    /// A stream's first request.
    pub fn know(&mut self, stream: usize) {
        if self.queues.iter().all(|(known, _)| *known != stream) {
            self.queues.push((stream, Vec::new()));
        }
    }

    /// An event on each of the streams that use a block of `own`.
    pub fn record(&mut self, block: usize, own: usize, streams: Vec<usize>) {
        let (_, queues) = self.queues.iter_mut().find(|(known, _)| *known == own).unwrap();
        for stream in streams {
            self.recorded[stream] += 1;
            if queues.iter().all(|(known, _)| *known != stream) {
                queues.push((stream, Events::new()));
            }
            let (_, events) = queues.iter_mut().find(|(known, _)| *known == stream).unwrap();
            events.push_back((self.recorded[stream], block));
        }
    }

    fn is_empty(&self) -> bool {
        self.queues.iter().flat_map(|(_, queues)| queues).all(|(_, events)| events.is_empty())
    }
}

impl Oracle {
    pub fn record_stream(&mut self, id: usize, stream: usize) {
        let block = &mut self.blocks[id];
        if block.stream != stream && !block.used_on.contains(&stream) {
            block.used_on.push(stream);
        }
    }

    /// How many operations of a stream have not completed; all of them are events of freed blocks.
    pub fn pending_work(&self, stream: usize) -> usize {
        (self.waiting.recorded[stream] - self.waiting.complete[stream]) as usize
    }

    /// The oldest of them completes.
    pub fn finish_one(&mut self, stream: usize) {
        self.waiting.complete[stream] += 1;
    }

    pub fn finish_all_work(&mut self) {
        self.waiting.complete = self.waiting.recorded;
    }

    pub fn has_pending(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Looks at the oldest event of each queue until one is not complete.
    pub(super) fn take_up_completed(&mut self) {
        for own in 0..self.waiting.queues.len() {
            for queue in 0..self.waiting.queues[own].1.len() {
                loop {
                    let (stream, events) = &mut self.waiting.queues[own].1[queue];
                    let complete = self.waiting.complete[*stream];
                    let Some(&(_, id)) = events.front().filter(|(needs, _)| *needs <= complete)
                    else {
                        break;
                    };
                    events.pop_front();
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
    }

    /// Waits for every event; the streams have then done all that was recorded.
    pub(super) fn wait_for_pending(&mut self) {
        self.stats.num_sync_all_streams += 1;
        if !self.has_pending() {
            return;
        }
        let holds =
            |queues: &[(usize, Events)]| queues.iter().any(|(_, events)| !events.is_empty());
        let waited: Vec<bool> =
            self.waiting.queues.iter().map(|(_, queues)| holds(queues)).collect();
        self.finish_all_work();
        self.take_up_completed();
        assert!(self.waiting.is_empty());
        // Their order begins afresh.
        for (place, _) in waited.iter().enumerate().filter(|(_, waited)| **waited) {
            self.waiting.queues[place].1.clear();
        }
    }
}
