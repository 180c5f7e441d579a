//! The machine: the queues with the threads that run operations.
//!
//! A stream with a head that may run always gets a thread, an idle one or a new one. So work may
//! block without holding up other work: a host function may wait for another stream. Idle threads
//! end after a short while. No thread joins them; at process exit they end with the process.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sconce_base::lock::{Condvar, Mutex, MutexGuard, Serving, rank};
use sconce_base::log;
use sconce_base::types::DeviceIndex;

use super::clock::{nanoseconds, wait_until};
use super::engine::Engine;
use super::schedule::Started;
use crate::codes;
use crate::memory::take_complaint;

const IDLE_TIME: Duration = Duration::from_millis(100);
/// As large as the stacks of a C program's threads usually are, since users' host functions run on
/// these threads. Only touched pages of it take memory.
const STACK_BYTES: usize = 8 << 20;

/// The queues of a simulator with the threads that run them.
pub(crate) struct Machine {
    pub(crate) engine: Mutex<rank::SimEngine, Engine>,
    /// Notified when every stream rests.
    pub(crate) quiet: Condvar<rank::Device>,
}

impl Machine {
    pub(crate) fn new(engine: Engine) -> Machine {
        Machine { engine: Mutex::new(engine), quiet: Condvar::new() }
    }

    /// Gives every ready stream a thread. Must be called before the engine's lock is released,
    /// after anything that may have moved streams on.
    pub(crate) fn serve(self: &Arc<Self>, engine: &mut MutexGuard<'_, rank::SimEngine, Engine>) {
        if engine.active == 0 {
            self.quiet.notify_all();
        }
        for _ in 0..engine.wanted_threads().min(engine.workers.idle) {
            engine.workers.work.notify_one();
        }
        while engine.wanted_threads() > engine.workers.idle + engine.workers.starting {
            if let Err(why) = self.spawn(engine.workers.alive < engine.workers.most) {
                self.cannot_spawn(engine, &why);
                return;
            }
            engine.workers.starting += 1;
            engine.workers.alive += 1;
        }
    }

    fn spawn(self: &Arc<Self>, may: bool) -> std::io::Result<()> {
        if !may {
            return Err(std::io::Error::other("the most that were allowed"));
        }
        let machine = Arc::clone(self);
        let thread = std::thread::Builder::new().name("sconce-sim".to_owned());
        thread.stack_size(STACK_BYTES).spawn(move || machine.work()).map(drop)
    }

    /// Makes all devices fail. To leave the work to the existing threads could hang: each of them
    /// may run a host function that waits for this very work.
    fn cannot_spawn(
        &self,
        engine: &mut MutexGuard<'_, rank::SimEngine, Engine>,
        why: &std::io::Error,
    ) {
        let why = format!(
            "the simulator cannot start a thread for queued work ({why}; {} are running); allow \
             more threads or address space (ulimit -u, ulimit -v, the container's pids.max), or \
             let fewer streams run host functions that wait",
            engine.workers.alive
        );
        engine.workers.exhausted = Some(why.clone());
        let now = engine.clock.now_ns();
        for index in 0..engine.devices.len() {
            if let Some(device) = DeviceIndex::new(index as i32) {
                engine.fail_device(device, codes::OPERATING_SYSTEM, now);
            }
        }
        // The log may call back into the library.
        MutexGuard::unlocked(engine, || log::error(format_args!("{why}; its devices fail")));
    }

    fn work(self: Arc<Self>) {
        let mut engine = self.engine.lock();
        engine.workers.starting -= 1;
        let condvar = Arc::clone(&engine.workers.work);
        loop {
            if let Some(key) = engine.ready.pop_front() {
                if let Some(started) = engine.start(key) {
                    self.run(&mut engine, started);
                }
                continue;
            }
            if let Some(work) = engine.abandoned.pop_front() {
                MutexGuard::unlocked(&mut engine, || work.abandon());
                continue;
            }
            engine.workers.idle += 1;
            let timed_out = !condvar.wait_for(&mut engine, IDLE_TIME);
            engine.workers.idle -= 1;
            if timed_out && engine.ready.is_empty() && engine.abandoned.is_empty() {
                engine.workers.alive -= 1;
                return;
            }
        }
    }

    /// Runs one started operation with the lock released, and notes its end.
    pub(crate) fn run(
        self: &Arc<Self>,
        engine: &mut MutexGuard<'_, rank::SimEngine, Engine>,
        started: Started,
    ) {
        let mut started = started;
        let (worked_ns, result) = MutexGuard::unlocked(engine, || {
            let _serving = Serving::<rank::Device>::begin();
            drop(take_complaint());
            let done = carry_out(&started);
            started.complaint = done.1.err().and_then(|_| take_complaint());
            if let Some(complaint) = &started.complaint {
                let call = started.operation.call.name();
                log::error(format_args!("{call}: {complaint}; the device fails"));
            }
            done
        });
        engine.finish(started, worked_ns, result);
        self.serve(engine);
    }
}

impl Engine {
    /// Threads that have something to do: one for each ready stream, and one for all abandoned work.
    fn wanted_threads(&self) -> usize {
        self.ready.len() + usize::from(!self.abandoned.is_empty())
    }
}

/// Does the work at the end of its modelled duration, so that a caller that does not wait for it
/// sees the memory as it was before. Returns how long the work took, and its result.
fn carry_out(started: &Started) -> (u64, Result<(), i32>) {
    if let Some(deadline) = started.deadline {
        wait_until(deadline);
    }
    if let Some(code) = started.operation.fault {
        return (0, Err(code));
    }
    let before = Instant::now();
    let operation = &started.operation;
    let result = catch_unwind(AssertUnwindSafe(|| operation.work.run())).unwrap_or_else(|_| {
        log::error(format_args!("{} panicked in the simulator", operation.call.name()));
        Err(codes::LAUNCH_FAILED)
    });
    let modelled_ns = operation.work.modelled_ns();
    let Some(deadline) = started.deadline else { return (modelled_ns, result) };
    if modelled_ns > 0 {
        wait_until(deadline + Duration::from_nanos(modelled_ns));
    }
    let worked_ns = nanoseconds(before.elapsed());
    (worked_ns, result)
}
