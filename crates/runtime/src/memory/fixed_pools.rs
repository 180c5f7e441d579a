//! Pools whose memory stays, because the program has made it known elsewhere: to NCCL, to a network adapter, to another
//! library that keeps addresses or pages. None of it sleeps or goes back to the driver. Pages of private pools never
//! move to other addresses anyway.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;

use super::streams::sleepers;

/// The fixed pools, by their numbers.
static FIXED: Mutex<rank::FixedPools, BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// How many there are. Without one nobody looks further.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether none of the pool's memory may sleep or go back.
pub(in crate::memory) fn is_fixed(number: u64) -> bool {
    COUNT.load(Ordering::Acquire) != 0 && FIXED.lock().contains(&number)
}

/// Notes that a pool is fixed; `false` if it was already.
pub(in crate::memory) fn enter(number: u64) -> bool {
    let is_new = FIXED.lock().insert(number);
    if is_new {
        COUNT.fetch_add(1, Ordering::AcqRel);
    }
    is_new
}

/// The pool is an ordinary one again.
pub(in crate::memory) fn release(number: u64) {
    if FIXED.lock().remove(&number) {
        COUNT.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Refuses to put a fixed pool to sleep.
pub(in crate::memory) fn refuse_sleep(device: DeviceIndex, number: u64) -> Result<()> {
    if !is_fixed(number) {
        return Ok(());
    }
    Err(Error::invalid_state(format!(
        "{} cannot sleep: its memory is fixed (sconce_memory_pool_set_fixed), since the program has registered it \
         elsewhere; end the registrations and call sconce_memory_pool_set_fixed with false first",
        sleepers::name(device, number)
    )))
}
