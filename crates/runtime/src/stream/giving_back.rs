//! Giving memory and the like back to the driver, and the beginning of captures: one waits for the other.
//!
//! Giving back waits for devices, which would invalidate a capture that begins between the question whether there is
//! one and the wait. So threads that give back share a lock, and a thread that begins a capture is alone in it. The
//! lock is fair: neither side starves beside the other ([`PhaseFairLock`]).
//!
//! The lock comes before all locks of the allocators (docs/design/locks.md). Functions that give back call each other,
//! so a thread that gives back already does not take the lock again.

use std::cell::Cell;
use std::marker::PhantomData;

use sconce_base::lock::{LonePhase, PhaseFairLock, rank};
use sconce_base::sync::shared_static;
use sconce_base::types::DeviceIndex;
use sconce_driver::StreamRef;

use super::captures::{device_under_capture, is_under_capture_beside};
use crate::context::Runtime;

shared_static! {
    static STARTS: CaptureStarts = CaptureStarts::new();
}

#[cfg(not(loom))]
thread_local! {
    /// How often the calling thread has begun to give back and not ended it.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

#[cfg(loom)]
loom::thread_local! {
    static DEPTH: Cell<u32> = Cell::new(0);
}

/// What threads that give back and threads that begin captures have in common.
pub(crate) struct CaptureStarts(PhaseFairLock<rank::GivingBack>);

impl CaptureStarts {
    #[cfg(not(loom))]
    const fn new() -> CaptureStarts {
        CaptureStarts(PhaseFairLock::new())
    }

    #[cfg(loom)]
    pub(crate) fn new() -> CaptureStarts {
        CaptureStarts(PhaseFairLock::new())
    }

    /// Keeps captures from beginning. Waits for one that begins, unless the calling thread gives back already.
    pub(crate) fn hold_back(&self) -> GivingBack<'_> {
        let depth = DEPTH.with(Cell::get);
        if depth == 0 {
            self.0.share();
        }
        DEPTH.with(|own| own.set(depth + 1));
        GivingBack { starts: self, _here: PhantomData }
    }

    /// Keeps captures from beginning, unless one begins or is about to.
    pub(crate) fn try_hold_back(&self) -> Option<GivingBack<'_>> {
        let depth = DEPTH.with(Cell::get);
        if depth == 0 && !self.0.try_share() {
            return None;
        }
        DEPTH.with(|own| own.set(depth + 1));
        Some(GivingBack { starts: self, _here: PhantomData })
    }

    /// Waits until no thread gives anything back. Until the guard is dropped, none begins to.
    pub(crate) fn begin(&self) -> LonePhase<'_, rank::GivingBack> {
        self.0.be_alone()
    }
}

/// The right to wait for devices in order to give back what they may use. No capture of this library begins on another
/// thread until it is dropped.
pub struct GivingBack<'a> {
    starts: &'a CaptureStarts,
    /// The thread that began ends it.
    _here: PhantomData<*const ()>,
}

impl Drop for GivingBack<'_> {
    fn drop(&mut self) {
        // Guards of one thread may be dropped in any order.
        let depth = DEPTH.with(Cell::get) - 1;
        DEPTH.with(|own| own.set(depth));
        if depth == 0 {
            self.starts.0.leave();
        }
    }
}

/// Keeps captures from beginning, whether there are others or not, for a thread that takes a lock before it may have to
/// give back.
pub fn hold_back_captures() -> GivingBack<'static> {
    STARTS.hold_back()
}

/// Keeps captures from beginning while the driver is asked about streams that the running call does not name, or
/// records events on them. Never waits, and may be called with any lock held: `None` while a capture begins.
pub(crate) fn try_hold_back_captures() -> Option<GivingBack<'static>> {
    STARTS.try_hold_back()
}

/// Begins to give back what a device may use; `None` if a stream of the device is captured, by the rule of
/// `is_under_capture_beside`.
pub fn give_back(
    runtime: &Runtime,
    device: DeviceIndex,
    argument: Option<StreamRef>,
) -> Option<GivingBack<'static>> {
    let held_back = STARTS.hold_back();
    (!is_under_capture_beside(runtime, device, argument)).then_some(held_back)
}

/// Begins to give back what any device may use. Fails with a device under capture.
pub(crate) fn give_back_everywhere(
    runtime: &Runtime,
) -> std::result::Result<GivingBack<'static>, DeviceIndex> {
    let held_back = STARTS.hold_back();
    match device_under_capture(runtime) {
        Some(device) => Err(device),
        None => Ok(held_back),
    }
}

/// Waits until no thread gives anything back. Until the guard is dropped, none begins to.
pub fn begin_capture() -> LonePhase<'static, rank::GivingBack> {
    STARTS.begin()
}
