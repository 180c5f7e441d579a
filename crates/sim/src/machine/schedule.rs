//! Scheduling: when an operation may run, which kernel gets an execution slot, and which streams an
//! end lets go on.
//!
//! Orderings are tokens, bound when an operation is queued: a stream's own order is the place in
//! its queue, a wait holds the event's token, and operations of the legacy default stream hold the
//! last tokens of the streams it orders with.
//!
//! Nothing here blocks or runs a user's work. Records and waits take no time and are completed as
//! soon as they become the head of a stream that may go on; a worker runs everything else. So a
//! stream that cannot go on costs no thread.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Instant;

use sconce_base::types::DeviceIndex;
use sconce_driver::announced_work;

use super::engine::Engine;
use super::listener::QueuedOperation;
use super::operation::{Operation, Pace, QueuedWork, Submission};
use super::queues::{KernelSlot, StreamPhase};
use super::token::{StreamKey, Token};
use crate::call::Call;

/// An operation taken out of its queue to be run.
pub(crate) struct Started {
    pub(crate) key: StreamKey,
    pub(crate) operation: Operation,
    pub(crate) start_ns: u64,
    /// When, on the wall clock, its modelled duration is over.
    pub(crate) deadline: Option<Instant>,
    /// Why it failed, where neither the code nor the work tells.
    pub(crate) complaint: Option<String>,
}

/// Queueing.
impl Engine {
    /// Puts an operation at the end of a stream, and moves on every operation that can run now.
    pub(crate) fn enqueue(&mut self, key: StreamKey, submission: Submission) -> Arc<Token> {
        self.arrivals += 1;
        let token = Token::new(self.arrivals);
        let mut before = self.legacy_order(key);
        before.extend(submission.after);
        self.report_queued(key, submission.call, &*submission.work, &before);
        before.retain(|token| !token.is_done());
        let submitted_ns = self.clock.now_ns();
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.last = Some(Arc::clone(&token));
            stream.queue.push_back(Operation {
                call: submission.call,
                work: submission.work,
                duration_ns: submission.duration_ns,
                dependencies: before,
                token: Arc::clone(&token),
                submitted_ns,
                announced: announced_work(),
                fault: submission.fault,
                stuck: submission.stuck,
                registered: false,
            });
        }
        self.advance(key);
        token
    }

    /// Reports the operation that gets the number `self.arrivals`.
    fn report_queued(
        &self,
        key: StreamKey,
        call: Call,
        work: &dyn QueuedWork,
        before: &[Arc<Token>],
    ) {
        let (Some(listener), Some(stream)) = (&self.listener, self.streams.get(&key)) else {
            return;
        };
        let after: Vec<u64> = before.iter().map(|token| token.operation()).collect();
        let accesses = work.accesses();
        listener.queued(&QueuedOperation {
            number: self.arrivals,
            call,
            device: stream.device,
            stream: key.number(),
            accesses: &accesses,
            after: &after,
        });
    }
}

/// Moving on.
impl Engine {
    /// Takes a stream as far as it can go without a worker.
    pub(crate) fn advance(&mut self, key: StreamKey) {
        let mut keys = vec![key];
        while let Some(key) = keys.pop() {
            while let Some(more) = self.advance_head(key) {
                keys.extend(more);
            }
            self.forget_if_drained(key);
        }
    }

    /// Completes the head if it takes no time, or passes it on. `Some`: look at the next head, and
    /// at these streams.
    fn advance_head(&mut self, key: StreamKey) -> Option<Vec<StreamKey>> {
        if self.clock.is_manual() {
            return None;
        }
        let stream = self.streams.get_mut(&key)?;
        if stream.phase != StreamPhase::Idle {
            return None;
        }
        let head = stream.queue.front_mut()?;
        if head.stuck || head.registered {
            return None;
        }
        if let Some(pending) = head.dependencies.iter().find(|token| !token.is_done()) {
            pending.add_dependent(key);
            head.registered = true;
            return None;
        }
        match head.work.pace() {
            Pace::Instant if head.fault.is_none() => {
                let started = self.start(key)?;
                let end_ns = started.start_ns;
                return Some(self.end(started, end_ns, Ok(())));
            }
            Pace::Slot => {
                let (priority, arrival) = (stream.priority, head.arrival());
                let device = stream.device.as_usize();
                let Some(slot) = self.take_slot(device) else {
                    let place = (priority, arrival, key);
                    self.devices[device].awaiting.insert(place);
                    self.set_phase(key, StreamPhase::AwaitingSlot);
                    return None;
                };
                self.make_ready(key, Some(slot));
            }
            Pace::Instant | Pace::Thread => self.make_ready(key, None),
        }
        None
    }

