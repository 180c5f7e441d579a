//! Fixing a pool: from then on it does not sleep, and gives nothing back. One that sleeps cannot be fixed.

use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};

use super::lock;
use crate::context::Runtime;
use crate::memory::fixed_pools;
use crate::memory::streams::device::DeviceMemory;
use crate::memory::streams::sleepers;

/// Held while a pool is being fixed. Before the lock of a device's sleep.
static FIXING: Mutex<rank::PoolFixing, ()> = Mutex::new(());

/// Fixes a pool. When this returns, no memory that is in the pool goes back or sleeps.
pub(crate) fn fix(runtime: &Runtime, number: u64) -> Result<()> {
    let _turn = FIXING.lock();
    if !fixed_pools::enter(number) {
        return Ok(());
    }
    for device in runtime.devices() {
        // A thread that puts the pool to sleep has asked before or asks later, and then finds it fixed.
        let no_other_thread = lock(device);
        if sleepers::of(device, number).is_some() {
            fixed_pools::release(number);
            return Err(Error::invalid_state(format!(
                "{} is asleep (sconce_memory_pool_sleep), and its memory cannot be fixed; call \
                 sconce_memory_pool_wake first",
                sleepers::name(device, number)
            )));
        }
        drop(no_other_thread);
        // Threads that give memory back pass the gate before they ask. Those that asked before have come through.
        drop(DeviceMemory::of(device).gate.exclusive());
    }
    Ok(())
}
