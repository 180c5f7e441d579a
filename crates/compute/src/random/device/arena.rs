//! Device memory for the numbers that graphs draw from: places of 16 bytes.
//!
//! The memory is allocated in advance, because a capture must not wait for each fill's memory. A place comes back when
//! its graph is gone and the last launch is done.

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DevicePtr;

use super::host_pairs::{self, HostPair};
use super::newest_use::NewestUse;

/// Bytes of a place: two 64-bit numbers.
const PLACE_BYTES: u64 = 16;
/// Bytes that are allocated at once.
pub(in crate::random) const CHUNK_BYTES: u64 = 256 << 10;
/// With fewer fresh bytes left another chunk is allocated.
const LOW_BYTES: u64 = CHUNK_BYTES / 4;

/// The memory of one device.
pub(in crate::random) struct Arena {
    rest: Mutex<rank::GeneratorArena, ArenaRest>,
}

struct ArenaRest {
    /// Memory that was never used, which is zero.
    next: DevicePtr,
    bytes: u64,
    /// A place that stays zero.
    zero: Option<DevicePtr>,
    /// The zeroing of chunks that may not be done.
    zeroing: Vec<NewestUse>,
    /// Places that were used before.
    spare: Vec<DevicePtr>,
    /// Places that queued work may still use.
    retired: Vec<Retired>,
}

/// What nothing uses any more once its newest is past.
pub(in crate::random) struct Retired {
    pub(in crate::random) places: Vec<DevicePtr>,
    pub(in crate::random) pair: Option<&'static HostPair>,
    pub(in crate::random) newest: NewestUse,
}

impl ArenaRest {
    fn fresh(&mut self) -> Option<DevicePtr> {
        let bytes = self.bytes.checked_sub(PLACE_BYTES)?;
        let place = self.next;
        (self.next, self.bytes) = (place.offset(PLACE_BYTES), bytes);
        Some(place)
    }
}

impl Arena {
    pub(in crate::random) const fn new() -> Arena {
        Arena {
            rest: Mutex::new(ArenaRest {
                next: DevicePtr(0),
                bytes: 0,
                zero: None,
                zeroing: Vec::new(),
                spare: Vec::new(),
                retired: Vec::new(),
            }),
        }
    }

    /// Takes a place with any contents. Returns `None` if nothing is left.
    pub(in crate::random) fn take(&self) -> Option<DevicePtr> {
        let mut rest = self.rest.lock();
        rest.spare.pop().or_else(|| rest.fresh())
    }

    /// Takes a place that holds zeros once the zeroing is done. Returns `None` if no fresh memory is left.
    pub(in crate::random) fn take_zeros(&self) -> Option<DevicePtr> {
        self.rest.lock().fresh()
    }

    /// A place that holds zeros for ever, once the zeroing is done; `None` before the first chunk.
    pub(in crate::random) fn zero(&self) -> Option<DevicePtr> {
        self.rest.lock().zero
    }

    /// Calls `reach` for each zeroing that may not be done, without a lock; `Ok(true)`: it is.
    pub(in crate::random) fn reach_zeros(
        &self,
        mut reach: impl FnMut(&NewestUse) -> Result<bool>,
    ) -> Result<()> {
        let zeroing = {
            let rest = self.rest.lock();
            if rest.zeroing.is_empty() {
                return Ok(());
            }
            rest.zeroing.clone()
        };
        for newest in zeroing {
            if reach(&newest)? {
                self.rest.lock().zeroing.retain(|other| !other.is_same(&newest));
            }
        }
        Ok(())
    }

    /// Whether there is nothing left.
    pub(in crate::random) fn is_empty(&self) -> bool {
        let rest = self.rest.lock();
        rest.bytes < PLACE_BYTES && rest.spare.is_empty()
    }

    /// Whether another chunk should be added.
    pub(in crate::random) fn is_low(&self) -> bool {
        self.rest.lock().bytes < LOW_BYTES
    }

    /// Adds a chunk that is being zeroed. The fresh rest of the last chunk is not used.
    pub(in crate::random) fn add(&self, chunk: DevicePtr, zeroing: NewestUse) {
        let mut rest = self.rest.lock();
        (rest.next, rest.bytes) = (chunk, CHUNK_BYTES);
        rest.zeroing.push(zeroing);
        if rest.zero.is_none() {
            rest.zero = rest.fresh();
        }
    }

    /// Takes back what queued work may still use.
    pub(in crate::random) fn retire(&self, retired: Retired) {
        self.rest.lock().retired.push(retired);
    }

    /// Makes places spare whose uses are past. `is_past` is called without a lock.
    pub(in crate::random) fn collect(&self, is_past: impl Fn(&NewestUse) -> bool) {
        let retired = std::mem::take(&mut self.rest.lock().retired);
        if retired.is_empty() {
            return;
        }
        let (past, pending): (Vec<_>, Vec<_>) =
            retired.into_iter().partition(|retired| is_past(&retired.newest));
        {
            let mut rest = self.rest.lock();
            rest.retired.extend(pending);
            rest.spare.extend(past.iter().flat_map(|retired| &retired.places));
        }
        past.iter().filter_map(|retired| retired.pair).for_each(host_pairs::give_back_page_locked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap_and_end() {
        let arena = Arena::new();
        assert!(arena.is_low() && arena.is_empty() && arena.take().is_none());
        assert_eq!(arena.zero(), None);
        arena.add(DevicePtr(0x1000), NewestUse::default());
        assert_eq!(arena.zero(), Some(DevicePtr(0x1000)));
        let mut places = 1;
        while let Some(place) = arena.take() {
            assert_eq!(place, DevicePtr(0x1000 + places * PLACE_BYTES));
            places += 1;
            assert_eq!(arena.is_empty(), places * PLACE_BYTES == CHUNK_BYTES);
            assert_eq!(arena.is_low(), CHUNK_BYTES - places * PLACE_BYTES < LOW_BYTES);
        }
        assert_eq!(places * PLACE_BYTES, CHUNK_BYTES);
        arena.add(DevicePtr(0x80_0000), NewestUse::default());
        assert_eq!(arena.zero(), Some(DevicePtr(0x1000)), "it stays");
        assert_eq!(arena.take_zeros(), Some(DevicePtr(0x80_0000)));
    }

    #[test]
    fn retired_places_come_back_when_their_turn_is_past() {
        let arena = Arena::new();
        let place = DevicePtr(0x40);
        let retired =
            |place| Retired { places: vec![place], pair: None, newest: NewestUse::default() };
        arena.retire(retired(place));
        arena.collect(|_| false);
        assert_eq!(arena.take(), None);
        arena.collect(|_| true);
        assert_eq!(arena.take_zeros(), None, "it was written to");
        assert_eq!((arena.take(), arena.take()), (Some(place), None));
    }
}
