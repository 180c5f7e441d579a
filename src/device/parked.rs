//! Waiting for a device, and the blocks that such a wait sets free.
//!
//! A block that a stream of the program uses may be freed by a call that does not name that stream.
//! The program may have destroyed the stream by then, so the call must not hand its handle to the
//! driver, and no event can be recorded. The block is *parked*: it is not used again until the stream
//! is named in a later call, which records the event, or until a wait for the whole device, which
//! covers the work of destroyed streams too.
//!
//! The allocators of device memory and of pinned memory park blocks. Each registers what to do when a
//! stream is named and when a device has been waited for.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::lock::RwLock;

use crate::context::Runtime;
use crate::driver::StreamRef;
use crate::error::Result;
use crate::types::DeviceIndex;

/// Advances with each wait, so that a wait is known to have begun after a free.
static CLOCK: AtomicU64 = AtomicU64::new(1);

/// The parked blocks of both allocators.
static COUNT: AtomicUsize = AtomicUsize::new(0);

static OWNERS: RwLock<Vec<Owner>> = RwLock::new(Vec::new());

/// An allocator that parks blocks. No lock of an allocator's may be held when these are called.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    /// A call names a stream, which may therefore be used.
    pub(crate) named: fn(&Runtime, StreamRef),
    /// All work queued on a device before a moment of the clock has finished.
    pub(crate) waited: fn(&Runtime, DeviceIndex, u64),
}

/// Adds an allocator; once for each.
pub(crate) fn register(owner: Owner) {
    let mut owners = OWNERS.write();
    if !owners.iter().any(|known| std::ptr::fn_addr_eq(known.named, owner.named)) {
        owners.push(owner);
    }
}

/// The moment of a free.
pub(crate) fn now() -> u64 {
    CLOCK.load(Ordering::SeqCst)
}

/// One more block is parked.
pub(crate) fn add() {
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// So many blocks fewer.
pub(crate) fn remove(blocks: usize) {
    COUNT.fetch_sub(blocks, Ordering::Relaxed);
}

/// Whether blocks are parked.
#[inline]
pub(crate) fn any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// Has the allocators look at what is parked for a stream that the running call names.
#[inline]
pub(crate) fn named(runtime: &Runtime, stream: StreamRef) {
    if any() {
        each(|owner| (owner.named)(runtime, stream));
    }
}

/// Waits until all work queued on a device so far has finished, and sets free what was parked.
pub(crate) fn wait(runtime: &Runtime, device: DeviceIndex) -> Result<()> {
    let begun = CLOCK.fetch_add(1, Ordering::SeqCst);
    runtime.driver().device_synchronize(device)?;
    if any() {
        each(|owner| (owner.waited)(runtime, device, begun));
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn each(act: impl Fn(&Owner)) {
    let owners = OWNERS.read().clone();
    owners.iter().for_each(act);
}
