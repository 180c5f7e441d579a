//! Memory and events shared with other processes, by the 64 bytes that name them.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `ipc_memory_export` | pointer inside memory of `memory_alloc` | a handle of the whole allocation | no |
//! | `ipc_memory_open`, `ipc_memory_close` | handle of another process, whose memory is alive; close: pointer from open | the memory of the other process at an address of this one; closing ends that | closing waits for the device where the driver does |
//! | `ipc_event_export`, `ipc_event_open` | event made with `interprocess`; the handle is another process's | an event of this process that shares the records | no |
//!
//! By default every method is `NotSupported`.

use std::fmt;

use sconce_base::error::Result;
use sconce_base::sha256;
use sconce_base::types::{DeviceIndex, DevicePtr};

use super::{EventHandle, lacks};

/// A handle of memory or of an event for other processes. A driver makes it; the handles that this
/// library makes itself carry a checksum ([`IpcHandle::sealed`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IpcHandle(pub [u8; 64]);

impl IpcHandle {
    /// Bytes of content in a handle that carries a checksum.
    pub const CONTENT_BYTES: usize = 56;

    /// A handle of this content and a checksum of it. No byte is left over, so any damage is found.
    pub fn sealed(content: &[u8; IpcHandle::CONTENT_BYTES]) -> IpcHandle {
        let mut handle = [0; 64];
        let (place, checksum) = handle.split_at_mut(IpcHandle::CONTENT_BYTES);
        place.copy_from_slice(content);
        checksum.copy_from_slice(&sha256::digest(content)[..8]);
        IpcHandle(handle)
    }

    /// The content of a handle that `sealed` made; `None` if any of the 64 bytes differs.
    pub fn content(&self) -> Option<[u8; IpcHandle::CONTENT_BYTES]> {
        let content = self.0.first_chunk()?;
        (IpcHandle::sealed(content) == *self).then_some(*content)
    }
}

impl fmt::Debug for IpcHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.0;
        write!(f, "IpcHandle({a:02x}{b:02x}{c:02x}{d:02x}…)")
    }
}

/// What a driver shares with other processes.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Ipc: Send + Sync {
    /// A handle by which another process can open the allocation that holds `ptr`.
    fn ipc_memory_export(&self, ptr: DevicePtr) -> Result<IpcHandle> {
        lacks("ipc_memory_export", "memory shared between processes")
    }
    /// Opens another process's allocation.
    fn ipc_memory_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<DevicePtr> {
        lacks("ipc_memory_open", "memory shared between processes")
    }
    /// Closes an allocation that `ipc_memory_open` opened.
    fn ipc_memory_close(&self, ptr: DevicePtr) -> Result<()> {
        lacks("ipc_memory_close", "memory shared between processes")
    }
    /// A handle by which another process can open an event made with `interprocess`.
    fn ipc_event_export(&self, event: EventHandle) -> Result<IpcHandle> {
        lacks("ipc_event_export", "events shared between processes")
    }
    /// Opens another process's event.
    fn ipc_event_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<EventHandle> {
        lacks("ipc_event_open", "events shared between processes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_of_a_sealed_handle_is_found() {
        let content = std::array::from_fn(|i| i as u8);
        let handle = IpcHandle::sealed(&content);
        assert_eq!(handle.content(), Some(content));
        for bit in 0..512 {
            let mut damaged = handle;
            damaged.0[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(damaged.content(), None, "bit {bit}");
        }
    }
}
