//! Opaque handles that survive misuse: an index, a kind and a generation, checked at every use.
//!
//! A handle is never an address. Looking one up reads only memory of the slab, whatever number a
//! caller passes, and a handle whose object has been removed no longer matches its slot's
//! generation, nor does a handle of another kind of object. Slots are reused but never freed, so a
//! reference to a slot's value lives for ever; values therefore hold their state in cells, and the
//! thread that removes one resets it.
//!
//! A handle is `word << 32 | chunk << 26 | place in the chunk`, where the word is `generation << 6 | kind`
//! ([`handle_kind`](super::handle_kind)). Generations of live slots are odd, so no handle is 0. A slot whose
//! generations are used up is not used again, so no old handle becomes valid again.

use super::handle_kind::{CHUNKS, FIRST_CHUNK, HandleKind, NEXT_GENERATION, PLACE_BITS};
use crate::lock::{Mutex, OnceCell, rank};
use std::sync::atomic::{AtomicU32, Ordering};

struct Slot<T> {
    /// The generation and the kind.
    word: AtomicU32,
    value: T,
}

/// A growing table of reusable values.
pub struct Slab<T: 'static> {
    chunks: [OnceCell<rank::SlabChunk, Box<[Slot<T>]>>; CHUNKS],
    free: Mutex<rank::SlabFree, FreeList>,
    kind: HandleKind,
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

    fn new((chunk, place): (usize, usize), word: u32) -> Key {
        Key(u64::from(word) << 32 | (chunk as u64) << PLACE_BITS | place as u64)
    }

    /// The chunk and the place in it; every number decodes to some pair.
    fn place(self) -> (usize, usize) {
        let low = self.0 as u32;
        ((low >> PLACE_BITS) as usize, (low & ((1 << PLACE_BITS) - 1)) as usize)
    }

    /// The word that the slot has while this handle is alive.
    fn word(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Whether a slot with this word has a value: the generation is odd.
#[inline]
fn is_live(word: u32) -> bool {
    word & NEXT_GENERATION != 0
}

/// A value found by a live handle.
pub struct Live<'a, T> {
    slot: &'a Slot<T>,
    word: u32,
}

impl<T> Live<'_, T> {
    /// True if the handle is still alive; callers ask after they have used the value.
    #[inline]
    pub fn still(&self) -> bool {
        self.slot.word.load(Ordering::Acquire) == self.word
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
    /// A table of objects of a kind. No other table has the kind.
    pub const fn new(kind: HandleKind) -> Self {
        Slab {
            chunks: [const { OnceCell::new() }; CHUNKS],
            free: Mutex::new(FreeList { places: Vec::new(), slots: 0 }),
            kind,
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
        let word = slot.word.load(Ordering::Acquire);
        (word == key.word() && is_live(word)).then_some(Live { slot, word })
    }

    /// Takes a slot. Its value is the `Default`, or as the last removal left it. `None` if the
    /// table is full (67 million handles that are alive, or whose slots are used up).
    pub fn insert(&self) -> Option<(Key, &T)> {
        let place = {
            let mut free = self.free.lock();
            match free.places.pop() {
                Some(place) => place,
                None => {
                    let (chunk, place) = locate(free.slots);
                    self.chunks.get(chunk)?.get_or_init(|| {
                        (0..FIRST_CHUNK << chunk)
                            .map(|_| Slot {
                                word: AtomicU32::new(self.kind.first_word()),
                                value: T::default(),
                            })
                            .collect()
                    });
                    free.slots += 1;
                    (chunk, place)
                }
            }
        };
        let slot = self.slot(place)?;
        // Only the thread that has taken a free place changes an even generation.
        let word = slot.word.load(Ordering::Relaxed).wrapping_add(NEXT_GENERATION);
        slot.word.store(word, Ordering::Release);
        Some((Key::new(place, word), &slot.value))
    }

    /// Ends a handle. Of several concurrent callers one gets `true`, and runs `reset` before the
    /// slot can be taken again.
    pub fn remove(&self, key: Key, reset: impl FnOnce(&T)) -> bool {
        let Some(slot) = self.slot(key.place()) else { return false };
        let word = key.word();
        let ended = word.wrapping_add(NEXT_GENERATION);
        if !is_live(word)
            || slot.word.compare_exchange(word, ended, Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            return false;
        }
        reset(&slot.value);
        // After the last generation comes 0, which the slot keeps.
        if ended >= NEXT_GENERATION {
            self.free.lock().places.push(key.place());
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicI32;

    #[test]
    fn handles_die_with_their_object_and_slots_are_reused() {
        let slab: Slab<AtomicI32> = Slab::new(HandleKind::Graph);
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
        let slab: Slab<AtomicI32> = Slab::new(HandleKind::Graph);
        let (live, _) = slab.insert().unwrap();
        let others = [
            0,
            1,
            2,
            u64::MAX,
            u64::from(u32::MAX),
            2 << 32,
            live.bits() + 1,
            !live.bits(),
            // A free slot's word.
            u64::from(HandleKind::Graph.first_word()) << 32 | 1,
        ];
        for bits in others {
            assert!(slab.get(Key::from_bits(bits)).is_none(), "{bits:#x}");
            assert!(!slab.remove(Key::from_bits(bits), |_| ()), "{bits:#x}");
        }
        assert!(slab.get(live).is_some());
    }

    #[test]
    fn handles_of_other_kinds_are_not_found() {
        let graphs: Slab<AtomicI32> = Slab::new(HandleKind::Graph);
        let (graph, _) = graphs.insert().unwrap();
        assert_eq!(HandleKind::of(graph.bits()), Some(HandleKind::Graph));
        for kind in HandleKind::ALL.into_iter().filter(|kind| *kind != HandleKind::Graph) {
            let others: Slab<AtomicI32> = Slab::new(kind);
            let (other, _) = others.insert().unwrap();
            assert_eq!(
                (graph.place(), graph.word() ^ other.word()),
                (other.place(), 1 ^ kind as u32)
            );
            assert!(graphs.get(other).is_none() && others.get(graph).is_none(), "{kind:?}");
            assert!(!graphs.remove(other, |_| ()) && !others.remove(graph, |_| ()), "{kind:?}");
            assert!(graphs.get(graph).is_some() && others.get(other).is_some(), "{kind:?}");
        }
    }

    #[test]
    fn a_slot_whose_generations_are_used_up_is_not_used_again() {
        let slab: Slab<AtomicI32> = Slab::new(HandleKind::Graph);
        let (first, _) = slab.insert().unwrap();
        assert!(slab.remove(first, |_| ()));
        let last = u32::MAX << 6 | HandleKind::Graph.first_word();
        let slot = slab.slot(first.place()).unwrap();
        slot.word.store(last - NEXT_GENERATION, Ordering::Relaxed);
        let (key, _) = slab.insert().unwrap();
        assert_eq!((key.place(), key.word()), (first.place(), last));
        assert_eq!(HandleKind::of(key.bits()), Some(HandleKind::Graph));
        assert!(slab.get(key).is_some());
        assert!(slab.remove(key, |_| ()) && slab.get(key).is_none());
        let (next, _) = slab.insert().unwrap();
        assert_ne!(next.place(), first.place());
        assert!(slab.get(first).is_none() && !slab.remove(first, |_| ()));
        assert_eq!(slot.word.load(Ordering::Relaxed), HandleKind::Graph.first_word());
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
        let slab: Slab<AtomicI32> = Slab::new(HandleKind::Graph);
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
