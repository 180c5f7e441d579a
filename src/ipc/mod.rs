//! Memory between processes. See `docs/design/ipc.md`.

use crate::driver::IpcHandle;
use crate::error::{Error, Result};

fn later<T>() -> Result<T> {
    Err(Error::not_supported("memory between processes is being built"))
}

/// The handle of the driver's allocation that holds an address, and the address's offset in it.
pub fn export(_address: usize) -> Result<(IpcHandle, usize)> {
    later()
}

/// Opens another process's allocation for a device (-1: the current one); gives the address at the
/// offset.
pub fn open(_device: i32, _handle: &IpcHandle, _offset: usize) -> Result<usize> {
    later()
}

/// Closes what [`open`] gave; waits for the device.
pub fn close(_address: usize) -> Result<()> {
    later()
}

/// Frees memory whose consumers have gone.
pub fn collect() -> Result<()> {
    crate::context::runtime().map(|_| ())
}