    fn make_ready(&mut self, key: StreamKey, slot: Option<usize>) {
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.slot = slot;
        }
        self.set_phase(key, StreamPhase::Ready);
        self.ready.push_back(key);
    }

    fn set_phase(&mut self, key: StreamKey, phase: StreamPhase) {
        let Some(stream) = self.streams.get_mut(&key) else { return };
        let was = std::mem::replace(&mut stream.phase, phase) != StreamPhase::Idle;
        self.active = self.active + usize::from(phase != StreamPhase::Idle) - usize::from(was);
    }

    /// The slot that has been free for longest, now busy.
    pub(crate) fn take_slot(&mut self, device: usize) -> Option<usize> {
        let slots = &mut self.devices[device].slots;
        let index = (0..slots.len())
            .filter(|index| !slots[*index].busy)
            .min_by_key(|index| slots[*index].free_at_ns)?;
        slots[index].busy = true;
        Some(index)
    }

    /// Takes the head out of its queue to be run now.
    pub(crate) fn start(&mut self, key: StreamKey) -> Option<Started> {
        let stream = self.streams.get_mut(&key)?;
        let operation = stream.queue.pop_front()?;
        stream.running = Some((operation.call, operation.announced));
        let mut start_ns = operation.earliest_start_ns().max(stream.end_ns);
        if let Some(slot) = stream.slot {
            start_ns = start_ns.max(self.devices[stream.device.as_usize()].slots[slot].free_at_ns);
        }
        self.set_phase(key, StreamPhase::Running);
        let deadline = self.clock.deadline(start_ns.saturating_add(operation.duration_ns));
        if let Some(listener) = &self.listener {
            listener.started(operation.token.operation(), start_ns);
        }
        Some(Started { key, operation, start_ns, deadline, complaint: None })
    }

    /// Takes note of an operation's end and moves on all that waited for it.
    pub(crate) fn finish(&mut self, started: Started, worked_ns: u64, result: Result<(), i32>) {
        let duration_ns = started.operation.duration_ns.max(worked_ns);
        let end_ns = started.start_ns.saturating_add(duration_ns);
        let key = started.key;
        let more = self.end(started, end_ns, result);
        for other in more {
            self.advance(other);
        }
        self.advance(key);
    }

    fn end(&mut self, started: Started, end_ns: u64, result: Result<(), i32>) -> Vec<StreamKey> {
        let Started { key, operation, complaint, .. } = started;
        self.clock.advance_to(end_ns);
        self.set_phase(key, StreamPhase::Idle);
        let mut more = Vec::new();
        let mut failed = None;
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.end_ns = end_ns;
            stream.running = None;
            let device = stream.device;
            if let Some(slot) = stream.slot.take() {
                self.devices[device.as_usize()].slots[slot] =
                    KernelSlot { busy: false, free_at_ns: end_ns };
                more.extend(self.next_for_slot(device.as_usize()));
            }
            failed = result.err().map(|code| (device, code));
            if failed.is_some() && self.devices[device.as_usize()].error.is_none() {
                self.devices[device.as_usize()].failure = Some(operation.failure(complaint));
            }
        }
        more.extend(self.release(operation, end_ns, result));
        if let Some((device, code)) = failed {
            more.extend(self.fail_device(device, code, end_ns));
        }
        more
    }

    /// Finishes the token of an operation and returns the streams that waited for it.
    fn release(
        &mut self,
        operation: Operation,
        end_ns: u64,
        result: Result<(), i32>,
    ) -> Vec<StreamKey> {
        operation.work.announce_end();
        if result.is_err() && operation.work.is_to_be_abandoned() {
            self.abandoned.push_back(Arc::clone(&operation.work));
        }
        if let Some(listener) = &self.listener {
            listener.finished(operation.token.operation(), end_ns, result);
        }
        let dependents = operation.token.finish(end_ns);
        for key in &dependents {
            if let Some(stream) = self.streams.get_mut(key)
                && let Some(head) = stream.queue.front_mut()
            {
                head.registered = false;
            }
        }
        dependents
    }

    /// Takes the stream of the highest priority out of the line for a slot.
    fn next_for_slot(&mut self, device: usize) -> Option<StreamKey> {
        let (.., key) = self.devices[device].awaiting.pop_first()?;
        self.set_phase(key, StreamPhase::Idle);
        Some(key)
    }

    /// Makes a device fail from now on; what is queued there ends without running.
    pub(crate) fn fail_device(
        &mut self,
        device: DeviceIndex,
        code: i32,
        end_ns: u64,
    ) -> Vec<StreamKey> {
        let queues = &mut self.devices[device.as_usize()];
        queues.error.get_or_insert(code);
        queues.awaiting.clear();
        let keys = queues.streams.clone();
        let mut more = Vec::new();
        for key in keys {
            let Some(stream) = self.streams.get_mut(&key) else { continue };
            let dropped = std::mem::take(&mut stream.queue);
            if stream.phase != StreamPhase::Running {
                if let Some(slot) = stream.slot.take() {
                    self.devices[device.as_usize()].slots[slot].busy = false;
                }
                self.ready.retain(|ready| *ready != key);
                self.set_phase(key, StreamPhase::Idle);
            }
            for operation in dropped {
                more.extend(self.release(operation, end_ns, Err(code)));
            }
            self.forget_if_drained(key);
        }
        more
    }

    /// Looks at every stream again, after a change that concerns all of them.
    pub(crate) fn advance_all(&mut self) {
        let mut keys: Vec<_> = self.streams.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            self.advance(key);
        }
    }
}

/// Changes of mode.
impl Engine {
    /// Puts every stream whose head has not started back to rest, for manual mode.
    pub(crate) fn recall_ready(&mut self) {
        self.ready.clear();
        for device in &mut self.devices {
            device.awaiting.clear();
        }
        let keys: Vec<_> = self.streams.keys().copied().collect();
        for key in keys {
            let Some(stream) = self.streams.get_mut(&key) else { continue };
            if stream.phase == StreamPhase::Running || stream.phase == StreamPhase::Idle {
                continue;
            }
            let (slot, device) = (stream.slot.take(), stream.device.as_usize());
            if let Some(slot) = slot {
                self.devices[device].slots[slot].busy = false;
            }
            self.set_phase(key, StreamPhase::Idle);
        }
    }
}
