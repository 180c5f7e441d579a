//! The 64 bytes by which processes name each other's memory and events.

use std::fmt;

use crate::sha256;

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
