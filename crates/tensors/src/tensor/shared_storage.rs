//! Counted references to storages.
//!
//! A storage lies in a place of a pool, whose memory is never unmapped. So a thread may try to own a storage
//! that it knows only by number, and may be gone: it succeeds only while the storage has owners. The storage
//! may then be another one that came to lie in the same place; the caller finds that out and lets go of it.

use std::ops::Deref;

use sconce_base::collections::pool::{FreePlaces, Pool, ThreadList};
use sconce_base::error::{Error, Result, Status};
use sconce_base::sync::{AtomicUsize, Ordering, UnsafeCell, fence, shared_static};

use super::storage::Storage;

/// A place of a storage.
pub(super) struct StoragePlace<S> {
    /// 0 while there is no storage. Only the thread that has taken the free place makes it 1.
    owners: AtomicUsize,
    storage: UnsafeCell<Option<S>>,
}

impl<S> Default for StoragePlace<S> {
    fn default() -> Self {
        StoragePlace { owners: AtomicUsize::new(0), storage: UnsafeCell::new(None) }
    }
}

// SAFETY: the storage is written and taken out by the only thread that has the place, and is read by owners,
// which the count orders in between.
unsafe impl<S: Send + Sync> Sync for StoragePlace<S> {}

impl<S> StoragePlace<S> {
    /// Puts a storage into a place that the caller has taken from the pool. It has one owner.
    #[inline]
    pub(super) fn fill(&self, storage: S) {
        self.storage.with_mut(|place| {
            // SAFETY: without owners nothing reads the contents, and the caller alone has the place.
            unsafe { *place = Some(storage) }
        });
        self.owners.store(1, Ordering::Release);
    }

    /// Owns the storage once more; the caller is an owner.
    #[inline]
    fn own_again(&self) {
        self.owners.fetch_add(1, Ordering::Relaxed);
    }

    /// Owns the storage if it has owners. Fails only after the last owner has let go.
    #[inline]
    pub(super) fn try_own(&self) -> bool {
        let mut owners = self.owners.load(Ordering::Acquire);
        while owners != 0 {
            let more = owners + 1;
            // Acquire: the caller sees what happened before any earlier owner let go.
            match self.owners.compare_exchange(owners, more, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => owners = now,
            }
        }
        false
    }

    /// Lets go of the storage. The last owner gets it, and with it the place.
    #[cfg(all(test, loom))]
    pub(super) fn let_go(&self) -> Option<S> {
        if self.leave() { self.take_out() } else { None }
    }

    /// Lets go of the storage. Whether the caller was its last owner, which takes it out.
    #[inline(always)]
    fn leave(&self) -> bool {
        self.owners.fetch_sub(1, Ordering::Release) == 1
    }

    /// The storage, for its last owner after that has left. With it the caller gets the place.
    fn take_out(&self) -> Option<S> {
        fence(Ordering::Acquire);
        self.storage.with_mut(|place| {
            // SAFETY: there are no owners any more, and there will be none before the place is given back.
            unsafe { (*place).take() }
        })
    }

    /// The storage, for an owner.
    #[inline]
    pub(super) fn get(&self) -> *const Option<S> {
        self.storage.with(|place| place)
    }
}

shared_static! {
    static PLACES: Pool<StoragePlace<Storage>> = Pool::new();
}

thread_local! {
    static LIST: ThreadList<StoragePlace<Storage>> = const { ThreadList::new(|| &PLACES) };
}

/// The calling thread's list of free places; `None` while the thread ends.
#[inline]
fn list() -> Option<&'static FreePlaces> {
    LIST.try_with(ThreadList::get).ok()
}

/// An owner of a storage. The last one drops it.
pub struct StorageRef {
    place: &'static StoragePlace<Storage>,
    number: u32,
}

