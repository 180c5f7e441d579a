//! Streams that are lent to captures.
//!
//! Memory that a capture frees serves only later work of the same stream, so graphs of one pool share memory if they are
//! captured from one stream. A capture without a stream of its own therefore gets the first stream of its device that no
//! other capture has at the moment: captures one after another have the same. The pools for programs do not contain
//! these streams, so no work of the program gets into a capture by chance.

use super::id::{self, STREAMS_PER_POOL};
use super::pool;
use super::value::Stream;
use super::work::is_capturing;
use crate::collections::per_device::PerDevice;
use crate::context::Runtime;
use crate::error::{Error, Result, Status};
use crate::sync::{AtomicU32, Ordering, shared_static};
use crate::types::DeviceIndex;

shared_static! {
    /// The streams that are lent, a bit each, by device.
    static LENT: PerDevice<AtomicU32> = crate::collections::per_device::per_device!(AtomicU32::new(0));
}

const _: () = assert!(STREAMS_PER_POOL == u32::BITS as usize);

/// A stream that belongs to one capture until this is dropped.
pub(crate) struct LentStream {
    device: DeviceIndex,
    index: usize,
}

impl Drop for LentStream {
    fn drop(&mut self) {
        LENT[self.device].fetch_and(!(1 << self.index), Ordering::AcqRel);
    }
}

/// Marks a stream as lent, unless it is already.
fn take(device: DeviceIndex, index: usize) -> Option<LentStream> {
    let before = LENT[device].fetch_or(1 << index, Ordering::AcqRel);
    (before & (1 << index) == 0).then_some(LentStream { device, index })
}

/// Lends a stream of a device to a capture.
pub(crate) fn lend(runtime: &Runtime, device: DeviceIndex) -> Result<(Stream, LentStream)> {
    for index in 0..STREAMS_PER_POOL {
        let Some(lent) = take(device, index) else { continue };
        pool::for_captures(runtime, device, index)?;
        let Some(stream) = Stream::pooled(device, id::CAPTURES, index) else {
            return Err(Error::new(Status::Internal, "a stream for captures was not made"));
        };
        // A capture whose end failed may go on, and a program may have captured the stream itself.
        if !is_capturing(runtime, stream)? {
            return Ok((stream, lent));
        }
    }
    Err(Error::invalid_state(format!(
        "{STREAMS_PER_POOL} captures without a stream of their own are under way on device {device}; end some of them, \
         or name a stream"
    )))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_stream_is_lent() {
        // No other test of this process uses the device.
        let device = DeviceIndex::new(60).unwrap();
        let first = take(device, 0);
        assert!(first.is_some() && take(device, 0).is_none());
        let last = take(device, 31).unwrap();
        drop(first);
        assert!(take(device, 31).is_none());
        assert_eq!(take(device, 0).map(|lent| lent.index), Some(0));
        drop(last);
        assert!(take(device, 31).is_some());
    }
}
