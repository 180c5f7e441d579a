//! From an address to the live block that starts there.
//!
//! A radix tree over windows of 1 MiB. A window is a cache line: it names up to seven blocks itself.
//! Where more start in it, a leaf has a word for each 512 bytes. So a few large blocks cost a line
//! each and many small ones are found at once. Nodes and leaves are made at first need and stay.
//!
//! A word belongs to the block's stream: it is published and withdrawn under the stream's lock. Any
//! thread may read it, and claim the block for a free.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use once_cell::race::OnceBox;

use super::numbers::NUMBER_BITS;

/// Bits of an address below its window's number, and within a 512-byte unit.
const WINDOW_BITS: u32 = 20;
const UNIT_BITS: u32 = 9;
const UNITS: usize = 1 << (WINDOW_BITS - UNIT_BITS);
/// Windows of a node: 8 GiB.
const NODE_BITS: u32 = 13;
/// Addresses the map can hold.
const ADDRESS_BITS: u32 = 52;
const NODES: usize = 1 << (ADDRESS_BITS - WINDOW_BITS - NODE_BITS);

/// A word's flags, above the block's number.
const LIVE: u32 = 1 << 31;
/// Other streams use the block, so that freeing it needs its stream's lock.
const USED_ELSEWHERE: u32 = 1 << 30;
/// Another thread has freed it; its stream has yet to take it back.
const CLAIMED: u32 = 1 << 29;
const NUMBER: u32 = (1 << NUMBER_BITS) - 1;
const _: () = assert!(NUMBER & (LIVE | USED_ELSEWHERE | CLAIMED) == 0);

/// Slots of a window: with the link to a leaf they fill a cache line.
const SLOTS: usize = 7;

/// 1 MiB of addresses.
#[repr(align(64))]
struct Window {
    /// Blocks that start here: the unit above the word. Empty slots are 0.
    slots: [AtomicU64; SLOTS],
    /// There once the slots have overflowed.
    leaf: OnceBox<Leaf>,
}

type Leaf = [AtomicU32; UNITS];
type Node = [Window; 1 << NODE_BITS];

static ROOT: [OnceBox<Node>; NODES] = [const { OnceBox::new() }; NODES];

/// What the map knows about an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(u32);

impl Entry {
    /// The block's number.
    #[inline]
    pub(super) fn number(self) -> u32 {
        self.0 & NUMBER
    }

    /// Whether only the stream's lock will do to free it.
    #[inline]
    pub(super) fn is_used_elsewhere(self) -> bool {
        self.0 & USED_ELSEWHERE != 0
    }

    /// Whether another thread has freed it.
    #[inline]
    pub(super) fn is_claimed(self) -> bool {
        self.0 & CLAIMED != 0
    }
}

/// The word of an address.
#[derive(Clone, Copy)]
enum Place {
    Leaf(&'static AtomicU32),
    Slot(&'static AtomicU64),
}

#[inline]
fn window(address: u64) -> Option<&'static Window> {
    let window = address >> WINDOW_BITS;
    let node = ROOT.get((window >> NODE_BITS) as usize)?.get()?;
    Some(&node[window as usize & ((1 << NODE_BITS) - 1)])
}

#[inline]
fn unit(address: u64) -> usize {
    (address >> UNIT_BITS) as usize & (UNITS - 1)
}

/// A slot's content for a block.
#[inline]
fn slotted(address: u64, word: u32) -> u64 {
    (unit(address) as u64) << 32 | u64::from(word)
}

/// The word of a live block that starts at the address.
#[inline]
fn find(address: u64) -> Option<(Place, u32)> {
    if address & ((1 << UNIT_BITS) - 1) != 0 {
        return None;
    }
    let window = window(address)?;
    if let Some(leaf) = window.leaf.get() {
        let place = &leaf[unit(address)];
        let word = place.load(Ordering::Acquire);
        if word != 0 {
            return Some((Place::Leaf(place), word));
        }
    }
    window.slots.iter().find_map(|slot| {
        let content = slot.load(Ordering::Acquire);
        let here = (content >> 32) as usize == unit(address) && content as u32 != 0;
        here.then_some((Place::Slot(slot), content as u32))
    })
}

/// The live block that starts at the address.
#[inline]
pub(super) fn look_up(address: u64) -> Option<Entry> {
    find(address).map(|(_, word)| Entry(word))
}

/// Claims the block that starts at the address for a free; `Err` when another thread has.
#[inline]
pub(super) fn claim(address: u64) -> Option<Result<Entry, Entry>> {
    let (place, word) = find(address)?;
    let entry = Entry(word);
    let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
    let free = !entry.is_claimed();
    let won = free
        && match place {
            Place::Leaf(place) => {
                place.compare_exchange(word, word | CLAIMED, success, failure).is_ok()
            }
            Place::Slot(place) => {
                let (old, new) = (slotted(address, word), slotted(address, word | CLAIMED));
                place.compare_exchange(old, new, success, failure).is_ok()
            }
        };
    Some(if won { Ok(entry) } else { Err(entry) })
}

/// Enters a block. Its stream's lock is held.
#[inline]
pub(super) fn publish(address: u64, number: u32) {
    let window = match window(address) {
        Some(window) => window,
        None => make_window(address),
    };
    let word = LIVE | number;
    if let Some(leaf) = window.leaf.get() {
        return leaf[unit(address)].store(word, Ordering::Release);
    }
    let content = slotted(address, word);
    for slot in &window.slots {
        // Two segments, and so two streams, can meet in a window.
        if slot.load(Ordering::Relaxed) == 0
            && slot.compare_exchange(0, content, Ordering::Release, Ordering::Relaxed).is_ok()
        {
            return;
        }
    }
    make_leaf(window)[unit(address)].store(word, Ordering::Release);
}

/// Notes that other streams use the block. Its stream's lock is held.
pub(super) fn mark_used_elsewhere(address: u64) {
    match find(address) {
        Some((Place::Leaf(word), _)) => word.fetch_or(USED_ELSEWHERE, Ordering::AcqRel),
        Some((Place::Slot(word), _)) => {
            word.fetch_or(u64::from(USED_ELSEWHERE), Ordering::AcqRel) as u32
        }
        None => 0,
    };
}

/// Takes a block out, when it is this one, and claimed or not as the caller expects. Its stream's
/// lock is held.
#[inline]
pub(super) fn withdraw(address: u64, number: u32, claimed: bool) -> bool {
    let Some((place, word)) = find(address) else { return false };
    let entry = Entry(word);
    if entry.number() != number || entry.is_claimed() != claimed {
        return false;
    }
    match place {
        Place::Leaf(place) => place.store(0, Ordering::Release),
        Place::Slot(place) => place.store(0, Ordering::Release),
    }
    true
}

/// Whether the map reaches these addresses.
pub(super) fn covers(address: u64, bytes: u64) -> bool {
    address.checked_add(bytes).is_some_and(|end| end <= 1 << ADDRESS_BITS)
}

#[cold]
#[inline(never)]
fn make_window(address: u64) -> &'static Window {
    let window = address >> WINDOW_BITS;
    let node = ROOT[(window >> NODE_BITS) as usize & (NODES - 1)].get_or_init(|| {
        boxed(|| Window { slots: [const { AtomicU64::new(0) }; SLOTS], leaf: OnceBox::new() })
    });
    &node[window as usize & ((1 << NODE_BITS) - 1)]
}

