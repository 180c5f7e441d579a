//! Opaque handles that survive misuse: an index and a generation, checked at every use.
//!
//! A handle is never an address. Looking one up reads only memory of the slab, whatever number a
//! caller passes, and a handle whose object has been removed no longer matches its slot's
//! generation. Slots are reused but never freed, so a reference to a slot's value lives for ever;
//! values therefore hold their state in cells, and the thread that removes one resets it.
//!
//! A handle is `generation << 32 | chunk << 26 | place in the chunk`; generations of live slots are
//! odd, so no handle is 0.

use crate::lock::{Mutex, OnceCell, rank};
use std::sync::atomic::{AtomicU32, Ordering};

const FIRST_CHUNK: usize = 64;
pub(super) const CHUNKS: usize = 20;
pub(super) const PLACE_BITS: u32 = 26;
const _: () = assert!(FIRST_CHUNK << (CHUNKS - 1) <= 1 << PLACE_BITS);

struct Slot<T> {
    generation: AtomicU32,
    value: T,
}

/// A growing table of reusable values.
pub struct Slab<T: 'static> {
    chunks: [OnceCell<rank::SlabChunk, Box<[Slot<T>]>>; CHUNKS],
    free: Mutex<rank::SlabFree, FreeList>,
}

struct FreeList {
    places: Vec<(usize, usize)>,
    slots: usize,
}

/// A handle, as it crosses the C boundary. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key(u64);

impl Key {
    /// The handle with a number from the C API; any number is allowed.
    #[inline]
    pub fn from_bits(bits: u64) -> Key {
        Key(bits)
    }

    /// The number for the C API.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0
    }

    fn new((chunk, place): (usize, usize), generation: u32) -> Key {
        Key(u64::from(generation) << 32 | (chunk as u64) << PLACE_BITS | place as u64)
    }

    /// The chunk and the place in it; every number decodes to some pair.
    fn place(self) -> (usize, usize) {
        let low = self.0 as u32;
        ((low >> PLACE_BITS) as usize, (low & ((1 << PLACE_BITS) - 1)) as usize)
    }

    /// The generation that the slot has while this handle is alive.
    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// A value found by a live handle.
pub struct Live<'a, T> {
    slot: &'a Slot<T>,
    generation: u32,
}

impl<T> Live<'_, T> {
    /// True if the handle is still alive; callers ask after they have used the value.
    #[inline]
    pub fn still(&self) -> bool {
        self.slot.generation.load(Ordering::Acquire) == self.generation
    }
}

impl<T> std::ops::Deref for Live<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.slot.value
    }
}

/// The chunk of the n-th slot, and its place there. Chunk `c` holds `FIRST_CHUNK << c` slots.
fn locate(index: usize) -> (usize, usize) {
    let shifted = index + FIRST_CHUNK;
    let chunk = (shifted / FIRST_CHUNK).ilog2() as usize;
    (chunk, shifted - (FIRST_CHUNK << chunk))
}

impl<T: Default> Slab<T> {
    pub const fn new() -> Self {
        Slab {
            chunks: [const { OnceCell::new() }; CHUNKS],
            free: Mutex::new(FreeList { places: Vec::new(), slots: 0 }),
        }
    }

    #[inline]
    fn slot(&self, (chunk, place): (usize, usize)) -> Option<&Slot<T>> {
        self.chunks.get(chunk)?.get()?.get(place)
    }

    /// The value behind a live handle.
    #[inline]
    pub fn get(&self, key: Key) -> Option<Live<'_, T>> {
        let slot = self.slot(key.place())?;
        let generation = slot.generation.load(Ordering::Acquire);
        (generation == key.generation() && generation & 1 == 1).then_some(Live { slot, generation })
    }

    /// Takes a slot. Its value is the `Default`, or as the last removal left it. `None` if the
    /// table is full (67 million live handles).
    pub fn insert(&self) -> Option<(Key, &T)> {
        let place = {
            let mut free = self.free.lock();
            match free.places.pop() {
                Some(place) => place,
                None => {
                    let (chunk, place) = locate(free.slots);
                    self.chunks.get(chunk)?.get_or_init(|| {
                        (0..FIRST_CHUNK << chunk)
                            .map(|_| Slot { generation: AtomicU32::new(0), value: T::default() })
                            .collect()
                    });
                    free.slots += 1;
                    (chunk, place)
                }
            }
        };
        let slot = self.slot(place)?;
        // Only the thread that has taken a free place changes an even generation.
        let generation = slot.generation.load(Ordering::Relaxed).wrapping_add(1);
        slot.generation.store(generation, Ordering::Release);
        Some((Key::new(place, generation), &slot.value))
    }

    /// Ends a handle. Of several concurrent callers one gets `true`, and runs `reset` before the
    /// slot can be taken again.
    pub fn remove(&self, key: Key, reset: impl FnOnce(&T)) -> bool {
        let Some(slot) = self.slot(key.place()) else { return false };
        let generation = key.generation();
        if generation & 1 == 0
            || slot
                .generation
                .compare_exchange(
                    generation,
                    generation.wrapping_add(1),
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                )
                .is_err()
        {
            return false;
        }
        reset(&slot.value);
        self.free.lock().places.push(key.place());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicI32;

    #[test]
    fn handles_die_with_their_object_and_slots_are_reused() {
        let slab: Slab<AtomicI32> = Slab::new();
        let (first, value) = slab.insert().unwrap();
        value.store(5, Ordering::Relaxed);
        assert_eq!(slab.get(first).unwrap().load(Ordering::Relaxed), 5);
        assert!(slab.remove(first, |value| value.store(0, Ordering::Relaxed)));
        assert!(slab.get(first).is_none());
        assert!(!slab.remove(first, |_| panic!("a dead handle resets nothing")));
        let (second, value) = slab.insert().unwrap();
        assert_ne!(first, second);
        assert_eq!(first.place(), second.place());
        assert_eq!(value.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn any_number_may_be_asked_about() {
        let slab: Slab<AtomicI32> = Slab::new();
        let (live, _) = slab.insert().unwrap();
        for bits in [0, 1, 2, u64::MAX, u64::from(u32::MAX), 2 << 32, live.bits() + 1, !live.bits()]
        {
            assert!(slab.get(Key::from_bits(bits)).is_none(), "{bits:#x}");
            assert!(!slab.remove(Key::from_bits(bits), |_| ()), "{bits:#x}");
        }
        assert!(slab.get(live).is_some());
    }

    #[test]
    fn indices_fill_the_chunks_without_gaps() {
        let mut expected = (0, 0);
        for index in 0..5000 {
            assert_eq!(locate(index), expected);
            expected.1 += 1;
            if expected.1 == FIRST_CHUNK << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn threads_never_share_a_handle_and_one_remover_wins() {
        let rounds = if cfg!(miri) { 20 } else { 2000 };
        let slab: Slab<AtomicI32> = Slab::new();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let (key, value) = slab.insert().unwrap();
                        assert_eq!(value.fetch_add(1, Ordering::Relaxed), 0);
                        assert!(slab.remove(key, |value| {
                            assert_eq!(value.fetch_sub(1, Ordering::Relaxed), 1);
                        }));
                    }
                });
            }
        });
        let (key, _) = slab.insert().unwrap();
        let wins = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| slab.remove(key, |_| ()))).collect();
            threads.into_iter().map(|t| t.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(wins, 1);
    }
}