/// A place for a storage that comes later, when nothing may fail any more.
pub struct ReservedStorage(Option<(u32, &'static StoragePlace<Storage>)>);

impl ReservedStorage {
    /// Takes a place.
    #[inline]
    pub fn new() -> Result<ReservedStorage> {
        let place = PLACES.take(list()).ok_or_else(full)?;
        Ok(ReservedStorage(Some(place)))
    }

    /// Puts the storage there.
    #[inline]
    pub fn fill(mut self, storage: Storage) -> StorageRef {
        match self.0.take() {
            Some((number, place)) => {
                place.fill(storage);
                StorageRef { place, number }
            }
            None => no_place(),
        }
    }
}

impl Drop for ReservedStorage {
    #[inline]
    fn drop(&mut self) {
        if let Some((number, _)) = self.0 {
            PLACES.give_back(list(), number);
        }
    }
}

impl StorageRef {
    /// The first owner of a storage.
    #[inline]
    pub fn new(storage: Storage) -> Result<StorageRef> {
        Ok(ReservedStorage::new()?.fill(storage))
    }

    /// Whether both own the same storage.
    #[inline]
    pub fn is(&self, other: &StorageRef) -> bool {
        std::ptr::eq(self.place, other.place)
    }

    /// Whether the storage has other owners. Exact while no other thread owns it.
    pub(crate) fn is_shared(&self) -> bool {
        self.place.owners.load(Ordering::Acquire) != 1
    }

    /// The number of the storage's place. Who stores it instead of the owner forgets the owner, and ends the
    /// ownership with `from_number`.
    #[inline]
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Takes over an ownership that was forgotten.
    ///
    /// # Safety
    /// The number is that of an owner that was forgotten, and its ownership has not been taken over yet.
    #[inline]
    pub(super) unsafe fn from_number(number: u32) -> StorageRef {
        match PLACES.at(number) {
            Some(place) => StorageRef { place, number },
            None => no_place(),
        }
    }

    /// Owns the storage whose place has a number, if there is one. It may be another storage than the caller
    /// expects.
    #[inline]
    pub(super) fn try_own(number: u32) -> Option<StorageRef> {
        let place = PLACES.at(number)?;
        // Not `then_some`: an owner that is made and dropped lets go of what nobody owned.
        place.try_own().then(|| StorageRef { place, number })
    }
}

impl Clone for StorageRef {
    #[inline]
    fn clone(&self) -> StorageRef {
        self.place.own_again();
        StorageRef { place: self.place, number: self.number }
    }
}

impl Drop for StorageRef {
    #[inline]
    fn drop(&mut self) {
        if self.place.leave() {
            end(self.place, self.number);
        }
    }
}

/// Gives back the place of a storage that has no owners any more, and the storage.
#[inline(never)]
fn end(place: &StoragePlace<Storage>, number: u32) {
    let storage = place.take_out();
    PLACES.give_back(list(), number);
    // Last: deleters of others may call this library.
    drop(storage);
}

impl Deref for StorageRef {
    type Target = Storage;

    #[inline]
    fn deref(&self) -> &Storage {
        // SAFETY: an owner keeps the storage in its place, and nothing writes there meanwhile.
        match unsafe { &*self.place.get() } {
            Some(storage) => storage,
            None => no_place(),
        }
    }
}

#[cold]
#[inline(never)]
fn no_place() -> ! {
    panic!("an owned storage has no place")
}

#[cold]
fn full() -> Error {
    Error::new(Status::OutOfMemory, "67 million storages of tensors are alive; release some")
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_storage_that_has_gone_has_no_owners_however_often_it_is_asked_for() {
        let storage = || StorageRef::new(Storage::on_host(16).unwrap()).unwrap();
        let first = storage();
        let number = first.number();
        drop(first);
        assert!(StorageRef::try_own(number).is_none());
        assert!(StorageRef::try_own(number).is_none());
        let next = storage();
        assert_eq!(next.number(), number);
        drop(StorageRef::try_own(number).unwrap());
        assert!(!next.is_shared());
    }
}
