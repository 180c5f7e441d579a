//! Thread-local state: the current device and, for every device, the current stream.
//!
//! One block of plain cells, zero at thread start (device 0, default streams), no destructor: a
//! single thread-local access reaches all of it, and it stays usable while a thread ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::types::{DeviceIndex, MAX_DEVICES};

struct ThreadState {
    device: Cell<u8>,
    /// The driver's number of the context that was current when the device was last brought into line with it.
    context: Cell<usize>,
    /// One more than the device of the stream that the running call names; 0 if the call names none.
    named: Cell<u8>,
    /// The number of private pools to which the thread's allocations are diverted.
    diversions: Cell<u32>,
    /// The thread's number; 0 until it is needed.
    number: Cell<u64>,
    /// The word in which the thread announces the event that it is using.
    announcement: Cell<Option<&'static AtomicUsize>>,
    /// The word in which the thread announces that it is inside a lock that is biased to it.
    owner_word: Cell<Option<&'static AtomicUsize>>,
    streams: [Cell<i64>; MAX_DEVICES],
}

thread_local! {
    static STATE: ThreadState = const {
        ThreadState {
            device: Cell::new(0),
            context: Cell::new(0),
            named: Cell::new(0),
            diversions: Cell::new(0),
            number: Cell::new(0),
            announcement: Cell::new(None),
            owner_word: Cell::new(None),
            streams: [const { Cell::new(0) }; MAX_DEVICES] }
    };
}

/// The calling thread's device.
#[inline]
pub fn device() -> DeviceIndex {
    STATE.with(|state| DeviceIndex::from_u8(state.device.get()))
}

/// The calling thread's device, if it is still that of the driver's context with this number.
#[inline]
pub fn device_of_context(context: usize) -> Option<DeviceIndex> {
    STATE.with(|state| {
        (state.context.get() == context).then(|| DeviceIndex::from_u8(state.device.get()))
    })
}

/// Sets the current device and the driver's number of the context that is current with it.
#[inline]
pub fn set_device(device: DeviceIndex, context: usize) {
    STATE.with(|state| {
        state.device.set(device.as_u8());
        state.context.set(context);
    });
}

/// The id of the calling thread's stream on a device.
#[inline]
pub fn stream_id(device: DeviceIndex) -> i64 {
    STATE.with(|state| state.streams[device.as_usize()].get())
}

/// The thread-local state that an allocation needs.
#[derive(Clone, Copy)]
pub struct ForAllocation {
    /// The current device.
    pub device: DeviceIndex,
    /// The id of its current stream.
    pub stream_id: i64,
    /// True if allocations may be diverted to a private pool.
    pub diverted: bool,
    /// The thread's [`token`] and its [`owner_word`].
    pub user: ThreadUser,
}

/// The calling thread as caches know it.
#[derive(Clone, Copy)]
pub struct ThreadUser {
    /// The thread's [`token`].
    pub token: usize,
    /// The thread's [`owner_word`].
    pub owner_word: Option<&'static AtomicUsize>,
}

impl ThreadUser {
    #[inline(always)]
    fn of(state: &ThreadState) -> ThreadUser {
        let token = std::ptr::from_ref(state).addr();
        ThreadUser { token, owner_word: state.owner_word.get() }
    }
}

/// Reads the state that an allocation needs with one access to thread-local storage.
#[inline]
pub fn for_allocation() -> ForAllocation {
    STATE.with(|state| {
        let device = DeviceIndex::from_u8(state.device.get());
        ForAllocation {
            device,
            stream_id: state.streams[device.as_usize()].get(),
            diverted: state.diversions.get() != 0,
            user: ThreadUser::of(state),
        }
    })
}

/// The calling thread as caches know it.
#[inline]
pub fn user() -> ThreadUser {
    STATE.with(ThreadUser::of)
}

/// The word in which the thread announces that it is inside a lock that is biased to it; `None` until it has one, and
/// again while the thread ends.
#[inline]
pub fn owner_word() -> Option<&'static AtomicUsize> {
    STATE.with(|state| state.owner_word.get())
}

/// Sets that word.
pub fn set_owner_word(word: Option<&'static AtomicUsize>) {
    STATE.with(|state| state.owner_word.set(word));
}

/// True if the thread's allocations may be diverted to a private pool.
#[inline]
pub fn has_diversions() -> bool {
    STATE.with(|state| state.diversions.get() != 0)
}

/// Sets the number of diversions.
pub fn set_diversions(count: u32) {
    STATE.with(|state| state.diversions.set(count));
}

