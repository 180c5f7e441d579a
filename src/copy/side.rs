//! What is at an address: ordinary or pinned memory of the host, or memory of a device.

use crate::context::Runtime;
use crate::device::reach;
use crate::driver::{PointerKind, RawAddress};
use crate::error::{Error, Result};
use crate::host_memory::{self, Known};
use crate::memory;
use crate::thread_state;
use crate::types::DeviceIndex;

/// What one side of a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Host memory of which the driver knows nothing.
    Ordinary,
    /// Page-locked host memory.
    Pinned,
    /// Memory of a device.
    Device(DeviceIndex),
    /// Managed memory, with the device that was current: it is used as memory of that one.
    Managed(DeviceIndex),
}

/// What the `bytes` from `address` on are, if they are memory of one kind and, where this library
/// allocated it, of one allocation. `what` names the argument. Host memory that nobody knows is the
/// caller's promise.
pub(super) fn of(runtime: &Runtime, address: RawAddress, bytes: usize, what: &str) -> Result<Side> {
    let start = address.get();
    if start == 0 {
        return Err(null(bytes, what));
    }
    let end = start.checked_add(bytes).ok_or_else(|| too_far(start, bytes, what))?;
    // Most memory is this library's own, and known without the driver.
    let (side, room) = if let Some((device, room)) = memory::block_at(start) {
        (Side::Device(device), room)
    } else {
        match host_memory::look_up(start) {
            Known::Held(room) => (Side::Pinned, room),
            Known::Freed => return Err(freed(start, what)),
            Known::Nothing => return of_others(runtime, start, end, what),
        }
    };
    if bytes <= room { Ok(side) } else { Err(too_far(start, bytes, what)) }
}

/// The same by what the driver tells, for a range that is not known to be of this library.
fn of_others(runtime: &Runtime, start: usize, end: usize, what: &str) -> Result<Side> {
    let info = runtime.driver().pointer_info(start)?;
    let side = match info.kind {
        PointerKind::Unregistered => return Ok(Side::Ordinary),
        PointerKind::PinnedHost => Side::Pinned,
        PointerKind::Device(device) => Side::Device(device),
        PointerKind::Managed => Side::Managed(thread_state::device()),
    };
    if reach::extends_to(runtime.driver(), &info, end)? {
        Ok(side)
    } else {
        Err(too_far(start, end - start, what))
    }
}

#[cold]
fn freed(start: usize, what: &str) -> Error {
    Error::invalid_argument(format!(
        "{what} {start:#x} is pinned memory that was freed; keep it until the copy is queued"
    ))
}

#[cold]
pub(super) fn null(bytes: usize, what: &str) -> Error {
    Error::invalid_argument(format!(
        "{what} is NULL, but the size is {}; pass the address of that memory, or a size of 0",
        counted(bytes)
    ))
}

#[cold]
pub(super) fn too_far(start: usize, bytes: usize, what: &str) -> Error {
    Error::invalid_argument(format!(
        "{what} {start:#x} points into an allocation that has less than {} from there on",
        counted(bytes)
    ))
}

/// "1 byte", "2 bytes".
fn counted(bytes: usize) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_range_is_told_with_its_size() {
        let words = [null(1, "src"), null(2, "src"), too_far(16, 1, "dst")];
        assert!(words[0].message().starts_with("src is NULL, but the size is 1 byte; pass"));
        assert!(words[1].message().contains("2 bytes; pass the address"));
        assert!(words[2].message().ends_with("less than 1 byte from there on"));
    }
}
