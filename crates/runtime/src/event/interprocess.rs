//! Events that are shared between processes.

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result};
use sconce_driver::{EventFlags, IpcHandle};

use super::native::{self, NativeEvent};
use super::slots::{insert_native, with_native};
use crate::context::runtime;
use crate::device;

/// The handle by which another process opens the event. Makes the driver's event on the current device if
/// there is none yet.
pub fn ipc_handle(key: Key) -> Result<IpcHandle> {
    let runtime = runtime()?;
    with_native(key, "event", |slot, place| {
        if !slot.flags().interprocess {
            return Err(Error::invalid_argument(
                "event was not created with SCONCE_EVENT_INTERPROCESS, which sharing needs",
            ));
        }
        if let Some(native) = place {
            return native.export();
        }
        let native =
            NativeEvent::obtain(runtime, device::current_of_thread(runtime)?, slot.flags())?;
        let ipc = native.export()?;
        slot.adopt(place, native)?;
        Ok(ipc)
    })
}

/// Opens another process's event on a device (-1: the current one).
pub fn from_ipc_handle(index: i32, ipc: &IpcHandle) -> Result<Key> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    native::refuse_own(ipc)?;
    let native = NativeEvent::open(runtime, device, ipc)?;
    insert_native(EventFlags { interprocess: true, ..EventFlags::default() }, native)
}
