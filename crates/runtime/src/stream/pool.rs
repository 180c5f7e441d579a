//! The pooled streams: 32 per device and priority, made at first use and handed out in turn.
//!
//! Request n and request n + 32 of one pool get the same stream, as in torch. Handing out a stream
//! that exists takes no lock. Further pools of each device have the streams that the library uses itself.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::{Error, Result};
use sconce_base::sync::{AtomicU32, Ordering, shared_static};
use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamFlags, StreamHandle, StreamRef};

use super::id::{LEVELS, POOLS as POOLS_PER_DEVICE, STREAMS_PER_POOL, URGENT_COLLECTIVES};
use super::{id, makers};
use crate::context::Runtime;
use crate::lazy_handle::LazyHandle;

shared_static! {
    static POOLS: PerDevice<[StreamPool; POOLS_PER_DEVICE]> = sconce_base::collections::per_device::per_device!([const { StreamPool::new() }; POOLS_PER_DEVICE]);
}

/// The streams of one device and priority.
struct StreamPool {
    next: AtomicU32,
    streams: [LazyHandle<StreamHandle>; STREAMS_PER_POOL],
}

impl StreamPool {
    #[cfg(not(loom))]
    const fn new() -> Self {
        StreamPool {
            next: AtomicU32::new(0),
            streams: [const { LazyHandle::new() }; STREAMS_PER_POOL],
        }
    }

    /// The index of the next stream in turn.
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
pub(super) fn positive(priority: i32) -> Error {
    Error::invalid_argument(format!(
        "priority is {priority}; it must be 0 (low) or negative (-1 is high)"
    ))
}

/// The next stream of the pool of a device and priority: its id and handle.
#[inline]
pub(super) fn next(
    runtime: &Runtime,
    device: DeviceIndex,
    priority: i32,
) -> Result<(i64, StreamHandle)> {
    let level = level_of(priority)?;
    let pool = &POOLS[device][level];
    let index = pool.turn();
    let handle = pool.streams[index].get_or_make(|| create(runtime, device, level))?;
    Ok((id::pooled(level, index), handle))
}

#[cold]
#[inline(never)]
fn create(runtime: &Runtime, device: DeviceIndex, pool: usize) -> Result<StreamHandle> {
    let flags = StreamFlags { non_blocking: true };
    let priority = match pool {
        URGENT_COLLECTIVES => -1,
        level if level < LEVELS => -(level as i32),
        _ => 0,
    };
    let handle = runtime.driver().stream_create(device, flags, priority)?;
    makers::made_by_the_library(StreamRef { device, handle });
    Ok(handle)
}

/// The handle of a stream of a pool of the library's own, made if need be.
pub(super) fn for_the_library(
    runtime: &Runtime,
    device: DeviceIndex,
    pool: usize,
    index: usize,
) -> Result<StreamHandle> {
    POOLS[device][pool].streams[index].get_or_make(|| create(runtime, device, pool))
}

/// The index of the next stream of a pool of the library's own, in turn.
pub(super) fn turn(device: DeviceIndex, pool: usize) -> usize {
    POOLS[device][pool].turn()
}

/// The handle of a pooled stream, if it has been made.
#[inline]
pub(super) fn existing(device: DeviceIndex, pool: usize, index: usize) -> Option<StreamHandle> {
    POOLS[device].get(pool)?.streams.get(index)?.get()
}

/// Whether a stream is a pooled stream.
pub(super) fn owns(stream: StreamRef) -> bool {
    pooled(stream.device).any(|handle| handle == stream.handle)
}

/// The pooled streams of a device that have been made.
pub(super) fn pooled(device: DeviceIndex) -> impl Iterator<Item = StreamHandle> {
    let streams = POOLS[device].iter().flat_map(|pool| &pool.streams);
    streams.filter_map(LazyHandle::get)
}

/// The greatest priority; greater ones share its level.
pub(super) fn greatest_priority() -> i32 {
    1 - LEVELS as i32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn request_n_and_n_plus_32_share_a_stream_and_each_is_made_once() {
        let pool = StreamPool::new();
        let mut made = 0;
        let mut take = || {
            pool.streams[pool.turn()].get_or_make(|| {
                made += 1;
                Ok(StreamHandle::from_driver(crate::testing::FORGED, 0x1000 + made))
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
