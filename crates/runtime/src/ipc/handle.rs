//! The handles of exported memory, and the names of the sockets that belong to them.
//!
//! The handle of a segment is the driver's. Drivers have none for virtual memory and blocks of pages, so
//! their handle is made here: a magic word, a version, a random number, the size, the device, and a checksum.

use sconce_base::entropy::random_bytes;
use sconce_base::error::{Error, Result};
use sconce_base::sha256;
use sconce_driver::IpcHandle;

const MAGIC: [u8; 12] = *b"sconce-vmem\0";
const VERSION: u32 = 3;

/// A new handle of virtual memory or of a block of pages.
pub(super) fn of_virtual_memory(bytes: u64, uuid: [u8; 16]) -> Result<IpcHandle> {
    let random = random_bytes::<16>()?;
    let mut content = [0; IpcHandle::CONTENT_BYTES];
    let fields: [&[u8]; 5] = [&MAGIC, &VERSION.to_le_bytes(), &random, &bytes.to_le_bytes(), &uuid];
    for (place, byte) in content.iter_mut().zip(fields.concat()) {
        *place = byte;
    }
    Ok(IpcHandle::sealed(&content))
}

/// Whether a handle is one of [`of_virtual_memory`]. An error if it begins like one but is damaged.
pub(super) fn is_of_virtual_memory(handle: &IpcHandle) -> Result<bool> {
    let (magic, rest) = handle.0.split_at(MAGIC.len());
    if magic != MAGIC {
        return Ok(false);
    }
    if handle.content().is_some() {
        if rest[..4] == VERSION.to_le_bytes() {
            return Ok(true);
        }
        return Err(Error::invalid_argument(
            "handle was made by another version of this library; both processes must use the same",
        ));
    }
    Err(Error::invalid_argument(
        "handle is damaged, or was made by another version of this library; pass all 64 bytes that \
         sconce_ipc_get_memory_handle returned",
    ))
}

/// The name of a handle's socket in the abstract namespace. Every user of the machine can list these names,
/// so the name is a digest, from which the handle cannot be derived.
pub(super) fn door_name(handle: &IpcHandle) -> Vec<u8> {
    format!("sconce-ipc-{}", sha256::hex(&handle.0)).into_bytes()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::error::Status;

    use super::*;

    #[test]
    fn names_are_short_and_differ_wherever_the_bytes_do() {
        let mut seen = std::collections::HashSet::from([door_name(&IpcHandle([0; 64]))]);
        for bit in 0..512 {
            let mut bytes = [0; 64];
            bytes[bit / 8] = 1 << (bit % 8);
            let name = door_name(&IpcHandle(bytes));
            assert!(name.len() <= 107 && name.iter().all(u8::is_ascii_graphic));
            assert!(seen.insert(name));
        }
    }

    #[test]
    fn handles_of_virtual_memory_differ_and_are_known_again() {
        let made = of_virtual_memory(2 << 20, [7; 16]).unwrap();
        assert_ne!(made, of_virtual_memory(2 << 20, [7; 16]).unwrap());
        assert_eq!(is_of_virtual_memory(&made), Ok(true));
        assert_eq!(is_of_virtual_memory(&IpcHandle([0; 64])), Ok(false));
    }

    #[test]
    fn damaged_handles_of_virtual_memory_are_refused() {
        let made = of_virtual_memory(2 << 20, [7; 16]).unwrap();
        for bit in 0..512 {
            let mut damaged = made;
            damaged.0[bit / 8] ^= 1 << (bit % 8);
            match is_of_virtual_memory(&damaged) {
                // Another kind of handle, which the driver refuses.
                Ok(is_virtual) => assert!(!is_virtual && bit < 8 * MAGIC.len()),
                Err(error) => assert_eq!(error.status(), Status::InvalidArgument),
            }
        }
        let mut content = made.content().unwrap();
        content[12] = 9;
        let error = is_of_virtual_memory(&IpcHandle::sealed(&content)).unwrap_err();
        assert!(error.message().contains("another version"), "{error}");
    }

    #[test]
    fn a_socket_name_shows_no_part_of_the_handle() {
        let made = of_virtual_memory(2 << 20, [7; 16]).unwrap();
        let name = String::from_utf8(door_name(&made)).unwrap();
        assert_eq!(name, format!("sconce-ipc-{}", sha256::hex(&made.0)));
    }
}
