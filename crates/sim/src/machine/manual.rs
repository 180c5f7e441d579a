//! Manual mode: operations that run one at a time, on the thread that asks for it.
#![forbid(unsafe_code)]

use sconce_base::lock::{MutexGuard, rank};
use std::sync::Arc;

use super::engine::Engine;
use super::operation::Pace;
use super::queues::StreamPhase;
use super::token::StreamKey;
use super::worker::Machine;

impl Machine {
    /// Runs the head of a stream in manual mode, and returns whether it could.
    pub(crate) fn step(
        self: &Arc<Self>,
        engine: &mut MutexGuard<'_, rank::SimEngine, Engine>,
        key: StreamKey,
    ) -> bool {
        if !engine.clock.is_manual() {
            return false;
        }
        engine.let_heads_meet();
        if !engine.can_step(key) || !engine.take_slot_for_step(key) {
            return false;
        }
        let Some(started) = engine.start(key) else { return false };
        self.run(engine, started);
        true
    }

    /// In manual mode steps until nothing can run, in automatic mode waits until every stream rests.
    /// Returns the number of steps.
    pub(crate) fn run_until_idle(self: &Arc<Self>) -> usize {
        let mut steps = 0;
        let mut engine = self.engine.lock();
        while engine.clock.is_manual() {
            let Some(key) = engine.best_step() else { return steps };
            steps += usize::from(self.step(&mut engine, key));
        }
        while engine.active > 0 {
            self.quiet.wait(&mut engine);
        }
        steps
    }
}

impl Engine {
    /// Asks the work at the head of each stream whether it may start, until those that depend on each other have had
    /// the chance to take note of each other.
    fn let_heads_meet(&self) {
        const ROUNDS: usize = 2;
        for _ in 0..ROUNDS {
            for key in self.streams.keys() {
                self.can_step(*key);
            }
        }
    }

    fn can_step(&self, key: StreamKey) -> bool {
        self.streams.get(&key).is_some_and(|stream| {
            stream.phase == StreamPhase::Idle
                && stream.queue.front().is_some_and(|head| head.is_runnable())
        })
    }

    /// Takes an execution slot if the head is a kernel. Returns false when kernels that run hold all slots.
    fn take_slot_for_step(&mut self, key: StreamKey) -> bool {
        let Some(stream) = self.streams.get(&key) else { return false };
        let device = stream.device.as_usize();
        if stream.queue.front().is_none_or(|head| head.work.pace() != Pace::Slot) {
            return true;
        }
        let slot = self.take_slot(device);
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.slot = slot;
        }
        slot.is_some()
    }

    /// The stream to step next: the one of the highest priority, and of those the one whose head has been
    /// queued for longest.
    fn best_step(&self) -> Option<StreamKey> {
        self.let_heads_meet();
        self.streams
            .iter()
            .filter(|(key, _)| self.can_step(**key))
            .filter_map(|(key, stream)| {
                let head = stream.queue.front()?;
                Some((stream.priority, head.arrival(), *key))
            })
            .min()
            .map(|(.., key)| key)
    }
}
