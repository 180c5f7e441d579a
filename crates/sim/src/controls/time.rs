//! Time, steps, and listeners.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use sconce_base::error::Result;
use sconce_driver::StreamRef;

use crate::call::Call;
use crate::machine::listener::OperationListener;
use crate::state::Simulator;

/// Time and order.
impl Simulator {
    /// Turns manual mode on or off. While it is on, operations complete only when stepped, and time moves
    /// only with operations that complete; operations that run already still end by themselves.
    pub fn set_manual(&self, manual: bool) {
        let mut engine = self.inner.machine.engine.lock();
        if engine.clock.is_manual() == manual {
            return;
        }
        engine.clock.set_manual(manual);
        if manual {
            engine.recall_ready();
        } else {
            engine.advance_all();
            self.inner.machine.serve(&mut engine);
        }
    }

    /// How many operations of the stream have not completed.
    pub fn pending(&self, stream: StreamRef) -> Result<usize> {
        // Errors of control calls name the method of the driver that would meet the same one.
        self.inner.check_device(Call::StreamQuery, stream.device)?;
        let mut engine = self.inner.machine.engine.lock();
        let key = engine.find(Call::StreamQuery, stream)?;
        Ok(engine.streams.get(&key).map_or(0, |stream| stream.pending()))
    }

    /// Completes the first pending operation of the stream on the calling thread, if its dependencies have
    /// ended, and returns whether it did. Host functions thus run inside this call.
    pub fn step(&self, stream: StreamRef) -> Result<bool> {
        self.inner.check_device(Call::StreamQuery, stream.device)?;
        let mut engine = self.inner.machine.engine.lock();
        let key = engine.find(Call::StreamQuery, stream)?;
        Ok(self.inner.machine.step(&mut engine, key))
    }

    /// Completes all operations that can complete: in manual mode steps on this thread, kernels of higher
    /// priority first, in automatic mode waits. Returns how many operations it stepped. Operations that
    /// remain wait for a stuck event or for another process.
    pub fn run_until_idle(&self) -> usize {
        self.inner.machine.run_until_idle()
    }

    /// How long later kernels, copies, fills and host functions take, in nanoseconds.
    pub fn set_latency_ns(&self, latency_ns: u64) {
        self.inner.latency_ns.store(latency_ns, Ordering::Relaxed);
    }

    /// The time of the simulated devices, in nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.inner.machine.engine.lock().clock.now_ns()
    }

    /// Sets the listener of all operations that are queued from now on, or removes it.
    pub fn set_listener(&self, listener: Option<Arc<dyn OperationListener>>) {
        self.inner.machine.engine.lock().listener = listener;
    }
}
