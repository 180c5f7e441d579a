//! From an address to the live block that starts there.
//!
//! A radix tree over windows of 1 MiB. A window is a cache line: it names up to seven blocks itself.
//! Where more start in it, a leaf has a word for each 512 bytes. So a few large blocks cost a line
//! each and many small ones are found at once. Nodes and leaves are made at first need and stay.
//!
//! A word belongs to the block's stream: it is published and withdrawn under the stream's lock. Any
//! thread may read it, and claim the block for a free.

use once_cell::race::OnceBox;
use sconce_base::sync::prefetch_to_write;

use super::entry::{EntryContent, MapEntry, UNIT_NUMBER_BITS};

/// Bits of an address below its window's number, and within a 512-byte unit.
const WINDOW_BITS: u32 = 20;
const UNIT_BITS: u32 = 9;
const UNITS: usize = 1 << UNIT_NUMBER_BITS;
const _: () = assert!(UNIT_NUMBER_BITS == WINDOW_BITS - UNIT_BITS);
/// Windows of a node: 8 GiB.
const NODE_BITS: u32 = 13;
/// Addresses the map can hold.
const ADDRESS_BITS: u32 = 52;
const NODES: usize = 1 << (ADDRESS_BITS - WINDOW_BITS - NODE_BITS);
/// Slots of a window: with the link to a leaf they fill a cache line.
const SLOTS: usize = 7;

/// 1 MiB of addresses.
#[repr(align(64))]
struct MapWindow {
    /// Blocks that start here: each in the slot of its seventh of the window, or in any other.
    slots: [MapEntry; SLOTS],
    /// There once the slots have overflowed.
    leaf: OnceBox<MapLeaf>,
}

type MapLeaf = [MapEntry; UNITS];
type MapNode = [MapWindow; 1 << NODE_BITS];

static ROOT: [OnceBox<MapNode>; NODES] = [const { OnceBox::new() }; NODES];

#[inline]
fn window(address: u64) -> Option<&'static MapWindow> {
    let window = address >> WINDOW_BITS;
    let node = ROOT.get((window >> NODE_BITS) as usize)?.get()?;
    Some(&node[window as usize & ((1 << NODE_BITS) - 1)])
}

/// Which 512 bytes of its window an address is in.
#[inline]
fn unit(address: u64) -> u32 {
    (address >> UNIT_BITS) as u32 & (UNITS as u32 - 1)
}

/// The word of a live block that starts at the address.
#[inline(always)]
pub(crate) fn find(address: u64) -> Option<(&'static MapEntry, EntryContent)> {
    find_where_read(address, |_| ())
}

/// [`find`] for a thread that is about to change the word: if another core has changed it, it comes over once, to be
/// read and written.
#[inline(always)]
pub(crate) fn find_to_change(address: u64) -> Option<(&'static MapEntry, EntryContent)> {
    find_where_read(address, prefetch_to_write)
}

#[inline(always)]
fn find_where_read(
    address: u64,
    about_to_read: impl Fn(&MapEntry),
) -> Option<(&'static MapEntry, EntryContent)> {
    if address & ((1 << UNIT_BITS) - 1) != 0 {
        return None;
    }
    let window = window(address)?;
    let unit = unit(address);
    let word = window.first_word(unit);
    about_to_read(word);
    let content = word.load();
    if content.is_at(unit) {
        return Some((word, content));
    }
    window.slots.iter().map(|word| (word, word.load())).find(|(_, content)| content.is_at(unit))
}

/// The live block that starts at the address.
#[inline]
pub(crate) fn look_up(address: u64) -> Option<EntryContent> {
    find(address).map(|(_, content)| content)
}

/// The live block that begins nearest at or below an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nearest {
    /// It begins here.
    At(u64),
    /// None begins between the lowest address of the search and this one.
    None,
    /// None begins in the windows that were searched.
    TooFar,
}

/// How many windows [`nearest_below`] searches.
const MOST_WINDOWS: u64 = 64;

