//! The gate of a device: a lock that every segment passes on its way from or to the driver.
//!
//! A thread shares it while it moves segments: from before it asks the limit until the new segment is in
//! its heap, and from when it takes a segment out of its heap until the driver and the statistics of the device know.
//! A thread that holds it exclusively therefore finds every segment of the device in a heap, and no other
//! thread changes what the driver has. Allocations from cached blocks and frees do not pass the gate.

use sconce_base::lock::{RwLock, RwLockReadGuard, RwLockWriteGuard, rank};

/// The lock.
pub(crate) struct SegmentGate(RwLock<rank::Gate, ()>);

/// The right to move segments, beside other threads.
pub(crate) struct SharedPassage<'a>(
    #[allow(dead_code, reason = "held, not read")] RwLockReadGuard<'a, rank::Gate, ()>,
);

/// The right to move segments while no other thread does.
pub(crate) struct ExclusivePassage<'a>(
    #[allow(dead_code, reason = "held, not read")] RwLockWriteGuard<'a, rank::Gate, ()>,
);

/// The right to move segments, of either kind. What takes one must be called while it is held.
pub(crate) trait Passage {}

impl Passage for SharedPassage<'_> {}
impl Passage for ExclusivePassage<'_> {}

impl SegmentGate {
    pub(crate) const fn new() -> SegmentGate {
        SegmentGate(RwLock::new(()))
    }

    /// Waits for a thread that holds the gate exclusively. No cache and no statistics may be locked, and
    /// the calling thread must not hold the gate already.
    pub(crate) fn shared(&self) -> SharedPassage<'_> {
        SharedPassage(self.0.read())
    }

    /// Waits for all threads that hold the gate; the same rules.
    pub(crate) fn exclusive(&self) -> ExclusivePassage<'_> {
        ExclusivePassage(self.0.write())
    }
}