/// A number that no other thread has ever had. Unlike `std::thread::current`, it is available while
/// the thread ends, in a destructor of a pthread key.
pub fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    STATE.with(|state| {
        if state.number.get() == 0 {
            state.number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        state.number.get()
    })
}

/// The word in which the thread announces the event that it is using; `None` until it has one, and
/// again while the thread ends.
#[inline]
pub(crate) fn announcement() -> Option<&'static AtomicUsize> {
    STATE.with(|state| state.announcement.get())
}

/// Sets that word.
pub(crate) fn set_announcement(word: Option<&'static AtomicUsize>) {
    STATE.with(|state| state.announcement.set(word));
}

/// A number that no other living thread has; a thread that comes later may have it again.
#[inline]
pub fn token() -> usize {
    STATE.with(|state| std::ptr::from_ref(state).addr())
}

/// What [`enter_stream`] replaced.
#[derive(Clone, Copy)]
pub struct Replaced {
    device: u8,
    context: usize,
    named: u8,
    on: u8,
    stream: i64,
}

/// Lets the running call name a stream: it is current on its device, and that device is current, for this
/// library alone. No driver call is made.
#[inline]
pub fn enter_stream(device: DeviceIndex, id: i64) -> Replaced {
    STATE.with(|state| {
        let on = device.as_u8();
        Replaced {
            device: state.device.replace(on),
            context: state.context.get(),
            named: state.named.replace(on + 1),
            on,
            stream: state.streams[device.as_usize()].replace(id),
        }
    })
}

/// Undoes [`enter_stream`].
#[inline]
pub fn leave_stream(replaced: Replaced) {
    STATE.with(|state| {
        state.device.set(replaced.device);
        state.context.set(replaced.context);
        state.named.set(replaced.named);
        state.streams[usize::from(replaced.on)].set(replaced.stream);
    });
}

/// The device of the stream that the running call names.
#[inline]
pub fn named_device() -> Option<DeviceIndex> {
    STATE.with(|state| match state.named.get() {
        0 => None,
        named => Some(DeviceIndex::from_u8(named - 1)),
    })
}

/// Sets the device of the stream that the running call names; returns the one before.
pub fn exchange_named(device: Option<DeviceIndex>) -> Option<DeviceIndex> {
    let before = named_device();
    let named = device.map_or(0, |device| device.as_u8() + 1);
    STATE.with(|state| state.named.set(named));
    before
}

impl ThreadState {
    /// True if work on a device may go to the thread's stream there: unless the running call names a stream of
    /// another device.
    #[inline]
    fn may_use(&self, device: DeviceIndex) -> bool {
        let named = self.named.get();
        named == 0 || named == device.as_u8() + 1
    }

    #[inline]
    fn stream_for_work(&self, device: DeviceIndex) -> Option<i64> {
        self.may_use(device).then(|| self.streams[device.as_usize()].get())
    }
}

/// True if work on a device may go to the thread's stream there: unless the running call names a stream of
/// another device.
#[inline]
pub fn may_use(device: DeviceIndex) -> bool {
    STATE.with(|state| state.may_use(device))
}

/// The id of the thread's stream on a device, if work may go there ([`may_use`]).
#[inline]
pub fn stream_for_work(device: DeviceIndex) -> Option<i64> {
    STATE.with(|state| state.stream_for_work(device))
}

/// The thread's device, and the id of its stream there, if work may go there.
#[inline]
pub fn here_for_work() -> (DeviceIndex, Option<i64>) {
    STATE.with(|state| {
        let device = DeviceIndex::from_u8(state.device.get());
        (device, state.stream_for_work(device))
    })
}

/// Sets the current stream of a device; returns the old stream's id.
#[inline]
pub fn exchange_stream_id(device: DeviceIndex, id: i64) -> i64 {
    STATE.with(|state| state.streams[device.as_usize()].replace(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_starts_on_device_zero_with_default_streams() {
        let one = DeviceIndex::new(1).unwrap();
        set_device(one, 7);
        assert_eq!((device_of_context(7), device_of_context(8)), (Some(one), None));
        assert_eq!(exchange_stream_id(one, 35), 0);
        assert_eq!((device(), stream_id(one)), (one, 35));
        std::thread::spawn(move || {
            assert_eq!(device(), DeviceIndex::ZERO);
            assert_eq!(stream_id(one), 0);
        })
        .join()
        .unwrap();
    }
}
