//! Which pools of which devices are asleep, and the words for those who ask them for memory.
//!
//! A request that comes while its pool falls asleep, sleeps or wakes is refused. The gate of the device is held
//! exclusively when a pool begins to fall asleep and when it has woken, so a request that holds the gate knows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;

/// Where the bytes of live blocks are while a pool sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepMode {
    /// Nowhere: they are lost.
    Discard,
    /// In pinned memory of the host.
    HostPinned,
    /// In ordinary memory of the host.
    HostPageable,
    /// In a file.
    File,
}

/// How far a pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SleepPhase {
    FallingAsleep,
    Asleep,
    Waking,
}

/// A pool that is asleep on a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SleepingPool {
    pub(crate) phase: SleepPhase,
    pub(crate) mode: SleepMode,
    /// How many bytes were saved.
    pub(crate) saved_bytes: u64,
}

static POOLS: PerDevice<Mutex<rank::Sleepers, BTreeMap<u64, SleepingPool>>> =
    per_device!(Mutex::new(BTreeMap::new()));

/// How many pools are asleep, on all devices.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether any pool is asleep.
#[inline]
pub(crate) fn any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// The state of a pool on a device, unless it is awake.
pub(crate) fn of(device: DeviceIndex, number: u64) -> Option<SleepingPool> {
    if any() { POOLS[device].lock().get(&number).copied() } else { None }
}

/// The pools of a device that are asleep.
pub(crate) fn all_of(device: DeviceIndex) -> Vec<u64> {
    if any() { POOLS[device].lock().keys().copied().collect() } else { Vec::new() }
}

/// Notes the state of a pool.
pub(crate) fn enter(device: DeviceIndex, number: u64, pool: SleepingPool) {
    if POOLS[device].lock().insert(number, pool).is_none() {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

/// The pool is awake, or gone.
pub(crate) fn leave(device: DeviceIndex, number: u64) {
    if POOLS[device].lock().remove(&number).is_some() {
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A pool of a device, in words.
pub(crate) fn name(device: DeviceIndex, number: u64) -> String {
    match number {
        0 => format!("the default pool of device {device}"),
        number => format!("pool {number} on device {device}"),
    }
}

/// Refuses a request to a pool that is not awake.
#[inline]
pub(crate) fn refuse(device: DeviceIndex, number: u64) -> Result<()> {
    if any() { refuse_sleeping(device, number) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn refuse_sleeping(device: DeviceIndex, number: u64) -> Result<()> {
    let Some(pool) = of(device, number) else { return Ok(()) };
    let name = name(device, number);
    let is = match pool.phase {
        SleepPhase::FallingAsleep => "is being put to sleep",
        SleepPhase::Asleep => "is asleep (sconce_memory_pool_sleep)",
        SleepPhase::Waking => "is being woken",
    };
    Err(Error::invalid_state(format!(
        "{name} {is}, and cannot allocate memory; call sconce_memory_pool_wake first, or allocate from another pool"
    )))
}
