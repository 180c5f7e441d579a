//! Thread-local state: the current device and, for every device, the current stream.
//!
//! One block of plain cells, zero at thread start (device 0, default streams), no destructor: a
//! single thread-local access reaches all of it, and it stays usable while a thread ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::types::{DeviceIndex, MAX_DEVICES};

struct ThreadState {
    device: Cell<u8>,
    /// The number of private pools to which the thread's allocations are diverted.
    diversions: Cell<u32>,
    /// The thread's number; 0 until it is needed.
    number: Cell<u64>,
    /// The word in which the thread announces the event that it is using.
    announcement: Cell<Option<&'static AtomicUsize>>,
    streams: [Cell<i64>; MAX_DEVICES],
}

thread_local! {
    static STATE: ThreadState = const {
        ThreadState {
            device: Cell::new(0),
            diversions: Cell::new(0),
            number: Cell::new(0),
            announcement: Cell::new(None),
            streams: [const { Cell::new(0) }; MAX_DEVICES] }
    };
}

/// The calling thread's device.
#[inline]
pub(crate) fn device() -> DeviceIndex {
    STATE.with(|state| DeviceIndex::from_u8(state.device.get()))
}

/// Sets the current device; the caller binds it with the driver.
#[inline]
pub(crate) fn set_device(device: DeviceIndex) {
    STATE.with(|state| state.device.set(device.as_u8()));
}

/// The id of the calling thread's stream on a device.
#[inline]
pub(crate) fn stream_id(device: DeviceIndex) -> i64 {
    STATE.with(|state| state.streams[device.as_usize()].get())
}

/// The calling thread's device with the id of its stream there.
#[inline]
pub(crate) fn device_and_stream_id() -> (DeviceIndex, i64) {
    STATE.with(|state| {
        let device = DeviceIndex::from_u8(state.device.get());
        (device, state.streams[device.as_usize()].get())
    })
}

/// The thread-local state that an allocation needs.
#[derive(Clone, Copy)]
pub(crate) struct ForAllocation {
    /// The current device.
    pub(crate) device: DeviceIndex,
    /// The id of its current stream.
    pub(crate) stream_id: i64,
    /// True if allocations may be diverted to a private pool.
    pub(crate) diverted: bool,
    /// The thread's [`token`].
    pub(crate) token: usize,
}

/// Reads the state that an allocation needs with one access to thread-local storage.
#[inline]
pub(crate) fn for_allocation() -> ForAllocation {
    STATE.with(|state| {
        let device = DeviceIndex::from_u8(state.device.get());
        ForAllocation {
            device,
            stream_id: state.streams[device.as_usize()].get(),
            diverted: state.diversions.get() != 0,
            token: std::ptr::from_ref(state).addr(),
        }
    })
}

/// True if the thread's allocations may be diverted to a private pool.
#[inline]
pub(crate) fn has_diversions() -> bool {
    STATE.with(|state| state.diversions.get() != 0)
}

/// Sets the number of diversions.
pub(crate) fn set_diversions(count: u32) {
    STATE.with(|state| state.diversions.set(count));
}

/// A number that no other thread has ever had. Unlike `std::thread::current`, it is available while
/// the thread ends, in a destructor of a pthread key.
pub(crate) fn number() -> u64 {
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
pub(crate) fn token() -> usize {
    STATE.with(|state| std::ptr::from_ref(state).addr())
}

/// Sets the current stream of a device; returns the current device and the old stream id.
#[inline]
pub(crate) fn exchange_stream_id(device: DeviceIndex, id: i64) -> (DeviceIndex, i64) {
    STATE.with(|state| {
        let current = DeviceIndex::from_u8(state.device.get());
        (current, state.streams[device.as_usize()].replace(id))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_starts_on_device_zero_with_default_streams() {
        let one = DeviceIndex::new(1).unwrap();
        set_device(one);
        assert_eq!(exchange_stream_id(one, 35), (one, 0));
        assert_eq!(device_and_stream_id(), (one, 35));
        std::thread::spawn(move || {
            assert_eq!(device(), DeviceIndex::ZERO);
            assert_eq!(stream_id(one), 0);
        })
        .join()
        .unwrap();
    }
}