/// Searches for the nearest live block at or below an address, down to `lowest`. The result is exact if
/// that block is live during the whole search; blocks of others may come and go meanwhile.
pub(crate) fn nearest_below(address: u64, lowest: u64) -> Nearest {
    let (top, bottom) = (address >> WINDOW_BITS, lowest >> WINDOW_BITS);
    for number in (bottom..=top).rev() {
        if top - number == MOST_WINDOWS {
            return Nearest::TooFar;
        }
        let base = number << WINDOW_BITS;
        let Some(window) = window(base) else { continue };
        let most = if number == top { unit(address) } else { UNITS as u32 - 1 };
        if let Some(start) = window.highest(most).map(|unit| base + (u64::from(unit) << UNIT_BITS))
        {
            return if start < lowest { Nearest::None } else { Nearest::At(start) };
        }
    }
    Nearest::None
}

impl MapWindow {
    /// Where a block that starts in a unit most likely is: its word of the leaf, or the slot of its part of the
    /// window. Windows with leaves and without come in turn, so this is a choice and not a branch.
    #[inline(always)]
    fn first_word(&self, unit: u32) -> &MapEntry {
        let slot = &self.slots[unit as usize * SLOTS / UNITS % SLOTS];
        self.leaf.get().map_or(slot, |leaf| &leaf[unit as usize % UNITS])
    }

    /// The highest unit, up to `most`, in which a live block begins.
    fn highest(&self, most: u32) -> Option<u32> {
        let named = |word: &MapEntry| Some(word.load()).filter(|content| !content.is_empty());
        let in_slots = self.slots.iter().filter_map(named).map(EntryContent::unit);
        let in_leaf = self
            .leaf
            .get()
            .and_then(|leaf| leaf[..=most as usize].iter().rposition(|word| named(word).is_some()));
        in_slots.filter(|unit| *unit <= most).max().max(in_leaf.map(|unit| unit as u32))
    }
}

/// Whether a segment shares no window with another, and so with another stream.
pub(crate) fn fills_windows(address: u64, bytes: u64) -> bool {
    (address | bytes) & ((1 << WINDOW_BITS) - 1) == 0
}

/// Enters a block. Its stream's lock is held; `alone` says that no other stream's blocks are in its
/// window. Returns the entry, and what it holds.
#[inline(always)]
pub(crate) fn publish(address: u64, number: u32, alone: bool) -> (&'static MapEntry, EntryContent) {
    let window = match window(address) {
        Some(window) => window,
        None => make_window(address),
    };
    let unit = unit(address);
    let content = EntryContent::live(unit, number);
    let word = window.first_word(unit);
    if word.fill(content, alone) {
        return (word, content);
    }
    let word = match window.leaf.get() {
        Some(leaf) => &leaf[unit as usize],
        None => match window.slots.iter().find(|word| word.fill(content, alone)) {
            Some(word) => return (word, content),
            None => &make_leaf(window)[unit as usize],
        },
    };
    word.store(content);
    (word, content)
}

/// Notes that other streams use the block. Its stream's lock is held.
pub(crate) fn mark_used_elsewhere(address: u64) {
    if let Some((word, _)) = find(address) {
        word.mark_used_elsewhere();
    }
}

/// Takes a claimed block out, when it is this one, and returns what its word held. Its stream's lock is held.
#[inline]
pub(crate) fn withdraw_claimed(address: u64, number: u32) -> Option<EntryContent> {
    let (word, content) = find_to_change(address)?;
    let found = content.number() == number && content.is_claimed();
    found.then(|| {
        word.clear();
        content
    })
}

/// Whether the map reaches these addresses.
pub(crate) fn covers(address: u64, bytes: u64) -> bool {
    address.checked_add(bytes).is_some_and(|end| end <= 1 << ADDRESS_BITS)
}

#[cold]
#[inline(never)]
fn make_window(address: u64) -> &'static MapWindow {
    let window = address >> WINDOW_BITS;
    let node = ROOT[(window >> NODE_BITS) as usize & (NODES - 1)].get_or_init(|| {
        boxed(|| MapWindow {
            slots: std::array::from_fn(|_| MapEntry::new()),
            leaf: OnceBox::new(),
        })
    });
    &node[window as usize & ((1 << NODE_BITS) - 1)]
}

