//! The driver's event of an event: made or taken from a recycler, and returned when its last owner drops it.

use std::collections::BTreeMap;

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::{Error, Result};
use sconce_base::lock::{Mutex, rank};
use sconce_base::sync::shared_static;
use sconce_base::types::DeviceIndex;
use sconce_driver::{Driver, EventFlags, EventHandle, IpcHandle};

use super::recycler::Recycler;
use crate::context::Runtime;
use crate::stream;

/// The kinds of events that are recycled: timed or not, with waits that sleep or spin.
const KINDS: usize = 4;

shared_static! {
    static RECYCLERS: PerDevice<[Recycler; KINDS]> = sconce_base::collections::per_device::per_device!([const { Recycler::new() }; KINDS]);
}

/// The handles that other processes were given, by the driver's events. While it is locked nothing else is
/// locked, and the driver is not called.
static EXPORTED: Mutex<rank::EventsExported, BTreeMap<usize, IpcHandle>> =
    Mutex::new(BTreeMap::new());

/// Refuses the handle of a living event of this process.
pub(super) fn refuse_own(handle: &IpcHandle) -> Result<()> {
    if EXPORTED.lock().values().any(|exported| exported == handle) {
        return Err(Error::invalid_argument(
            "handle is of an event of this process; use that event, which a process has already",
        ));
    }
    Ok(())
}

/// A driver's event with an owner.
pub struct NativeEvent {
    driver: &'static dyn Driver,
    handle: EventHandle,
    device: DeviceIndex,
    flags: EventFlags,
    recycle: bool,
}

fn recycler(device: DeviceIndex, flags: EventFlags) -> &'static Recycler {
    let kind = usize::from(flags.timing) | usize::from(flags.blocking_sync) << 1;
    &RECYCLERS[device][kind]
}

impl NativeEvent {
    /// An event of a device that is still to be recorded.
    pub fn obtain(
        runtime: &Runtime,
        device: DeviceIndex,
        flags: EventFlags,
    ) -> Result<NativeEvent> {
        let driver = runtime.driver();
        // Another process may still hold an interprocess event: those are never used again.
        let recycle = !flags.interprocess;
        let spare = if recycle { recycler(device, flags).take() } else { None };
        let handle = match spare {
            Some(handle) => handle,
            None => driver.event_create(device, flags)?,
        };
        Ok(NativeEvent { driver, handle, device, flags, recycle })
    }

    /// Another process's event.
    pub(super) fn open(
        runtime: &Runtime,
        device: DeviceIndex,
        ipc: &IpcHandle,
    ) -> Result<NativeEvent> {
        let driver = runtime.driver();
        let handle = driver.ipc_event_open(device, ipc)?;
        stream::note_work_may_need_threads();
        let flags = EventFlags { interprocess: true, ..EventFlags::default() };
        Ok(NativeEvent { driver, handle, device, flags, recycle: false })
    }

    /// The 64 bytes by which another process opens it.
    pub(super) fn export(&self) -> Result<IpcHandle> {
        let ipc = self.driver.ipc_event_export(self.handle)?;
        EXPORTED.lock().insert(self.handle.native(), ipc);
        Ok(ipc)
    }

    pub fn handle(&self) -> EventHandle {
        self.handle
    }

    pub(super) fn device(&self) -> DeviceIndex {
        self.device
    }

    /// Whether another process may use the event.
    pub(super) fn is_interprocess(&self) -> bool {
        self.flags.interprocess
    }
}

impl Drop for NativeEvent {
    fn drop(&mut self) {
        if self.flags.interprocess {
            // Before the driver can use the handle for another event.
            EXPORTED.lock().remove(&self.handle.native());
        }
        let unwanted = if self.recycle {
            recycler(self.device, self.flags).put(self.handle)
        } else {
            Some(self.handle)
        };
        if let Some(handle) = unwanted
            && let Err(error) = self.driver.event_destroy(handle)
        {
            sconce_base::log::warn(format_args!("an event could not be destroyed: {error}"));
        }
    }
}
