//! Streams: values that name in-order queues of work on a device.
//!
//! The library owns the default stream of each device and 32 pooled streams per device and priority
//! (made at first use, handed out in turn, never destroyed). The program owns the streams that it
//! made; their handles reach the driver only in calls that name them. Each thread has a current stream per device, the
//! default one at first. Pooled streams are made non-blocking: nothing orders them with the default
//! stream but events.

mod current;
mod external;
mod id;
mod named;
mod pool;
mod sleep;
mod work;

pub(crate) use current::current_on;
pub use current::{current, exchange, restore, set_current};
pub use external::from_external;
pub(crate) use external::{last_named, name, on_replacement, replacements};
pub(crate) use named::{Maker, Named};
pub use pool::from_pool;
pub(crate) use pool::{
    add_capture, are_devices_idle, device_under_capture, is_under_capture, is_under_capture_beside,
    remove_capture,
};
pub use sleep::sleep;
pub(crate) use work::after_enqueue;
pub use work::{is_capturing, launch_host_function, priority, priority_range, query, synchronize};

use crate::context::{Runtime, runtime};
use crate::device::{self, parked};
use crate::driver::{StreamHandle, StreamRef};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;
use id::StreamKind;

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
            Some(StreamKind::Pooled { level, index }) => pool::existing(device, level, index),
            Some(StreamKind::External(native)) => external::existing(device, native),
            None => None,
        };
        match handle {
            Some(handle) => Ok(Stream { id, device, handle }),
            None => Err(unknown(id, device)),
        }
    }

    /// The id, equal for equal streams of one device.
    pub fn id(self) -> i64 {
        self.id
    }

    /// The device.
    pub fn device(self) -> DeviceIndex {
        self.device
    }

    /// The stream as this call names it, for calls that come back to it later.
    pub(crate) fn named(self, runtime: &Runtime) -> Named {
        match StreamKind::of(self.id) {
            Some(StreamKind::External(_)) => name(runtime, self.driver_ref()),
            _ => Named { stream: self.driver_ref(), maker: Maker::LIBRARY },
        }
    }

    /// Who made the stream, as its handle was named last.
    #[inline]
    pub(crate) fn maker(self) -> Maker {
        match StreamKind::of(self.id) {
            Some(StreamKind::External(_)) => last_named(self.driver_ref()).maker,
            _ => Maker::LIBRARY,
        }
    }

    /// Has memory that is parked for the stream looked at, now that a call names the stream.
    #[inline]
    pub(crate) fn note_named(self, runtime: &Runtime) {
        if let Some(StreamKind::External(_)) = StreamKind::of(self.id) {
            parked::named(runtime, self.driver_ref());
        }
    }

    /// What a driver calls it.
    pub fn driver_ref(self) -> StreamRef {
        StreamRef { device: self.device, handle: self.handle }
    }
}

#[cold]
#[inline(never)]
fn unknown(id: i64, device: DeviceIndex) -> Error {
    Error::invalid_handle(format!(
        "stream id {id:#x} of device {device} was not given out by this library; get streams from \
         sconce_stream_get_default, _get_current, _get_from_pool or _get_from_external"
    ))
}

/// The default stream of a device; -1 is the current device.
pub fn default(index: i32) -> Result<Stream> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    Ok(Stream { id: id::DEFAULT, device, handle: StreamHandle::DEFAULT })
}