#[cold]
#[inline(never)]
fn make_leaf(window: &'static MapWindow) -> &'static MapLeaf {
    window.leaf.get_or_init(|| boxed(MapEntry::new))
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

    /// Takes out a block that no thread has claimed, if it is this one.
    fn withdraw(address: u64, number: u32) -> bool {
        let Some((word, content)) = find(address) else { return false };
        let found = content.number() == number && !content.is_claimed();
        if found {
            word.clear();
        }
        found
    }

    /// Addresses that no device of a test has.
    const BASE: u64 = 0x000f_0000_0000_0000;

    #[test]
    fn a_window_holds_as_many_blocks_as_fit() {
        let address = |i: u32| BASE + u64::from(i) * 512;
        for i in 0..2048 {
            publish(address(i), i, false);
        }
        for i in 0..2048 {
            assert_eq!(look_up(address(i)).map(EntryContent::number), Some(i));
            assert!(!withdraw(address(i), i + 1), "another block's number");
            assert!(withdraw(address(i), i));
            assert_eq!(look_up(address(i)), None);
        }
        publish(address(3), 9, false);
        assert_eq!(look_up(address(3)).map(EntryContent::number), Some(9));
        assert!(withdraw(address(3), 9));
    }

    #[test]
    fn a_block_is_claimed_once() {
        for (i, crowd) in [(1_u64, 0), (2, 9)] {
            let window = BASE + (i << WINDOW_BITS);
            for j in 0..crowd {
                publish(window + 512 + j * 512, j as u32, true);
            }
            let address = window + 0x8_0000;
            publish(address, 77, true);
            mark_used_elsewhere(address);
            let (word, seen) = find(address).unwrap();
            assert!(seen.number() == 77 && seen.is_used_elsewhere());
            assert!(withdraw_claimed(address, 77).is_none(), "no thread has claimed it");
            assert!(word.claim(seen, 5));
            assert!(!word.claim(seen, 6) && !word.claim(word.load(), 6));
            assert!(withdraw_claimed(address, 76).is_none(), "another block's number");
            assert_eq!(withdraw_claimed(address, 77).map(EntryContent::link), Some(5));
            assert!(find(address).is_none());
        }
    }

    #[test]
    fn any_address_may_be_asked_about() {
        for address in [0, 1, 512, BASE + 1, u64::MAX, u64::MAX - 511, 1 << 52, (1 << 52) - 512] {
            assert_eq!(look_up(address), None, "{address:#x}");
            assert!(find(address).is_none());
            assert!(!withdraw(address, 0));
        }
        assert!(covers((1 << 52) - 512, 512) && !covers((1 << 52) - 512, 513));
        assert!(!covers(u64::MAX, 2));
    }

    #[test]
    fn the_nearest_block_below_an_address_is_found() {
        let window = |i: u64| BASE + ((128 + i) << WINDOW_BITS);
        let lowest = window(0) + 4096;
        // In slots, in a leaf, and in both.
        for crowd in [0, 6, 7, 30] {
            let first = window(1) + 1024;
            for j in 0..crowd {
                publish(window(1) + 0x8_0000 + j * 512, j as u32, false);
            }
            publish(first, 99, false);
            let last = window(1) + 0x8_0000 + crowd.saturating_sub(1) * 512;
            let last = if crowd == 0 { first } else { last };
            for (address, found) in [
                (first - 1, Nearest::None),
                (first, Nearest::At(first)),
                (first + 511, Nearest::At(first)),
                (window(1) + 0x7_ffff, Nearest::At(first)),
                (last, Nearest::At(last)),
                (last + 513, Nearest::At(last)),
                (window(3), Nearest::At(last)),
                (window(64), Nearest::At(last)),
                (window(65), Nearest::TooFar),
            ] {
                assert_eq!(nearest_below(address, lowest), found, "{crowd} {address:#x}");
            }
            assert_eq!(nearest_below(window(1) + 0x7_0000, first + 512), Nearest::None);
            assert!(withdraw(first, 99));
            for j in 0..crowd {
                assert!(withdraw(window(1) + 0x8_0000 + j * 512, j as u32));
            }
            assert_eq!(nearest_below(window(3), lowest), Nearest::None);
        }
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
                        publish(address, i, false);
                        assert_eq!(look_up(address).map(EntryContent::number), Some(i));
                        assert!(withdraw(address, i));
                        assert_eq!(look_up(address), None);
                    }
                });
            }
        });
    }
}
