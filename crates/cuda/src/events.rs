//! Events. Recording and querying are the hot calls of the library: on an explicit stream they add
//! two predictable branches to the driver's own call, and switch no context. Whatever is not plain
//! success takes the slow path once more, out of line.

use std::ptr::{from_mut, null_mut};

use cudarc::driver::sys::CUevent_flags_enum as Flags;
use cudarc::driver::sys::{CUevent, CUstream};
use sconce_base::error::{Error, Result};
use sconce_base::lock::{about_to_wait, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{EventFlags, EventHandle, Events, StreamRef};

use super::CudaDriver;
use super::primary::LAST_DEFAULT_STREAM;
use super::result::{NOT_READY, SUCCESS, released};

impl Events for CudaDriver {
    fn event_create(&self, device: DeviceIndex, flags: EventFlags) -> Result<EventHandle> {
        if flags.timing && flags.interprocess {
            return Err(Error::invalid_argument(
                "flags: an event between processes cannot take times; drop the timing flag",
            ));
        }
        let mut bits = 0;
        if !flags.timing {
            bits |= Flags::CU_EVENT_DISABLE_TIMING as u32;
        }
        if flags.blocking_sync {
            bits |= Flags::CU_EVENT_BLOCKING_SYNC as u32;
        }
        if flags.interprocess {
            bits |= Flags::CU_EVENT_INTERPROCESS as u32;
        }
        let mut event: CUevent = null_mut();
        let create = self.api.cuEventCreate()?;
        let _entered = self.enter(device)?;
        // SAFETY: `event` outlives the call.
        let code = unsafe { create(&mut event, bits) };
        self.api.check("cuEventCreate", code)?;
        Ok(EventHandle::from_driver(crate::HANDLES, event as usize))
    }

    fn event_destroy(&self, event: EventHandle) -> Result<()> {
        released(|| {
            let destroy = self.api.cuEventDestroy()?;
            // SAFETY: an event that the driver made, and that the caller keeps alive during the call.
            let code = self.without_context(None, || unsafe { destroy(event.native() as CUevent) });
            self.api.check("cuEventDestroy_v2", code)
        })
    }

    #[inline]
    fn event_record(&self, event: EventHandle, stream: StreamRef) -> Result<()> {
        if stream.handle.native() > LAST_DEFAULT_STREAM {
            let record = self.api.cuEventRecord()?;
            // SAFETY: an event that the driver made, and a stream that it made or a program has named, which
            // the caller keeps alive during the call. The driver checks that their device is one.
            let code =
                unsafe { record(event.native() as CUevent, stream.handle.native() as CUstream) };
            if code == SUCCESS {
                return Ok(());
            }
        }
        self.event_record_in_context(event, stream)
    }

    #[inline]
    fn event_query(&self, event: EventHandle) -> Result<bool> {
        let query = self.api.cuEventQuery()?;
        // SAFETY: an event that the driver made, and that the caller keeps alive during the call.
        let code = unsafe { query(event.native() as CUevent) };
        match code {
            SUCCESS => Ok(true),
            NOT_READY => Ok(false),
            _ => self.event_query_in_context(event),
        }
    }

    fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        about_to_wait::<rank::Device>();
        let synchronize = self.api.cuEventSynchronize()?;
        // SAFETY: an event that the driver made, and that the caller keeps alive during the call.
        let code = self.without_context(None, || unsafe { synchronize(event.native() as CUevent) });
        self.api.check("cuEventSynchronize", code)
    }

    fn event_elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        let mut elapsed = 0.0;
        let get = self.api.cuEventElapsedTime()?;
        let place = from_mut(&mut elapsed);
        let (start, end) = (start.native() as CUevent, end.native() as CUevent);
        // SAFETY: events that the driver made, and that the caller keeps alive during the call, which
        // `place` outlives.
        let code = self.without_context(None, || unsafe { get(place, start, end) });
        self.api.check("cuEventElapsedTime", code)?;
        Ok(elapsed)
    }
}

impl CudaDriver {
    /// On a default stream, or once more after a failure: the driver may have wanted a context.
    #[cold]
    #[inline(never)]
    fn event_record_in_context(&self, event: EventHandle, stream: StreamRef) -> Result<()> {
        let record = self.api.cuEventRecord()?;
        // SAFETY: an event that the driver made, and a stream that it made or a program has named, which
        // the caller keeps alive during the call. The driver checks that their device is one.
        let code =
            self.on_stream(stream, |handle| unsafe { record(event.native() as CUevent, handle) })?;
        self.api.check("cuEventRecord", code)
    }

    /// Once more after a failure: the driver may have wanted a context.
    #[cold]
    #[inline(never)]
    fn event_query_in_context(&self, event: EventHandle) -> Result<bool> {
        let query = self.api.cuEventQuery()?;
        // SAFETY: an event that the driver made, and that the caller keeps alive during the call.
        let code = self.without_context(None, || unsafe { query(event.native() as CUevent) });
        self.api.check_ready("cuEventQuery", code)
    }
}
