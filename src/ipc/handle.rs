//! The 64 bytes, and the name of the door that belongs to them.
//!
//! Of a segment they are the driver's. Of virtual memory, for which drivers have none, they are made
//! here: a magic word, a version, a random number, the size, and the device.

use crate::driver::IpcHandle;
use crate::entropy::random_bytes;
use crate::error::{Error, Result};

const MAGIC: [u8; 12] = *b"sconce-vmem\0";
const VERSION: u32 = 1;
/// Magic and version, random number, bytes, device.
const USED: usize = 16 + 16 + 8 + 16;

/// A handle of virtual memory, for the first time.
pub(super) fn of_virtual_memory(bytes: u64, uuid: [u8; 16]) -> Result<IpcHandle> {
    let random = random_bytes::<16>()?;
    let mut handle = [0; 64];
    let fields: [&[u8]; 5] = [&MAGIC, &VERSION.to_le_bytes(), &random, &bytes.to_le_bytes(), &uuid];
    for (place, byte) in handle.iter_mut().zip(fields.concat()) {
        *place = byte;
    }
    Ok(IpcHandle(handle))
}

/// Whether a handle is one of virtual memory; an error when it begins as one and is none.
pub(super) fn is_of_virtual_memory(handle: &IpcHandle) -> Result<bool> {
    let (magic, rest) = handle.0.split_at(MAGIC.len());
    if magic != MAGIC {
        return Ok(false);
    }
    let (version, _) = rest.split_at(4);
    if version != VERSION.to_le_bytes() {
        return Err(Error::invalid_argument(
            "handle was made by another version of this library; both processes must use the same",
        ));
    }
    if handle.0[32..40] == [0; 8] || handle.0[USED..].iter().any(|byte| *byte != 0) {
        return Err(Error::invalid_argument(
            "handle is damaged; pass all 64 bytes that sconce_ipc_get_memory_handle gave",
        ));
    }
    Ok(true)
}

/// The name of the door, in the abstract namespace: the bytes in letters, as whole bytes would not
/// be fit to print and two digits a byte would not fit the name.
pub(super) fn door_name(handle: &IpcHandle) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut name = b"sconce-ipc-".to_vec();
    for three in handle.0.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - three.len()));
        for letter in 0..=three.len() {
            name.push(LETTERS[(bits >> (18 - 6 * letter)) as usize & 63]);
        }
    }
    name
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::Status;

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
        assert_eq!(made.0[USED..], [0; 64 - USED]);
        assert_eq!(is_of_virtual_memory(&IpcHandle([0; 64])), Ok(false));
    }

    #[test]
    fn damaged_handles_of_virtual_memory_are_refused() {
        let made = of_virtual_memory(2 << 20, [7; 16]).unwrap();
        let damaged = |damage: fn(&mut [u8; 64])| {
            let mut handle = made;
            damage(&mut handle.0);
            is_of_virtual_memory(&handle).unwrap_err().status()
        };
        assert_eq!(damaged(|bytes| bytes[12] = 9), Status::InvalidArgument);
        assert_eq!(damaged(|bytes| bytes[63] = 1), Status::InvalidArgument);
        assert_eq!(damaged(|bytes| bytes[16..].fill(0)), Status::InvalidArgument);
    }
}
