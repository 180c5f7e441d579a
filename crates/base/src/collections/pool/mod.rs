//! Places for objects that come and go often. Their memory is never unmapped, and each thread keeps some
//! free places for itself.
//!
//! A place is known by its number. Any number may be looked up at any time: what is found is the memory of
//! a place, whether it is in use or not, so the objects themselves must tell whether they are alive.
//!
//! Taking a place and giving it back touches only the calling thread's list of free places, without a
//! locked instruction. A list that is empty gets a batch from the shared list; one that is full gives a
//! batch to it. A place may be given back by another thread than the one that took it.

pub mod handle;
#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::Cell;

use crate::lock::rank;
use crate::sync::{AtomicU32, AtomicUsize, Mutex, OnceBox, OnceCell, Ordering};

/// How many places are made at once.
#[cfg(not(loom))]
const CHUNK: usize = 1 << 8;
#[cfg(loom)]
const CHUNK: usize = 1;
/// The table of chunks is never written where there are none, so the system gives it no memory there.
#[cfg(not(any(loom, miri)))]
const CHUNKS: usize = 1 << 18;
/// Miri looks at the whole table whenever a reference to it is made.
#[cfg(any(loom, miri))]
const CHUNKS: usize = 8;

/// How many free places a thread keeps at most, and how many go to or come from the shared list at once.
#[cfg(not(loom))]
const KEPT: usize = 64;
#[cfg(loom)]
const KEPT: usize = 2;
const BATCH: usize = KEPT / 2;

/// The numbers of places are less.
const MOST_PLACES: usize = CHUNK * CHUNKS;

/// A growing table of places that are used again and again.
pub struct Pool<T: 'static> {
    chunks: [OnceBox<[T; CHUNK]>; CHUNKS],
    /// Made at the first use: a pool that begins as zeros takes no room in the library's file.
    shared: Mutex<rank::PoolShared, Option<Box<SharedPlaces>>>,
    /// How many places are in use or in a thread's list. Changes with the lock, except when a place is retired.
    outside: AtomicUsize,
    /// The first of the lists of all threads, those of ended threads included.
    lists: OnceCell<rank::PoolList, &'static FreePlaces>,
}

/// What the threads of a pool have in common.
#[derive(Default)]
struct SharedPlaces {
    /// Free places that no thread keeps.
    free: Vec<u32>,
    /// How many places there are.
    made: usize,
    /// The last of the lists.
    last: Option<&'static FreePlaces>,
    /// Lists of threads that have ended; they are empty.
    spare: Vec<&'static FreePlaces>,
}

/// The free places that a thread keeps. Only that thread changes them; others read how many there are.
pub struct FreePlaces {
    /// The list that was made after this one.
    next: OnceCell<rank::PoolList, &'static FreePlaces>,
    count: AtomicU32,
    numbers: [AtomicU32; KEPT],
}

impl FreePlaces {
    fn new() -> FreePlaces {
        FreePlaces {
            next: OnceCell::new(),
            count: AtomicU32::new(0),
            numbers: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed) as usize
    }

    #[inline(always)]
    fn pop(&self) -> Option<u32> {
        let last = self.count().checked_sub(1)?;
        let number = self.numbers.get(last)?.load(Ordering::Relaxed);
        self.count.store(last as u32, Ordering::Relaxed);
        Some(number)
    }

    /// Adds a place; `false` if the list is full.
    #[inline(always)]
    fn push(&self, number: u32) -> bool {
        let count = self.count();
        let Some(next) = self.numbers.get(count) else { return false };
        next.store(number, Ordering::Relaxed);
        self.count.store(count as u32 + 1, Ordering::Relaxed);
        true
    }
}

impl<T: Default> Pool<T> {
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Pool {
            chunks: [const { OnceBox::new() }; CHUNKS],
            shared: Mutex::new(None),
            outside: AtomicUsize::new(0),
            lists: OnceCell::new(),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Pool {
            chunks: std::array::from_fn(|_| OnceBox::new()),
            shared: Mutex::new(None),
            outside: AtomicUsize::new(0),
            lists: OnceCell::new(),
        }
    }

    /// The place with a number; `None` if there is none yet.
    #[inline(always)]
    pub fn at(&self, number: u32) -> Option<&T> {
        let number = number as usize;
        let chunk = self.chunks.get(number / CHUNK)?.get()?;
        Some(&chunk[number % CHUNK])
    }

    /// Takes a place. Its object is as the last user left it. `None` if the table is full (67 million
    /// places). `list`: the calling thread's; `None` while the thread ends.
    #[inline(always)]
    pub fn take(&self, list: Option<&FreePlaces>) -> Option<(u32, &T)> {
        let number = match list.and_then(FreePlaces::pop) {
            Some(number) => number,
            None => self.take_batch(list)?,
        };
        Some((number, self.at(number)?))
    }

