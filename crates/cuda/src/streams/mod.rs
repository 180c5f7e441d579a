//! Streams. Calls on an explicit handle go straight to the driver.
//!
//! | file | what |
//! |---|---|
//! | `host_functions` | functions of the program that run in stream order |

mod host_functions;

use std::ffi::{c_int, c_ulonglong};
use std::ptr::{from_mut, null_mut};

use cudarc::driver::sys::CUstream_flags_enum as Flags;
use cudarc::driver::sys::{CUevent, CUstream};
use sconce_base::error::{Error, Result};
use sconce_base::lock::{about_to_wait, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    CaptureStatus, EventHandle, HostFunction, HostRange, StreamFlags, StreamHandle, StreamRef,
    Streams,
};

use super::CudaDriver;
use super::primary::LAST_DEFAULT_STREAM;
use super::result::released;

/// The lowest possible handle of the driver: the first page is never mapped.
const LOWEST_POINTER: usize = 4096;

impl Streams for CudaDriver {
    fn stream_priority_range(&self, device: DeviceIndex) -> Result<(i32, i32)> {
        let (mut least, mut greatest) = (0, 0);
        let get = self.api.cuCtxGetStreamPriorityRange()?;
        let _entered = self.enter(device)?;
        // SAFETY: both places outlive the call.
        let code = unsafe { get(&mut least, &mut greatest) };
        self.api.check("cuCtxGetStreamPriorityRange", code)?;
        Ok((least, greatest))
    }

    fn stream_create(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle> {
        let mut stream: CUstream = null_mut();
        let create = self.api.cuStreamCreateWithPriority()?;
        let flags = if flags.non_blocking { Flags::CU_STREAM_NON_BLOCKING as u32 } else { 0 };
        let _entered = self.enter(device)?;
        // SAFETY: `stream` outlives the call. The driver clamps the priority.
        let code = unsafe { create(&mut stream, flags, priority) };
        self.api.check("cuStreamCreateWithPriority", code)?;
        Ok(StreamHandle::from_driver(crate::HANDLES, stream as usize))
    }

    fn stream_destroy(&self, stream: StreamRef) -> Result<()> {
        released(|| {
            if stream.handle.native() <= LAST_DEFAULT_STREAM {
                return Err(Error::invalid_handle("stream: a default stream cannot be destroyed"));
            }
            let destroy = self.api.cuStreamDestroy()?;
            // SAFETY: a stream that `stream_create` made, and that the caller destroys once.
            let code = self.on_stream(stream, |handle| unsafe { destroy(handle) })?;
            self.api.check("cuStreamDestroy_v2", code)
        })
    }

    /// A stream's handle is a pointer into the driver's own memory. A live one cannot be
    /// distinguished from a stray number without following it, so only what can never be one is
    /// refused.
    fn stream_check(&self, stream: StreamRef) -> Result<()> {
        self.device(stream.device)?;
        let number = stream.handle.native();
        let may_be_pointer = number >= LOWEST_POINTER
            && number.is_multiple_of(align_of::<usize>())
            && isize::try_from(number).is_ok();
        if number <= LAST_DEFAULT_STREAM || may_be_pointer {
            return Ok(());
        }
        Err(Error::invalid_handle(format!(
            "stream: {number:#x} is no CUstream: neither a default stream nor an address"
        )))
    }

    /// Drivers before CUDA 12.0 have no ids.
    fn stream_id(&self, stream: StreamRef) -> Result<Option<u64>> {
        let Ok(get) = self.api.cuStreamGetId() else { return Ok(None) };
        let mut id: c_ulonglong = 0;
        let place = from_mut(&mut id);
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call,
        // which `place` outlives.
        let code = self.on_stream(stream, |handle| unsafe { get(handle, place) })?;
        self.api.check("cuStreamGetId", code)?;
        Ok(Some(id))
    }

    #[inline]
    fn stream_query(&self, stream: StreamRef) -> Result<bool> {
        if self.is_untouched_default(stream)? {
            return Ok(true);
        }
        let query = self.api.cuStreamQuery()?;
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call.
        let code = self.on_stream(stream, |handle| unsafe { query(handle) })?;
        self.api.check_ready("cuStreamQuery", code)
    }

    fn stream_synchronize(&self, stream: StreamRef) -> Result<()> {
        about_to_wait::<rank::Device>();
        if self.is_untouched_default(stream)? {
            return Ok(());
        }
        let synchronize = self.api.cuStreamSynchronize()?;
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call.
        let code = self.on_stream(stream, |handle| unsafe { synchronize(handle) })?;
        self.api.check("cuStreamSynchronize", code)
    }

    fn stream_priority(&self, stream: StreamRef) -> Result<i32> {
        let mut priority: c_int = 0;
        let get = self.api.cuStreamGetPriority()?;
        let place = from_mut(&mut priority);
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call,
        // which `place` outlives.
        let code = self.on_stream(stream, |handle| unsafe { get(handle, place) })?;
        self.api.check("cuStreamGetPriority", code)?;
        Ok(priority)
    }

    fn stream_capture_status(&self, stream: StreamRef) -> Result<CaptureStatus> {
        if self.is_untouched_default(stream)? {
            return Ok(CaptureStatus::None);
        }
        let mut status: c_int = 0;
        let get = self.api.cuStreamIsCapturing()?;
        let place = from_mut(&mut status);
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call,
        // which `place` outlives.
        let code = self.on_stream(stream, |handle| unsafe { get(handle, place) })?;
        self.api.check("cuStreamIsCapturing", code)?;
        Ok(match status {
            0 => CaptureStatus::None,
            2 => CaptureStatus::Invalidated,
            _ => CaptureStatus::Active,
        })
    }

    fn stream_capture_number(&self, stream: StreamRef) -> Result<Option<u64>> {
        if self.is_untouched_default(stream)? {
            return Ok(None);
        }
        let info = self.api.cuStreamGetCaptureInfo()?;
        let (mut status, mut number) = (0, 0);
        let (status_place, number_place) = (from_mut(&mut status), from_mut(&mut number));
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call, which both places
        // outlive; the driver writes nothing where a place is NULL.
        let code = self.on_stream(stream, |handle| unsafe {
            info(handle, status_place, number_place, null_mut(), null_mut(), null_mut())
        })?;
        self.api.check("cuStreamGetCaptureInfo", code)?;
        Ok((status != 0).then_some(number))
    }

    #[inline]
    fn stream_wait_event(&self, stream: StreamRef, event: EventHandle) -> Result<()> {
        let wait = self.api.cuStreamWaitEvent()?;
        let event = event.native() as CUevent;
        // SAFETY: an event that the driver made and a stream that it made or a program has named, kept
        // alive during the call; flags 0 is the default wait.
        let code = self.on_stream(stream, |handle| unsafe { wait(handle, event, 0) })?;
        self.api.check("cuStreamWaitEvent", code)
    }

    /// Flags of 0 make the write come after all earlier writes of the stream, for every observer.
    fn stream_write_word(&self, stream: StreamRef, word: HostRange, value: u32) -> Result<()> {
        let write = self.api.cuStreamWriteValue32()?;
        let address = word.get() as u64;
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call;
        // page-locked memory, which devices see at the same address, and which a caller vouches for.
        let code = self.on_stream(stream, |handle| unsafe { write(handle, address, value, 0) })?;
        self.api.check("cuStreamWriteValue32_v2", code)
    }

    fn launch_host_function(&self, stream: StreamRef, function: HostFunction) -> Result<()> {
        self.queue_host_function(stream, function)
    }
}
