//! Which handles other processes were given: this one has those events already.

use std::collections::BTreeMap;

use crate::lock::Mutex;

use crate::driver::{EventHandle, IpcHandle};
use crate::error::{Error, Result};

/// By the driver's events. Nothing else is locked, and the driver is not called, under it.
static EXPORTED: Mutex<BTreeMap<usize, IpcHandle>> = Mutex::new(BTreeMap::new());

pub(super) fn add(event: EventHandle, handle: IpcHandle) {
    EXPORTED.lock().insert(event.0, handle);
}

/// Called before the driver can use the event's number again.
pub(super) fn remove(event: EventHandle) {
    EXPORTED.lock().remove(&event.0);
}

/// Refuses the handle of a living event of this process.
pub(super) fn refuse_own(handle: &IpcHandle) -> Result<()> {
    if EXPORTED.lock().values().any(|exported| exported == handle) {
        return Err(Error::invalid_argument(
            "handle is of an event of this process; use that event, which a process has already",
        ));
    }
    Ok(())
}
