//! The table of events: slots, each with an event's state and lock.
//!
//! A handle names a slot and the number of the event in it ([`PlaceKind`]). Any number may be passed: the handle of a
//! destroyed event finds another number in its slot. A slot whose numbers are used up is not used again. Free slots are
//! kept for each thread, so that making an event takes no lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::pool::handle::PlaceKind;
use sconce_base::collections::pool::{FreePlaces, Pool, ThreadList};
use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_base::sync::shared_static;
use sconce_driver::{AtomicHandle, EventFlags, EventHandle};

use super::life::{Ended, EventLife, EventNumber};
use super::native::NativeEvent;

shared_static! {
    static SLOTS: Pool<EventSlot> = Pool::new();
}

thread_local! {
    static LIST: ThreadList<EventSlot> = const { ThreadList::new(|| &SLOTS) };
}

/// The calling thread's list of free slots; `None` while the thread ends.
#[inline]
fn list() -> Option<&'static FreePlaces> {
    LIST.try_with(ThreadList::get).ok()
}

/// The memory of an event. Cleared when the event is destroyed, and then used for another event.
#[derive(Default)]
pub(super) struct EventSlot {
    life: EventLife,
    /// The handle of the driver's event, readable without the lock; none before there is one.
    pub(super) handle: AtomicHandle<EventHandle>,
    /// The device of that event; written before the handle.
    pub(super) device: AtomicU8,
    /// The event's flags as bits, set once, before the event's key exists.
    flags: AtomicU8,
    /// The event's lock, with the driver's event from the first record or the first exchange with another
    /// process on.
    pub(super) native: Mutex<rank::EventState, SharedNative>,
}

/// The driver's event of an event; shared with the calls that wait for it without the event's lock.
pub(super) type SharedNative = Option<Arc<NativeEvent>>;

const TIMING: u8 = 1;
const BLOCKING_SYNC: u8 = 2;
const INTERPROCESS: u8 = 4;

impl EventSlot {
    /// The address by which threads announce that they use the slot.
    #[inline]
    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The event's flags.
    pub(super) fn flags(&self) -> EventFlags {
        let bits = self.flags.load(Ordering::Relaxed);
        EventFlags {
            timing: bits & TIMING != 0,
            blocking_sync: bits & BLOCKING_SYNC != 0,
            interprocess: bits & INTERPROCESS != 0,
        }
    }

    #[inline]
    fn set_flags(&self, flags: EventFlags) {
        let EventFlags { timing, blocking_sync, interprocess } = flags;
        let bit = |flag, bit| if flag { bit } else { 0 };
        let bits = bit(timing, TIMING)
            | bit(blocking_sync, BLOCKING_SYNC)
            | bit(interprocess, INTERPROCESS);
        self.flags.store(bits, Ordering::Relaxed);
    }

    /// Sets the driver's event of an event whose life says that it gets one.
    fn adopt(&self, place: &mut SharedNative, native: NativeEvent) {
        self.device.store(native.device().as_u8(), Ordering::Relaxed);
        self.handle.store(Some(native.handle()), Ordering::Release);
        *place = Some(Arc::new(native));
    }
}

/// An event that was found by its handle.
#[derive(Clone, Copy)]
pub(super) struct LiveEvent {
    slot: &'static EventSlot,
    /// Of the slot.
    place: u32,
    number: EventNumber,
}

impl LiveEvent {
    /// Whether the event is still alive; callers ask after they have used the slot.
    #[inline]
    pub(super) fn still(&self) -> bool {
        self.slot.life.is_alive(self.number)
    }

    /// Sets the driver's event of an event that has none. The event's lock is held, which guards `place`.
    pub(super) fn adopt(&self, place: &mut SharedNative, native: NativeEvent) -> Result<()> {
        if !self.slot.life.bind(self.number) {
            return Err(dead("event"));
        }
        self.slot.adopt(place, native);
        Ok(())
    }
}

impl std::ops::Deref for LiveEvent {
    type Target = EventSlot;

    #[inline]
    fn deref(&self) -> &EventSlot {
        self.slot
    }
}

/// The slot that a handle names, whether or not its event is alive.
#[inline]
fn find(key: Key) -> Option<LiveEvent> {
    let (place, number) = PlaceKind::Event.place(key)?;
    let number = EventNumber::from_bits(number)?;
    Some(LiveEvent { slot: SLOTS.at(place)?, place, number })
}

/// A live event. `argument`: the name of the argument that is the event.
#[inline]
pub(super) fn slot(key: Key, argument: &str) -> Result<LiveEvent> {
    match find(key) {
        Some(event) if event.still() => Ok(event),
        _ => Err(refused(key, argument)),
    }
}

/// The error about an event that has been destroyed.
#[cold]
#[inline(never)]
pub(super) fn dead(argument: &str) -> Error {
    Error::invalid_handle(format!("{argument} {NOT_LIVE}"))
}

/// The error about a handle that names no live event.
#[cold]
#[inline(never)]
pub(super) fn refused(key: Key, argument: &str) -> Error {
    Error::invalid_handle(HandleKind::Event.refusal(key.bits(), argument, NOT_LIVE))
}

