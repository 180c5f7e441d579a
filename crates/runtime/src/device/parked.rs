//! Waiting for a device, and the blocks that such a wait frees.
//!
//! A block that a stream of the program uses may be freed by a call that does not name that stream.
//! The program may have destroyed the stream by then, so the call must not pass its handle to the driver, and
//! no event can be recorded. The block is *parked*: it is not used again until a later call names the
//! stream and records the event, or until a wait for the whole device, which includes the work of destroyed
//! streams.
//!
//! The allocators of device memory and of pinned memory park blocks. Each registers functions that are
//! called when a stream is named and when a device has been waited for.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use sconce_base::error::Result;
use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{RelaxedCapture, StreamRef};

use crate::context::Runtime;

/// Advances with each wait, so that each free is known to be before or after the begin of a wait.
static CLOCK: AtomicU64 = AtomicU64::new(1);

/// The number of parked blocks of both allocators.
static COUNT: AtomicUsize = AtomicUsize::new(0);

static OWNERS: RwLock<rank::ParkedOwners, Vec<ParkingAllocator>> = RwLock::new(Vec::new());

/// The functions of an allocator that parks blocks. No lock of an allocator may be held when they are called.
#[derive(Clone, Copy)]
pub struct ParkingAllocator {
    /// A call names a stream, whose handle may therefore be passed to the driver.
    pub named: fn(&Runtime, StreamRef),
    /// All work queued on a device before a moment of the clock has finished.
    pub waited: fn(&Runtime, DeviceIndex, u64),
}

/// Registers an allocator. An allocator that is registered already is not registered again.
pub fn register(owner: ParkingAllocator) {
    let mut owners = OWNERS.write();
    if !owners.iter().any(|known| std::ptr::fn_addr_eq(known.named, owner.named)) {
        owners.push(owner);
    }
}

/// The time of a free, by the clock of waits.
pub(crate) fn now() -> u64 {
    CLOCK.load(Ordering::SeqCst)
}

/// Counts one more parked block.
pub(crate) fn add() {
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// Counts `blocks` fewer.
pub(crate) fn remove(blocks: usize) {
    COUNT.fetch_sub(blocks, Ordering::Relaxed);
}

/// Whether blocks are parked.
#[inline]
pub(crate) fn any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// Makes the allocators check the blocks that are parked for a stream that the running call names.
#[inline]
pub(crate) fn named(runtime: &Runtime, stream: StreamRef) {
    if any() {
        each(|owner| (owner.named)(runtime, stream));
    }
}

/// Waits until all work queued on a device so far has finished, and frees the blocks that were parked before.
pub(crate) fn wait(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    let begun = CLOCK.fetch_add(1, Ordering::SeqCst);
    {
        // Captures on other devices have nothing to do with it.
        let _relaxed = RelaxedCapture::enter(runtime.driver())?;
        runtime.driver().device_synchronize(device)?;
    }
    if any() {
        each(|owner| (owner.waited)(runtime, device, begun));
    }
    Ok(())
}

/// Functions that give back to the driver what had to wait for work. Called with no lock held.
static GIVERS: RwLock<rank::RestGivers, Vec<fn(&Runtime)>> = RwLock::new(Vec::new());

/// Registers a function that is called after the program has waited for a device. One that is registered already is not
/// registered again.
pub fn give_back_at_rest(giver: fn(&Runtime)) {
    let mut givers = GIVERS.write();
    if !givers.iter().any(|known| std::ptr::fn_addr_eq(*known, giver)) {
        givers.push(giver);
    }
}

/// Gives back to the driver what had to wait for work. The program has waited for a device.
pub(crate) fn give_back_after_wait(runtime: &Runtime) {
    let givers = GIVERS.read().clone();
    givers.iter().for_each(|giver| giver(runtime));
}

#[cold]
#[inline(never)]
fn each(act: impl Fn(&ParkingAllocator)) {
    let owners = OWNERS.read().clone();
    owners.iter().for_each(act);
}
