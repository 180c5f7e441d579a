//! From an address to the live block that starts there.
//!
//! A radix tree over windows of 1 MiB. No two live blocks of the large pool start in one window,
//! since each is longer than a window: one word serves them. Blocks of the small pool have a word
//! for each 512 bytes of their window. Nodes are made at first need and stay.
//!
//! A word belongs to the block's stream: it is published and withdrawn under the stream's lock. Any
//! thread may read it, and claim the block for a free.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use once_cell::race::OnceBox;

use super::numbers::NUMBER_BITS;
use super::size_class::PoolKind;

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

struct Window {
    /// The large block that starts here: its unit above its word.
    large: AtomicU64,
    small: OnceBox<Leaf>,
}

struct Leaf([AtomicU32; UNITS]);

struct Node([Window; 1 << NODE_BITS]);

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
    Small(&'static AtomicU32),
    Large(&'static AtomicU64),
}

#[inline]
fn window(address: u64) -> Option<&'static Window> {
    let window = address >> WINDOW_BITS;
    let node = ROOT.get((window >> NODE_BITS) as usize)?.get()?;
    Some(&node.0[window as usize & ((1 << NODE_BITS) - 1)])
}

#[inline]
fn unit(address: u64) -> usize {
    (address >> UNIT_BITS) as usize & (UNITS - 1)
}

/// The word of a live block that starts at the address.
#[inline]
fn find(address: u64) -> Option<(Place, u32)> {
    if address & ((1 << UNIT_BITS) - 1) != 0 {
        return None;
    }
    let window = window(address)?;
    if let Some(leaf) = window.small.get() {
        let place = &leaf.0[unit(address)];
        let word = place.load(Ordering::Acquire);
        if word != 0 {
            return Some((Place::Small(place), word));
        }
    }
    let word = window.large.load(Ordering::Acquire);
    (word as u32 != 0 && (word >> 32) as usize == unit(address))
        .then_some((Place::Large(&window.large), word as u32))
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
            Place::Small(place) => {
                place.compare_exchange(word, word | CLAIMED, success, failure).is_ok()
            }
            Place::Large(place) => {
                let whole = (unit(address) as u64) << 32 | u64::from(word);
                place.compare_exchange(whole, whole | u64::from(CLAIMED), success, failure).is_ok()
            }
        };
    Some(if won { Ok(entry) } else { Err(entry) })
}

/// Enters a block. Its stream's lock is held.
#[inline]
pub(super) fn publish(address: u64, kind: PoolKind, number: u32) {
    let window = match window(address) {
        Some(window) => window,
        None => make_window(address),
    };
    let word = LIVE | number;
    match kind {
        PoolKind::Small => {
            let leaf = match window.small.get() {
                Some(leaf) => leaf,
                None => make_leaf(window),
            };
            leaf.0[unit(address)].store(word, Ordering::Release);
        }
        PoolKind::Large => {
            let unit = (unit(address) as u64) << 32;
            window.large.store(unit | u64::from(word), Ordering::Release);
        }
    }
}

/// Notes that other streams use the block. Its stream's lock is held.
pub(super) fn mark_used_elsewhere(address: u64) {
    match find(address) {
        Some((Place::Small(word), _)) => word.fetch_or(USED_ELSEWHERE, Ordering::AcqRel),
        Some((Place::Large(word), _)) => {
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
        Place::Small(place) => place.store(0, Ordering::Release),
        Place::Large(place) => place.store(0, Ordering::Release),
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
        Box::new(Node(std::array::from_fn(|_| Window {
            large: AtomicU64::new(0),
            small: OnceBox::new(),
        })))
    });
    &node.0[window as usize & ((1 << NODE_BITS) - 1)]
}

#[cold]
#[inline(never)]
fn make_leaf(window: &'static Window) -> &'static Leaf {
    window.small.get_or_init(|| Box::new(Leaf(std::array::from_fn(|_| AtomicU32::new(0)))))
}