    /// Takes a place, and fills the calling thread's list.
    #[cold]
    #[inline(never)]
    fn take_batch(&self, list: Option<&FreePlaces>) -> Option<u32> {
        let mut shared = self.shared.lock();
        let shared = shared.get_or_insert_default();
        let first = self.take_shared(shared)?;
        if let Some(list) = list {
            for _ in 1..BATCH {
                match self.take_shared(shared) {
                    Some(number) if list.push(number) => {}
                    Some(number) => self.put_shared(shared, number),
                    None => break,
                }
            }
        }
        Some(first)
    }

    fn take_shared(&self, shared: &mut SharedPlaces) -> Option<u32> {
        if let Some(number) = shared.free.pop() {
            self.outside.fetch_add(1, Ordering::Relaxed);
            return Some(number);
        }
        let number = u32::try_from(shared.made).ok()?;
        self.chunks
            .get(number as usize / CHUNK)?
            .get_or_init(|| Box::new(std::array::from_fn(|_| T::default())));
        shared.made += 1;
        self.outside.fetch_add(1, Ordering::Relaxed);
        Some(number)
    }

    fn put_shared(&self, shared: &mut SharedPlaces, number: u32) {
        shared.free.push(number);
        self.outside.fetch_sub(1, Ordering::Relaxed);
    }

    /// Gives a place back, which the caller took or was handed.
    #[inline(always)]
    pub fn give_back(&self, list: Option<&FreePlaces>, number: u32) {
        if !list.is_some_and(|list| list.push(number)) {
            self.give_batch(list, number);
        }
    }

    /// Gives a place back, with a batch of those that the calling thread keeps.
    #[cold]
    #[inline(never)]
    fn give_batch(&self, list: Option<&FreePlaces>, number: u32) {
        let mut shared = self.shared.lock();
        let shared = shared.get_or_insert_default();
        for number in list.iter().flat_map(|list| (0..BATCH).map_while(|_| list.pop())) {
            self.put_shared(shared, number);
        }
        self.put_shared(shared, number);
    }

    /// Notes that a place is never used again.
    #[cold]
    pub fn retire(&self) {
        self.outside.fetch_sub(1, Ordering::Relaxed);
    }

    /// A list for a thread.
    pub(crate) fn open_list(&self) -> &'static FreePlaces {
        let mut shared = self.shared.lock();
        let shared = shared.get_or_insert_default();
        shared.spare.pop().unwrap_or_else(|| {
            let list: &'static FreePlaces = Box::leak(Box::new(FreePlaces::new()));
            shared.last.map_or(&self.lists, |last| &last.next).get_or_init(|| list);
            shared.last = Some(list);
            list
        })
    }

    /// Takes back the list of a thread that ends, with the places in it.
    pub(crate) fn close_list(&self, list: &'static FreePlaces) {
        let mut shared = self.shared.lock();
        let shared = shared.get_or_insert_default();
        while let Some(number) = list.pop() {
            self.put_shared(shared, number);
        }
        shared.spare.push(list);
    }

    /// How many places are in use. Exact while no other thread takes one or gives one back; a thread that ends
    /// changes nothing.
    pub fn in_use(&self) -> usize {
        // With the lock no place moves between the shared list and that of a thread. A forked child takes no lock:
        // it may be held for ever there.
        let _lock = (!crate::process::in_child()).then(|| self.shared.lock());
        let outside = self.outside.load(Ordering::Relaxed);
        let lists = std::iter::successors(self.lists.get(), |list| list.next.get());
        outside.saturating_sub(lists.map(|list| list.count()).sum())
    }
}

/// The list of a thread, opened at its first use and closed when the thread ends. For a thread-local static.
pub struct ThreadList<T: Default + 'static> {
    pool: fn() -> &'static Pool<T>,
    list: Cell<Option<&'static FreePlaces>>,
}

impl<T: Default> ThreadList<T> {
    pub const fn new(pool: fn() -> &'static Pool<T>) -> Self {
        ThreadList { pool, list: Cell::new(None) }
    }

    /// The list.
    #[inline(always)]
    pub fn get(&self) -> &'static FreePlaces {
        match self.list.get() {
            Some(list) => list,
            None => self.open(),
        }
    }

    #[cold]
    #[inline(never)]
    fn open(&self) -> &'static FreePlaces {
        let list = (self.pool)().open_list();
        self.list.set(Some(list));
        list
    }
}

impl<T: Default> Drop for ThreadList<T> {
    fn drop(&mut self) {
        // Not in a forked child, where the lock may be held for ever.
        if let Some(list) = self.list.take().filter(|_| !crate::process::in_child()) {
            (self.pool)().close_list(list);
        }
    }
}
