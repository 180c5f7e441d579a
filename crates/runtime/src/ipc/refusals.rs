//! Why memory of another process is not opened or closed.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;

use super::message::{Answer, Reply};

/// What the exporter's reply to an opening at an offset means.
pub(super) fn granted(reply: &Reply, offset: u64) -> Result<()> {
    match reply.answer {
        Answer::Yes => Ok(()),
        Answer::BeyondEnd => Err(beyond_end(offset, reply.bytes)),
        Answer::Freed => Err(Error::invalid_handle(
            "the process that made the handle has freed the memory at offset_bytes, or never \
             exported it",
        )),
        Answer::Failed => Err(failed()),
        Answer::Asleep => Err(Error::invalid_state(
            "the memory is asleep in the process that made the handle; wake it there first \
             (sconce_memory_pool_wake)",
        )),
    }
}

/// The exporter's driver failed.
fn failed() -> Error {
    Error::new(
        Status::Driver,
        "the driver of the process that made the handle failed to share the memory",
    )
}

/// The handle is one of this process.
pub(super) fn own() -> Error {
    Error::invalid_argument(
        "handle is one of this process; use the memory's own address, which a process has already",
    )
}

/// The offset is too large.
pub(super) fn beyond_end(offset: u64, bytes: u64) -> Error {
    Error::invalid_argument(format!(
        "offset_bytes {offset} is not below the allocation's {bytes} bytes; pass the offset that \
         came with the handle"
    ))
}

/// The memory cannot be closed during a capture.
pub(super) fn captured(address: usize, device: DeviceIndex) -> Error {
    Error::invalid_state(format!(
        "ptr {address:#x} cannot be closed while a stream of device {device} is being captured, \
         since that waits for the device; close it when the capture has ended"
    ))
}

/// Nothing is open at the address.
pub(super) fn not_open(address: usize) -> Error {
    Error::invalid_argument(format!(
        "ptr {address:#x} is not open, or was closed as often as opened; pass an \
         address that sconce_ipc_open_memory returned, once for each time it was opened"
    ))
}
