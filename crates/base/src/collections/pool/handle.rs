//! Handles of the objects in a pool: the number of a place, and the generation of the object in it.
//!
//! A handle is `generation << 32 | kind << 26 | number of the place`, packed as those of a slab are, whose chunk stands
//! where the kind stands here ([`handle_kind`](crate::collections::handle_kind)). It is never an address: any number may
//! be passed. Whether the object of that generation is alive, the place must tell.

use super::MOST_PLACES;
use crate::collections::handle_kind::{CHUNKS, HandleKind, PLACE_BITS};
use crate::collections::slab::Key;

/// What a pool's objects are. A handle of one kind is never taken for one of another, nor for one of a slab: no slab
/// has as many chunks.
#[derive(Clone, Copy)]
pub enum PlaceKind {
    /// An event.
    Event = HandleKind::Event as isize,
    /// A tensor.
    Tensor = HandleKind::Tensor as isize,
}

const _: () = assert!(
    CHUNKS <= PlaceKind::Event as usize && (PlaceKind::Tensor as usize) < 1 << (32 - PLACE_BITS)
);
const _: () = assert!(MOST_PLACES <= 1 << PLACE_BITS);

/// The bits of a handle that have its kind.
const KIND: u64 = 0x3f << PLACE_BITS;

impl PlaceKind {
    #[inline]
    const fn bits(self) -> u64 {
        (self as u64) << PLACE_BITS
    }

    /// The handle of an object.
    #[inline]
    pub fn key(self, number: u32, generation: u32) -> Key {
        Key::from_bits(u64::from(generation) << 32 | self.bits() | u64::from(number))
    }

    /// The number of the place that a handle names, and the generation that its object has while the handle is alive;
    /// `None` for handles of other kinds. Masks, not the parts that a slab takes a handle to: that is two instructions
    /// less in each call with a handle.
    #[inline]
    pub fn place(self, key: Key) -> Option<(u32, u32)> {
        let bits = key.bits();
        if bits & KIND != self.bits() {
            return None;
        }
        Some((bits as u32 & ((1 << PLACE_BITS) - 1), (bits >> 32) as u32))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_handle_has_its_place_and_generation_and_is_of_one_kind() {
        for (number, generation) in [(0, 1), (1, 0), (MOST_PLACES as u32 - 1, u32::MAX)] {
            let key = PlaceKind::Event.key(number, generation);
            assert_eq!(PlaceKind::Event.place(key), Some((number, generation)));
            assert_eq!(PlaceKind::Tensor.place(key), None);
            assert_eq!(HandleKind::of(key.bits()), Some(HandleKind::Event));
            let key = PlaceKind::Tensor.key(number, generation);
            assert_eq!(PlaceKind::Tensor.place(key), Some((number, generation)));
            assert_eq!(PlaceKind::Event.place(key), None);
            assert_eq!(HandleKind::of(key.bits()), Some(HandleKind::Tensor));
        }
    }

    #[test]
    fn handles_of_a_slab_are_of_no_kind() {
        for bits in [0, 1, u64::from(u32::MAX) << 32, (CHUNKS as u64 - 1) << PLACE_BITS] {
            let key = Key::from_bits(bits);
            assert!(
                PlaceKind::Event.place(key).is_none() && PlaceKind::Tensor.place(key).is_none()
            );
        }
    }
}
