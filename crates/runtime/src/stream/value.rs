//! A stream as a value of the C API: an id and a device that have been checked.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamHandle, StreamRef};

use super::id::{self, StreamKind};
use super::maker::Maker;
use super::{makers, pool};
use crate::context::{Runtime, opened, runtime};
use crate::device;

/// A stream whose id has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    id: i64,
    device: DeviceIndex,
    handle: StreamHandle,
}

impl Stream {
    /// The stream that an id and a device of the C API name.
    #[inline(always)]
    pub fn from_parts(runtime: &Runtime, id: i64, device: i32) -> Result<Stream> {
        let device = device::checked(runtime, device)?;
        let handle = match StreamKind::of(id) {
            Some(StreamKind::Default) => Some(StreamHandle::DEFAULT),
            Some(StreamKind::Pooled { pool, index }) => pool::existing(device, pool, index),
            Some(StreamKind::External(native)) => announced(device, native),
            None => None,
        };
        match handle {
            Some(handle) => Ok(Stream { id, device, handle }),
            None => Err(unknown(id, device)),
        }
    }

    /// A pooled stream that has been made.
    pub(super) fn pooled(device: DeviceIndex, pool: usize, index: usize) -> Option<Stream> {
        let handle = pool::existing(device, pool, index)?;
        Some(Stream { id: id::pooled(pool, index), device, handle })
    }

    /// A stream that the program made and has announced.
    pub(super) fn foreign(stream: StreamRef) -> Stream {
        let StreamRef { device, handle } = stream;
        Stream { id: handle.native() as i64, device, handle }
    }

    /// The id, equal for equal streams of one device.
    #[inline]
    pub fn id(self) -> i64 {
        self.id
    }

    /// The device.
    #[inline]
    pub fn device(self) -> DeviceIndex {
        self.device
    }

    /// Whether the program made the stream.
    #[inline]
    pub(super) fn is_foreign(self) -> bool {
        matches!(StreamKind::of(self.id), Some(StreamKind::External(_)))
    }

    /// The owner of the stream, as of the last call that named its handle.
    #[inline]
    pub fn maker(self) -> Maker {
        match self.is_foreign() {
            true if self.handle == StreamHandle::PER_THREAD => opened()
                .map_or(Maker::UNKNOWN, |runtime| makers::of_thread(runtime, self.driver_ref())),
            true => makers::last_named(self.driver_ref()).maker,
            false => Maker::LIBRARY,
        }
    }

    /// The stream for the driver.
    #[inline]
    pub fn driver_ref(self) -> StreamRef {
        StreamRef { device: self.device, handle: self.handle }
    }
}

/// The handle of a stream of the program, if it has been announced.
#[inline(never)]
fn announced(device: DeviceIndex, native: usize) -> Option<StreamHandle> {
    makers::announced(device, native)
}

#[cold]
#[inline(never)]
fn unknown(id: i64, device: DeviceIndex) -> Error {
    Error::invalid_handle(format!(
        "stream id {id:#x} of device {device} was not returned by this library; get streams from \
         sconce_stream_get_default, _get_current, _get_from_pool or _get_from_external"
    ))
}

/// The default stream of a device; -1 is the current device.
#[inline]
pub fn default(index: i32) -> Result<Stream> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    Ok(Stream { id: id::DEFAULT, device, handle: StreamHandle::DEFAULT })
}

/// The next stream of the pool of a device (-1: the current one) and priority.
#[inline(always)] // A call takes 14 more instructions, and several modules have one.
pub fn from_pool(index: i32, priority: i32) -> Result<Stream> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let (id, handle) = pool::next(runtime, device, priority)?;
    Ok(Stream { id, device, handle })
}
