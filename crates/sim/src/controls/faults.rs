//! Counters and faults.
#![forbid(unsafe_code)]

use std::sync::atomic::Ordering;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use crate::call::Call;
use crate::codes;
use crate::state::Simulator;

/// Counters.
impl Simulator {
    /// How often a driver call was made since the last reset.
    pub fn call_count(&self, call: Call) -> u64 {
        self.inner.counters.get(call)
    }

    /// Sets every counter to 0.
    pub fn reset_call_counts(&self) {
        self.inner.counters.reset();
    }
}

/// Faults. All count from now; 1 is the next one, and 0 means the same.
impl Simulator {
    /// The `nth` call of the kind fails at once with the driver's `code`.
    pub fn fail_call(&self, call: Call, nth: u64, code: i32) {
        self.inner.faults.fail_call(call, nth, code);
    }

    /// The `nth` operation queued by calls of the kind fails when it runs, and with it its device.
    pub fn fail_operation(&self, call: Call, nth: u64, code: i32) {
        self.inner.faults.fail_operation(call, nth, code);
    }

    /// The `nth` allocation of device memory (`memory_alloc`, `physical_create`) finds none.
    pub fn fail_allocation(&self, nth: u64) {
        self.inner.faults.fail_allocation(nth);
    }

    /// The `nth` event record never completes, and nothing behind it on its stream.
    pub fn stick_record(&self, nth: u64) {
        self.inner.faults.stick_record(nth);
    }

    /// Forgets all faults that have not struck and lets stuck records complete.
    pub fn clear_faults(&self) {
        self.inner.faults.clear();
        let mut engine = self.inner.machine.engine.lock();
        for stream in engine.streams.values_mut() {
            for operation in &mut stream.queue {
                operation.stuck = false;
            }
        }
        engine.advance_all();
        self.inner.machine.serve(&mut engine);
    }

    /// Clears an asynchronous error of a device, which no real driver can do. Operations that were queued
    /// when the error occurred stay undone.
    pub fn clear_device_error(&self, device: DeviceIndex) -> Result<()> {
        self.inner.check_device(Call::BindDevice, device)?;
        let mut engine = self.inner.machine.engine.lock();
        engine.devices[device.as_usize()].error = None;
        engine.devices[device.as_usize()].failure = None;
        engine.workers.exhausted = None;
        Ok(())
    }

    /// Allows or denies that kernels of `device` use `peer`'s memory; the other direction is unchanged.
    pub fn set_peer_allowed(
        &self,
        device: DeviceIndex,
        peer: DeviceIndex,
        allowed: bool,
    ) -> Result<()> {
        for device in [device, peer] {
            self.inner.check_device(Call::CanAccessPeer, device)?;
        }
        let bit = 1 << peer.as_usize();
        let denied = &self.inner.denied_peers[device.as_usize()];
        if allowed {
            denied.fetch_and(!bit, Ordering::Relaxed);
        } else {
            denied.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The code with which calls for a device fail since queued work failed; `None` if none has.
    pub fn device_error(&self, device: DeviceIndex) -> Option<i32> {
        self.inner
            .machine
            .engine
            .lock()
            .devices
            .get(device.as_usize())
            .and_then(|device| device.error)
    }
}

/// The codes that tests inject most.
impl Simulator {
    /// `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub const ILLEGAL_ADDRESS: i32 = codes::ILLEGAL_ADDRESS;
    /// `CUDA_ERROR_LAUNCH_FAILED`.
    pub const LAUNCH_FAILED: i32 = codes::LAUNCH_FAILED;
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    pub const OUT_OF_MEMORY: i32 = codes::OUT_OF_MEMORY;
}
