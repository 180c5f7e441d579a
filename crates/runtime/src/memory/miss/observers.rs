//! Functions that are called when memory has run out.
//!
//! They are called on the thread whose allocation failed, with no lock held, before the failure is
//! returned. They may call the library, also to free memory; the failed allocation is not tried
//! again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce_base::error::{Error, Result};
use sconce_base::lock::{RwLock, rank};

use crate::context::refuse_forked_child;

/// The event that an observer is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// The device.
    pub device: i32,
    /// Bytes asked of the driver.
    pub requested_bytes: usize,
    /// Bytes that may be used: the device's, or the limit set for this process.
    pub total_bytes: usize,
    /// Bytes the device has free.
    pub free_bytes: usize,
}

/// A function that is called when memory has run out.
pub type Observer = Arc<dyn Fn(&OutOfMemory) + Send + Sync>;

static OBSERVERS: RwLock<rank::OutOfMemoryObservers, Vec<(u64, Observer)>> =
    RwLock::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Adds an observer; the number is for [`detach_observer`].
pub fn attach_observer(observer: Observer) -> Result<u64> {
    refuse_forked_child()?;
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    OBSERVERS.write().push((id, observer));
    Ok(id)
}

/// Removes an observer. It may still be running on another thread.
pub fn detach_observer(id: u64) -> Result<()> {
    refuse_forked_child()?;
    let mut observers = OBSERVERS.write();
    let Some(place) = observers.iter().position(|(other, _)| *other == id) else {
        return Err(Error::invalid_argument(format!(
            "id is {id}, which sconce_memory_attach_oom_observer did not return, or which is detached"
        )));
    };
    observers.remove(place);
    Ok(())
}

/// Calls every observer, in the order they were attached.
pub(crate) fn notify(event: &OutOfMemory) {
    let observers: Vec<Observer> =
        OBSERVERS.read().iter().map(|(_, observer)| observer.clone()).collect();
    for observer in observers {
        observer(event);
    }
}