#[cold]
#[inline(never)]
fn make_leaf(window: &'static Window) -> &'static Leaf {
    window.leaf.get_or_init(|| boxed(|| AtomicU32::new(0)))
}

/// An array made where it stays: it is too large for a thread's stack.
fn boxed<T, const N: usize>(make: impl Fn() -> T) -> Box<[T; N]> {
    let made: Box<[T]> = (0..N).map(|_| make()).collect();
    match made.try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("as long as it was made"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses that no device of a test has.
    const BASE: u64 = 0x000f_0000_0000_0000;

    #[test]
    fn a_window_holds_as_many_blocks_as_fit() {
        let address = |i: u32| BASE + u64::from(i) * 512;
        for i in 0..2048 {
            publish(address(i), i);
        }
        for i in 0..2048 {
            assert_eq!(look_up(address(i)).map(Entry::number), Some(i));
            assert!(!withdraw(address(i), i + 1, false), "another block's number");
            assert!(withdraw(address(i), i, false));
            assert_eq!(look_up(address(i)), None);
        }
        publish(address(3), 9);
        assert_eq!(look_up(address(3)).map(Entry::number), Some(9));
        assert!(withdraw(address(3), 9, false));
    }

    #[test]
    fn a_block_is_claimed_once() {
        for (i, crowd) in [(1_u64, 0), (2, 9)] {
            let window = BASE + (i << WINDOW_BITS);
            for j in 0..crowd {
                publish(window + 512 + j * 512, j as u32);
            }
            let address = window + 0x8_0000;
            publish(address, 77);
            mark_used_elsewhere(address);
            let claimed = claim(address).unwrap().unwrap();
            assert!(claimed.number() == 77 && claimed.is_used_elsewhere());
            assert!(claim(address).unwrap().is_err());
            assert!(!withdraw(address, 77, false), "claimed by another thread");
            assert!(withdraw(address, 77, true));
            assert!(claim(address).is_none());
        }
    }

    #[test]
    fn any_address_may_be_asked_about() {
        for address in [0, 1, 512, BASE + 1, u64::MAX, u64::MAX - 511, 1 << 52, (1 << 52) - 512] {
            assert_eq!(look_up(address), None, "{address:#x}");
            assert!(claim(address).is_none());
            assert!(!withdraw(address, 0, false));
        }
        assert!(covers((1 << 52) - 512, 512) && !covers((1 << 52) - 512, 513));
        assert!(!covers(u64::MAX, 2));
    }

    #[test]
    fn threads_meet_in_a_window() {
        let window = BASE + (64 << WINDOW_BITS);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                scope.spawn(move || {
                    for round in 0..2000_u32 {
                        let i = thread * 512 + round % 512;
                        let address = window + u64::from(i) * 512;
                        publish(address, i);
                        assert_eq!(look_up(address).map(Entry::number), Some(i));
                        assert!(withdraw(address, i, false));
                        assert_eq!(look_up(address), None);
                    }
                });
            }
        });
    }
}
