//! 32 streams a device and priority, made at first use and handed out in turn.
//!
//! Request n and request n + 32 of one pool get the same stream, as in torch. Handing out a stream
//! that exists takes no lock.

use super::id::{LEVELS, STREAMS_PER_POOL};
use super::named::current_foreign;
use super::{Stream, external, id};
use crate::context::{Runtime, runtime};
use crate::device;
use crate::driver::{RelaxedCapture, StreamFlags, StreamHandle, StreamRef};
use crate::error::{Error, Result};
use crate::lazy_handle::LazyHandle;
use crate::sync::{AtomicU32, Ordering, shared_static};
use crate::types::{DeviceIndex, MAX_DEVICES};

shared_static! {
    static POOLS: [[Pool; LEVELS]; MAX_DEVICES] =
        [const { [const { Pool::new() }; LEVELS] }; MAX_DEVICES];
}

shared_static! {
    /// The known captures of streams of the program, by device.
    static CAPTURES: [AtomicU32; MAX_DEVICES] = [const { AtomicU32::new(0) }; MAX_DEVICES];
}

/// The streams of one device and priority.
struct Pool {
    next: AtomicU32,
    places: [LazyHandle; STREAMS_PER_POOL],
}

impl Pool {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Pool { next: AtomicU32::new(0), places: [const { LazyHandle::new() }; STREAMS_PER_POOL] }
    }

    /// The next place in turn.
    #[inline]
    fn turn(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed) as usize % STREAMS_PER_POOL
    }
}

/// The priority level for a priority as torch counts it: 0 low, -1 high, lower still higher.
#[inline]
fn level_of(priority: i32) -> Result<usize> {
    if priority > 0 {
        return Err(positive(priority));
    }
    Ok((priority.unsigned_abs() as usize).min(LEVELS - 1))
}

#[cold]
#[inline(never)]
fn positive(priority: i32) -> Error {
    Error::invalid_argument(format!(
        "priority is {priority}; it must be 0 (low) or negative (-1 is high)"
    ))
}

/// The next stream of the pool of a device (-1: the current one) and priority.
#[inline]
pub fn from_pool(index: i32, priority: i32) -> Result<Stream> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let level = level_of(priority)?;
    let pool = &POOLS[device.as_usize()][level];
    let place = pool.turn();
    let handle = pool.places[place].get_or_make(|| create(runtime, device, level))?;
    Ok(Stream { id: id::pooled(level, place), device, handle: StreamHandle(handle) })
}

#[cold]
#[inline(never)]
fn create(runtime: &Runtime, device: DeviceIndex, level: usize) -> Result<usize> {
    let flags = StreamFlags { non_blocking: true };
    let handle = runtime.driver().stream_create(device, flags, -(level as i32))?;
    external::made_by_the_library(StreamRef { device, handle });
    Ok(handle.0)
}

/// A pooled stream that has been handed out before.
#[inline]
pub(super) fn existing(device: DeviceIndex, level: usize, index: usize) -> Option<StreamHandle> {
    POOLS[device.as_usize()].get(level)?.places.get(index)?.get().map(StreamHandle)
}

/// Whether a stream is one of the pools'.
pub(super) fn owns(stream: StreamRef) -> bool {
    pooled(stream.device).any(|handle| handle == stream.handle)
}

/// A device of which a stream is being captured, as [`is_under_capture`] knows.
pub(crate) fn device_under_capture(runtime: &Runtime) -> Option<DeviceIndex> {
    runtime.devices().find(|device| is_under_capture(runtime, *device))
}

/// Whether the devices have nothing to do, as far as can be told without waiting: by their default
/// streams, pooled ones and the calling thread's current one. A device under capture counts as busy,
/// for its streams must not be asked.
pub(crate) fn are_devices_idle(runtime: &Runtime) -> bool {
    let driver = runtime.driver();
    let Ok(_relaxed) = RelaxedCapture::enter(driver) else { return false };
    runtime.devices().all(|device| match driver.context_is_active(device) {
        Ok(false) => true,
        Ok(true) => {
            let known = usable(device, None).chain([StreamHandle::DEFAULT]);
            !is_under_capture(runtime, device)
                && known
                    .map(|handle| driver.stream_query(StreamRef { device, handle }))
                    .all(|idle| idle.unwrap_or(false))
        }
        Err(_) => false,
    })
}

/// The pooled streams of a device that have been made.
fn pooled(device: DeviceIndex) -> impl Iterator<Item = StreamHandle> {
    let places = POOLS[device.as_usize()].iter().flat_map(|pool| &pool.places);
    places.filter_map(LazyHandle::get).map(StreamHandle)
}

/// The streams of a device that the running call may hand to the driver, without the default stream:
/// the pooled ones, the calling thread's current one, and what the call was passed.
fn usable(device: DeviceIndex, argument: Option<StreamRef>) -> impl Iterator<Item = StreamHandle> {
    let named = [current_foreign(device), argument.filter(|argument| argument.device == device)];
    let named = named.into_iter().flatten().map(|stream| stream.handle);
    pooled(device).chain(named.filter(|handle| *handle != StreamHandle::DEFAULT))
}

/// Whether a stream of a device is being captured, as far as the running call may ask: see
/// [`is_under_capture_beside`].
pub(crate) fn is_under_capture(runtime: &Runtime, device: DeviceIndex) -> bool {
    is_under_capture_beside(runtime, device, None)
}

/// Whether a pooled stream of a device, the calling thread's current one, or the one that the call was
/// passed is being captured, or a capture of another one is known. Other streams of the program may be
/// gone, so they are not asked about: the driver refuses to wait for a device if one of them is being
/// captured.
pub(crate) fn is_under_capture_beside(
    runtime: &Runtime,
    device: DeviceIndex,
    argument: Option<StreamRef>,
) -> bool {
    CAPTURES[device.as_usize()].load(Ordering::Relaxed) != 0
        || usable(device, argument).any(|handle| {
            runtime.driver().stream_is_capturing(StreamRef { device, handle }).unwrap_or(false)
        })
}

/// A capture of a stream of the program has become known.
pub(crate) fn add_capture(device: DeviceIndex) {
    CAPTURES[device.as_usize()].fetch_add(1, Ordering::Relaxed);
}

/// What was known of one ends.
pub(crate) fn remove_capture(device: DeviceIndex) {
    CAPTURES[device.as_usize()].fetch_sub(1, Ordering::Relaxed);
}

/// The priorities that have a level of their own.
pub(super) fn greatest_priority() -> i32 {
    1 - LEVELS as i32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn request_n_and_n_plus_32_share_a_stream_and_each_is_made_once() {
        let pool = Pool::new();
        let mut made = 0;
        let mut take = || {
            pool.places[pool.turn()].get_or_make(|| {
                made += 1;
                Ok(0x1000 + made)
            })
        };
        let first: Vec<_> = (0..32).map(|_| take().unwrap()).collect();
        let second: Vec<_> = (0..32).map(|_| take().unwrap()).collect();
        assert_eq!(first, second);
        assert_eq!(made, 32);
        assert_eq!(first.iter().collect::<std::collections::HashSet<_>>().len(), 32);
    }

    #[test]
    fn priorities_clamp_below_and_are_refused_above_zero() {
        assert_eq!(level_of(0).unwrap(), 0);
        assert_eq!(level_of(-1).unwrap(), 1);
        assert_eq!(level_of(-3).unwrap(), 3);
        assert_eq!(level_of(i32::MIN).unwrap(), 3);
        assert!(level_of(1).is_err());
        assert_eq!(greatest_priority(), -3);
    }
}
