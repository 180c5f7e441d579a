//! The library's own streams. The pools for programs do not contain them.
//!
//! A program may capture any stream of its pools, and work that another thread queues there would ruin the capture. So
//! work that names no stream, but needs another one than the current stream, runs on these. Like the streams of the
//! pools they are made at first use and never destroyed.
//!
//! Captures and communicators are *lent* a stream, which nobody else has meanwhile: the work of a communicator may be
//! captured, and then its stream is. Memory that a capture frees serves only later work of the same stream, so graphs
//! of one pool share memory if they are captured from one stream. A capture without a stream of its own therefore gets
//! the first stream of its device that no other capture has at the moment: captures one after another have the same.
//! Copies between devices are never captured on a lane, so lanes may share a stream.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::{Error, Result, Status};
use sconce_base::sync::{AtomicU32, Ordering, shared_static};
use sconce_base::types::DeviceIndex;

use super::id::{self, STREAMS_PER_POOL};
use super::pool;
use super::value::Stream;
use super::work::is_capturing;
use crate::context::Runtime;

/// Who is lent streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamUser {
    /// Captures without a stream of the program.
    Capture,
    /// The asynchronous calls of a communicator.
    Communicator,
    /// Likewise, with priority -1.
    UrgentCommunicator,
}

/// How many kinds of users there are.
const USERS: usize = 3;

impl StreamUser {
    /// The pool of the streams.
    fn pool(self) -> usize {
        match self {
            StreamUser::Capture => id::CAPTURES,
            StreamUser::Communicator => id::COLLECTIVES,
            StreamUser::UrgentCommunicator => id::URGENT_COLLECTIVES,
        }
    }
}

shared_static! {
    /// The streams that are lent, a bit each, by device and user.
    static LENT: PerDevice<[AtomicU32; USERS]> =
        sconce_base::collections::per_device::per_device!([const { AtomicU32::new(0) }; USERS]);
}

const _: () = assert!(STREAMS_PER_POOL == u32::BITS as usize);

/// A stream that belongs to one user until this is dropped.
pub struct LentStream {
    device: DeviceIndex,
    user: StreamUser,
    index: usize,
}

impl Drop for LentStream {
    fn drop(&mut self) {
        LENT[self.device][self.user as usize].fetch_and(!(1 << self.index), Ordering::AcqRel);
    }
}

/// Marks a stream as lent, unless it is already.
fn take(device: DeviceIndex, user: StreamUser, index: usize) -> Option<LentStream> {
    let before = LENT[device][user as usize].fetch_or(1 << index, Ordering::AcqRel);
    (before & (1 << index) == 0).then_some(LentStream { device, user, index })
}

/// The stream of a place of a pool, made if need be.
fn made(runtime: &Runtime, device: DeviceIndex, pool: usize, index: usize) -> Result<Stream> {
    pool::for_the_library(runtime, device, pool, index)?;
    Stream::pooled(device, pool, index)
        .ok_or_else(|| Error::new(Status::Internal, "a stream of the library was not made"))
}

/// Lends a stream that nobody has; `None` if there is none left.
fn lend_free(
    runtime: &Runtime,
    device: DeviceIndex,
    user: StreamUser,
) -> Result<Option<(Stream, LentStream)>> {
    for index in 0..STREAMS_PER_POOL {
        let Some(lent) = take(device, user, index) else { continue };
        let stream = made(runtime, device, user.pool(), index)?;
        // A capture whose end failed may go on, a capture may outlive the communicator whose work it has, and a program
        // may have captured the stream itself.
        if !is_capturing(runtime, stream)? {
            return Ok(Some((stream, lent)));
        }
    }
    Ok(None)
}

/// Lends a stream of a device to a capture.
pub fn lend(runtime: &Runtime, device: DeviceIndex) -> Result<(Stream, LentStream)> {
    lend_free(runtime, device, StreamUser::Capture)?.ok_or_else(|| {
        Error::invalid_state(format!(
            "{STREAMS_PER_POOL} captures without a stream of their own are under way on device {device}; end some of \
             them, or name a stream"
        ))
    })
}

/// Lends a stream of a device to a user, or shares one in turn if others have all.
pub fn lend_or_share(
    runtime: &Runtime,
    device: DeviceIndex,
    user: StreamUser,
) -> Result<(Stream, Option<LentStream>)> {
    if let Some((stream, lent)) = lend_free(runtime, device, user)? {
        return Ok((stream, Some(lent)));
    }
    let index = pool::turn(device, user.pool());
    Ok((made(runtime, device, user.pool(), index)?, None))
}

/// A stream for copies between devices: the next one in turn.
pub fn for_lane(runtime: &Runtime, device: DeviceIndex) -> Result<Stream> {
    made(runtime, device, id::LANES, pool::turn(device, id::LANES))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_stream_is_lent() {
        // No other test of this process uses the device.
        let device = DeviceIndex::new(60).unwrap();
        let take = |user, index| take(device, user, index);
        let first = take(StreamUser::Capture, 0);
        assert!(first.is_some() && take(StreamUser::Capture, 0).is_none());
        assert!(take(StreamUser::Communicator, 0).is_some(), "each user has streams of its own");
        let last = take(StreamUser::Capture, 31).unwrap();
        drop(first);
        assert!(take(StreamUser::Capture, 31).is_none());
        assert_eq!(take(StreamUser::Capture, 0).map(|lent| lent.index), Some(0));
        drop(last);
        assert!(take(StreamUser::Capture, 31).is_some());
    }
}