const NOT_LIVE: &str = "is not a live event: never created, or destroyed";

#[cold]
#[inline(never)]
fn full() -> Error {
    Error::new(Status::OutOfMemory, "67 million events are alive; destroy some")
}

/// Calls `action` with a live event and its driver's event, with the event's lock held.
pub(super) fn with_native<R>(
    key: Key,
    argument: &str,
    action: impl FnOnce(LiveEvent, &mut SharedNative) -> Result<R>,
) -> Result<R> {
    let event = slot(key, argument)?;
    let mut native = event.slot.native.lock();
    // Between the look-up and the lock the event may have been destroyed, and the slot used again.
    if !event.still() {
        return Err(dead(argument));
    }
    action(event, &mut native)
}

/// Makes an event.
#[inline]
pub(super) fn insert(flags: EventFlags) -> Result<Key> {
    let (place, slot) = SLOTS.take(list()).ok_or_else(full)?;
    slot.set_flags(flags);
    Ok(key_of(place, slot.life.begin(false)))
}

/// Makes an event that has a driver's event.
pub(super) fn insert_native(flags: EventFlags, native: NativeEvent) -> Result<Key> {
    let (place, slot) = SLOTS.take(list()).ok_or_else(full)?;
    slot.set_flags(flags);
    slot.adopt(&mut slot.native.lock(), native);
    Ok(key_of(place, slot.life.begin(true)))
}

#[inline]
fn key_of(place: u32, number: EventNumber) -> Key {
    PlaceKind::Event.key(place, number.bits())
}

/// Ends an event; `false` if it is not alive. Passes the driver's event that it has to `retire`, with the slot's
/// address.
#[inline]
pub(super) fn remove(key: Key, retire: impl FnOnce(usize, Arc<NativeEvent>)) -> bool {
    let Some(event) = find(key) else { return false };
    match event.slot.life.end(event.number) {
        Ended::Before => return false,
        Ended::Unbound => {}
        Ended::Bound => clear(event.slot, retire),
    }
    if event.number.is_last() {
        SLOTS.retire();
    } else {
        SLOTS.give_back(list(), event.place);
    }
    true
}

/// Clears the slot of an event that has ended.
#[inline(never)]
fn clear(slot: &EventSlot, retire: impl FnOnce(usize, Arc<NativeEvent>)) {
    let mut native = slot.native.lock();
    // Under the lock, so that a first record that is under way does not leave its handle behind.
    slot.handle.store(None, Ordering::Release);
    let taken = native.take();
    drop(native);
    if let Some(native) = taken {
        retire(slot.address(), native);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use std::sync::Barrier;

    fn create() -> Key {
        insert(EventFlags::default()).unwrap()
    }

    fn destroy(key: Key) -> bool {
        remove(key, |_, _| panic!("it has no driver's event"))
    }

    #[test]
    fn a_destroyed_event_is_not_found_when_its_slot_has_another() {
        let first = create();
        let place = find(first).unwrap().place;
        assert!(destroy(first));
        // The thread's own list gives the slot out again at once.
        let second = create();
        assert_eq!(find(second).unwrap().place, place);
        assert_ne!(first, second);
        assert!(slot(first, "event").is_err() && slot(second, "event").is_ok());
        assert!(!destroy(first), "of an event that was destroyed before");
        assert!(slot(second, "event").is_ok(), "destroying the first again ends the second");
        assert!(destroy(second));
    }

    #[test]
    fn any_number_may_be_asked_about() {
        let live = create();
        let bits = live.bits();
        let others = [
            0,
            1,
            u64::MAX,
            PlaceKind::Event.key(0, 0).bits(),
            bits ^ 1 << 32,
            bits ^ 2 << 32,
            bits ^ 4 << 32,
            bits ^ 1 << 26,
            bits | 0x3f << 26,
            bits | ((1 << 26) - 1),
            !bits,
        ];
        for bits in others {
            assert!(slot(Key::from_bits(bits), "event").is_err(), "{bits:#x}");
            assert!(!destroy(Key::from_bits(bits)), "{bits:#x}");
        }
        assert!(slot(live, "event").is_ok());
        assert!(destroy(live));
    }

    #[test]
    fn of_threads_that_destroy_an_event_one_does() {
        const THREADS: usize = 4;
        let rounds = if cfg!(miri) { 10 } else { 500 };
        let (before, after) = (Barrier::new(THREADS), Barrier::new(THREADS));
        let shared = parking_lot::Mutex::new(create());
        let wins: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    let (before, after, shared) = (&before, &after, &shared);
                    scope.spawn(move || {
                        let mut wins = 0;
                        for _ in 0..rounds {
                            before.wait();
                            let key = *shared.lock();
                            wins += usize::from(destroy(key));
                            // Events of its own, which no other thread may end.
                            let own = create();
                            assert!(slot(own, "event").is_ok());
                            assert!(destroy(own));
                            if after.wait().is_leader() {
                                *shared.lock() = create();
                            }
                        }
                        wins
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(wins, rounds);
        assert!(destroy(*shared.lock()));
    }
}
