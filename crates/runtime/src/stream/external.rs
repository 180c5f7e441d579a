//! Streams that the program made and owns (foreign streams).
//!
//! A handle cannot be checked without following it, so only handles that were announced by
//! [`from_external`] are accepted later: a made-up stream value is refused rather than followed.
//!
//! The program may destroy its stream at any time, and the driver uses the handle for another stream
//! later. So a handle is passed to the driver only in a call that names it. Such a call reads the driver's
//! id of the stream, which is kept: an id that differs from the one before means that the handle names
//! another stream now. The same holds for `cudaStreamPerThread`, a handle that names another stream on each thread.

use sconce_base::error::{Error, Result};
use sconce_base::thread_state;
use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamFlags, StreamHandle, StreamRef};

use super::id::StreamKind;
use super::maker::{Maker, Named};
use super::value::Stream;
use super::{makers, pool};
use crate::context::{Runtime, runtime};
use crate::device::{self, parked};

/// The stream behind a handle of the driver on a device (-1: the current one).
///
/// NULL and CUDA's handle for the legacy stream are the default stream, as in torch.
pub fn from_external(handle: StreamHandle, index: i32) -> Result<Stream> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    if handle == StreamHandle::DEFAULT {
        return super::value::default(device.as_i32());
    }
    if handle.native() & 1 == 1 {
        return Err(Error::invalid_argument(format!(
            "native is {:#x}, which is not a stream handle: handles are even",
            handle.native()
        )));
    }
    let stream = StreamRef { device, handle };
    runtime.driver().stream_check(stream)?;
    if name(runtime, stream).is_foreign() {
        parked::named(runtime, stream);
    }
    Ok(Stream::foreign(stream))
}

/// Makes a stream that the program owns, beside the pools. It counts as one that other code made.
pub fn create(index: i32, flags: StreamFlags, priority: i32) -> Result<Stream> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    if priority > 0 {
        return Err(pool::positive(priority));
    }
    let handle = runtime.driver().stream_create(device, flags, priority)?;
    let stream = StreamRef { device, handle };
    name(runtime, stream);
    Ok(Stream::foreign(stream))
}

/// Destroys a stream of the program. Its work goes on. What is known of its maker stays: the allocators ask for it
/// when the driver uses the handle for another stream.
pub fn destroy(stream: Stream) -> Result<()> {
    let runtime = runtime()?;
    let named = stream.driver_ref();
    if !stream.is_foreign() || named.handle == StreamHandle::PER_THREAD {
        return Err(Error::invalid_argument(
            "stream is a default stream or one of a pool, which are never destroyed; pass one of sconce_stream_create",
        ));
    }
    if current_foreign(named.device) == Some(named) {
        return Err(Error::invalid_state(
            "stream is the calling thread's current stream; make another one current first",
        ));
    }
    runtime.driver().stream_destroy(named)
}

/// Notes which stream a handle names. The running call must name the handle: unless the library owns the
/// stream, this reads the driver's id of the stream. Not while it is captured: the driver would end the capture.
pub fn name(runtime: &Runtime, stream: StreamRef) -> Named {
    let handle = stream.handle;
    if handle == StreamHandle::DEFAULT {
        return Named { stream, maker: Maker::LIBRARY };
    }
    let known = makers::known(stream);
    if handle == StreamHandle::PER_THREAD {
        let maker = makers::of_thread(runtime, stream);
        // The handle is announced. That it names another stream on another thread replaces none.
        if known.is_none() {
            makers::note(stream, maker);
        }
        return Named { stream, maker };
    }
    let is_own = match known {
        Some(maker) => maker == Maker::LIBRARY,
        None => pool::owns(stream),
    };
    let maker = match is_own {
        true => Maker::LIBRARY,
        false => makers::of_program(runtime, stream, known),
    };
    // An unknown id does not contradict the one that was known before.
    if known.is_none_or(|known| known != maker && maker != Maker::UNKNOWN) {
        makers::note(stream, maker);
    }
    Named { stream, maker }
}

/// The calling thread's current stream of a device, if the program made it.
pub(super) fn current_foreign(device: DeviceIndex) -> Option<StreamRef> {
    match StreamKind::of(thread_state::stream_id(device)) {
        Some(StreamKind::External(native)) => {
            Some(StreamRef { device, handle: makers::announced(device, native)? })
        }
        _ => None,
    }
}

impl Named {
    /// Whether the running call may pass the stream to the driver: the library owns it, it is an argument
    /// of the call, or it is the calling thread's current stream. A handle that names another stream by now
    /// does not count. Without ids of streams a handle that comes again may be another stream, so then
    /// only the current stream counts, and that of a thread may be another thread's.
    pub fn may_be_used(self, runtime: &Runtime, argument: Option<Named>) -> bool {
        if self.stream.handle == StreamHandle::PER_THREAD && self.maker == Maker::UNKNOWN {
            return false;
        }
        !self.is_foreign()
            || argument.is_some_and(|argument| self.is_surely(argument))
            || (current_foreign(self.stream.device) == Some(self.stream)
                && self == name(runtime, self.stream))
    }
}

impl Stream {
    /// The stream as this call names it, for calls that use it later.
    pub fn named(self, runtime: &Runtime) -> Named {
        match self.is_foreign() {
            true => name(runtime, self.driver_ref()),
            false => Named { stream: self.driver_ref(), maker: Maker::LIBRARY },
        }
    }

    /// Makes the allocators check the memory that is parked for the stream, now that a call names it.
    #[inline]
    pub fn note_named(self, runtime: &Runtime) {
        if self.is_foreign() {
            parked::named(runtime, self.driver_ref());
        }
    }
}
