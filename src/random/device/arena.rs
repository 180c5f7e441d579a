//! Device memory for records and slots of captured generators: 16 bytes each, zero at first.
//!
//! The memory is allocated in advance, because a capture must not wait for each fill's memory. A graph may be
//! replayed at any time, and nothing reports its end, so memory that was handed out is never freed. A
//! captured fill costs 16 bytes.

use crate::lock::Mutex;

use crate::types::DevicePtr;

/// Bytes of a record or slot: two 64-bit numbers.
const PLACE_BYTES: u64 = 16;
/// Bytes that are allocated at once.
pub(super) const CHUNK_BYTES: u64 = 256 << 10;
/// With fewer bytes left another chunk is allocated.
const LOW_BYTES: u64 = CHUNK_BYTES / 4;

/// The memory of one device.
pub(super) struct Arena {
    left: Mutex<ArenaRest>,
}

struct ArenaRest {
    next: DevicePtr,
    bytes: u64,
}

impl Arena {
    pub(super) const fn new() -> Arena {
        Arena { left: Mutex::new(ArenaRest { next: DevicePtr(0), bytes: 0 }) }
    }

    /// Takes 16 bytes of zeros. Returns `None` if nothing is left.
    pub(super) fn take(&self) -> Option<DevicePtr> {
        let mut left = self.left.lock();
        let bytes = left.bytes.checked_sub(PLACE_BYTES)?;
        let place = left.next;
        *left = ArenaRest { next: place.offset(PLACE_BYTES), bytes };
        Some(place)
    }

    /// Whether there is nothing left.
    pub(super) fn is_empty(&self) -> bool {
        self.left.lock().bytes < PLACE_BYTES
    }

    /// Whether another chunk should be added.
    pub(super) fn is_low(&self) -> bool {
        self.left.lock().bytes < LOW_BYTES
    }

    /// Adds a chunk of zeros. The rest of the last chunk is not used.
    pub(super) fn add(&self, chunk: DevicePtr) {
        *self.left.lock() = ArenaRest { next: chunk, bytes: CHUNK_BYTES };
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
