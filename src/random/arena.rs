//! Device memory for the places of captured generators: 16 bytes at a time, zero at first.
//!
//! A capture must not wait for each fill's memory, so there is a store. A graph may be replayed at any
//! time and nobody tells when it is gone; what has been handed out therefore stays as long as the
//! process. A captured fill costs 16 bytes.

use crate::lock::Mutex;

use crate::types::DevicePtr;

/// Bytes of a place: two 64-bit numbers.
const PLACE_BYTES: u64 = 16;
/// Bytes that are asked of the device at once.
pub(super) const CHUNK_BYTES: u64 = 256 << 10;
/// With less than this left it is time for another chunk.
const LOW_BYTES: u64 = CHUNK_BYTES / 4;

/// The store of one device.
pub(super) struct Arena {
    left: Mutex<Left>,
}

struct Left {
    next: DevicePtr,
    bytes: u64,
}

impl Arena {
    pub(super) const fn new() -> Arena {
        Arena { left: Mutex::new(Left { next: DevicePtr(0), bytes: 0 }) }
    }

    /// A place that holds two zeros and belongs to nobody; `None` when the store is empty.
    pub(super) fn take(&self) -> Option<DevicePtr> {
        let mut left = self.left.lock();
        let bytes = left.bytes.checked_sub(PLACE_BYTES)?;
        let place = left.next;
        *left = Left { next: place.offset(PLACE_BYTES), bytes };
        Some(place)
    }

    /// Whether there is nothing left.
    pub(super) fn is_empty(&self) -> bool {
        self.left.lock().bytes < PLACE_BYTES
    }

    /// Whether it is time for another chunk.
    pub(super) fn is_low(&self) -> bool {
        self.left.lock().bytes < LOW_BYTES
    }

    /// Adds a chunk of zeros. What little was left of the last one is given up.
    pub(super) fn add(&self, chunk: DevicePtr) {
        *self.left.lock() = Left { next: chunk, bytes: CHUNK_BYTES };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap_and_end() {
        let arena = Arena::new();
        assert!(arena.is_low() && arena.is_empty() && arena.take().is_none());
        arena.add(DevicePtr(0x1000));
        let mut places = 0;
        while let Some(place) = arena.take() {
            assert_eq!(place, DevicePtr(0x1000 + places * PLACE_BYTES));
            places += 1;
            assert_eq!(arena.is_empty(), places * PLACE_BYTES == CHUNK_BYTES);
            assert_eq!(arena.is_low(), CHUNK_BYTES - places * PLACE_BYTES < LOW_BYTES);
        }
        assert_eq!(places * PLACE_BYTES, CHUNK_BYTES);
    }
}
