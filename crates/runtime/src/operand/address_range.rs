//! The range of addresses that a call uses: what kind of memory it is, and whether it stays inside
//! one block or allocation.
//!
//! Every call that takes a device address checks it here before it queues work: copies, sets,
//! random fills, and through [`super::Operand`] products, convolutions and transforms. A kernel or
//! a library does not check addresses; a wrong one overwrites a neighbour or ends the device's
//! context.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::PointerKind;

use crate::context::{Runtime, opened};
use crate::device::{self, reach};
use crate::host_memory::{self, PinnedAddress};
use crate::memory;

/// The kind of memory that a range lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Host memory that the driver does not know.
    Ordinary,
    /// Page-locked host memory.
    Pinned,
    /// Memory of a device.
    Device(DeviceIndex),
    /// Managed memory, with the current device: the call uses it as memory of that device.
    Managed(DeviceIndex),
}

/// Finds the kind of the `bytes` bytes from `start` on. Refuses a range that leaves the block it
/// begins in or, for memory that is not this library's, the driver's allocation. `what` names the
/// argument.
///
/// A range that begins inside a live block must end in it, too. Ranges of ordinary host memory
/// cannot be checked.
#[inline]
pub fn kind_of(runtime: &Runtime, start: usize, bytes: usize, what: &str) -> Result<MemoryKind> {
    // Most memory is this library's own, and known without the driver.
    match memory::block_at(start) {
        Some((device, available)) if bytes <= available => Ok(MemoryKind::Device(device)),
        Some(_) => Err(out_of_reach(start, bytes, what)),
        None => kind_of_others(runtime, start, bytes, what),
    }
}

/// [`kind_of`] for a range that does not begin in a live block of this library's device memory.
fn kind_of_others(runtime: &Runtime, start: usize, bytes: usize, what: &str) -> Result<MemoryKind> {
    if start == 0 {
        return Err(null(bytes, what));
    }
    let end = start.checked_add(bytes).ok_or_else(|| too_far(start, bytes, what))?;
    match host_memory::look_up(start) {
        PinnedAddress::Held(available) if bytes <= available => return Ok(MemoryKind::Pinned),
        PinnedAddress::Held(_) => return Err(too_far(start, bytes, what)),
        PinnedAddress::Freed => return Err(freed(start, what)),
        PinnedAddress::Nothing => {}
    }
    let info = runtime.driver().pointer_info(start)?;
    let kind = match info.kind {
        PointerKind::Unregistered => {
            runtime.driver().address_passed(start)?;
            return Ok(MemoryKind::Ordinary);
        }
        PointerKind::PinnedHost => MemoryKind::Pinned,
        PointerKind::Device(device) => MemoryKind::Device(device),
        PointerKind::Managed => MemoryKind::Managed(device::current_of_thread(runtime)?),
    };
    if reach::extends_to(runtime.driver(), &info, end)? {
        Ok(kind)
    } else {
        Err(too_far(start, bytes, what))
    }
}

/// Refuses memory of a device that a caller has passed as memory of the host, which the calling thread is going to
/// read or write. Opens no backend: without one there is no such memory. A driver that does not answer does not keep
/// the host's memory from being used.
pub fn refuse_device_memory(address: usize, what: &str) -> Result<()> {
    let Some(runtime) = opened() else { return Ok(()) };
    // The driver knows nothing of a block that sleeps.
    let device = memory::block_at(address).map(|(device, _)| device);
    let kind = match device {
        Some(device) => Some(PointerKind::Device(device)),
        None => runtime.driver().pointer_info(address).ok().map(|info| info.kind),
    };
    match kind {
        Some(PointerKind::Device(device)) => Err(no_host_memory(address, device, what)),
        Some(PointerKind::Unregistered) => runtime.driver().address_passed(address),
        Some(PointerKind::PinnedHost | PointerKind::Managed) | None => Ok(()),
    }
}

#[cold]
fn no_host_memory(address: usize, device: DeviceIndex, what: &str) -> Error {
    Error::invalid_argument(format!(
        "{what} {address:#x} is memory of device {device}, but memory of the host is expected here, which the processor \
         can access; name that device, or copy the bytes to the host first"
    ))
}

/// A block that ends too early, or sleeps.
#[cold]
fn out_of_reach(start: usize, bytes: usize, what: &str) -> Error {
    memory::sleep::refusal(start, what).unwrap_or_else(|| too_far(start, bytes, what))
}

#[cold]
fn freed(start: usize, what: &str) -> Error {
    Error::invalid_argument(format!(
        "{what} {start:#x} is pinned memory that was freed; keep it until the call that uses it has returned"
    ))
}

#[cold]
pub fn null(bytes: usize, what: &str) -> Error {
    Error::invalid_argument(format!(
        "{what} is NULL, but the size is {}; pass the address of that memory, or a size of 0",
        counted(bytes)
    ))
}

#[cold]
pub fn too_far(start: usize, bytes: usize, what: &str) -> Error {
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
    fn refusals_name_the_size_of_the_range() {
        let words = [null(1, "src"), null(2, "src"), too_far(16, 1, "dst")];
        assert!(words[0].message().starts_with("src is NULL, but the size is 1 byte; pass"));
        assert!(words[1].message().contains("2 bytes; pass the address"));
        assert!(words[2].message().ends_with("less than 1 byte from there on"));
    }
}
