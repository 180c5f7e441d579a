//! Events. See `docs/design/event.md`.

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_driver::{EventFlags, IpcHandle};
use sconce_runtime::context::runtime;
use sconce_runtime::event;

use super::handle::OpaqueHandle;
use super::{guard, guard_runtime, null, sconce_status, sconce_stream};

/// Flags of an event; any number of them may be combined by `|`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_event_flags {
    /// Records take a time stamp.
    SCONCE_EVENT_TIMING = 1,
    /// A thread that waits for the event sleeps instead of spinning.
    SCONCE_EVENT_BLOCKING_SYNC = 2,
    /// Other processes can open the event; not together with timing.
    SCONCE_EVENT_INTERPROCESS = 4,
}

numbers_of!(sconce_event_flags as u32: SCONCE_EVENT_TIMING, SCONCE_EVENT_BLOCKING_SYNC, SCONCE_EVENT_INTERPROCESS);

/// Bytes of an interprocess handle.
pub const SCONCE_IPC_HANDLE_BYTES: usize = 64;

/// A point in a stream's work. Opaque; created by `sconce_event_create`.
pub struct sconce_event {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_event {
    const SOURCE: &'static str = "make events with sconce_event_create";
}

/// Creates an event. The first record makes the driver's own event, on the device of the recording
/// stream.
///
/// Needs no device and makes no driver call.
///
/// - `flags`: `SCONCE_EVENT_…` combined by `|`; 0 for an event that only orders work.
/// - `out_event`: receives the event.
/// - Errors: INVALID_ARGUMENT: unknown flags, or timing together with interprocess. OUT_OF_MEMORY:
///   too many events.
/// - Ownership: the caller destroys the event with `sconce_event_destroy`.
/// - torch: `torch.cuda.Event(enable_timing, blocking, interprocess)`, `at::cuda::CUDAEvent`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_create(
    flags: u32,
    out_event: *mut *mut sconce_event,
) -> sconce_status {
    guard(|| {
        let out_event = out!(out_event);
        out_event.write(sconce_event::from_key(event::create(parse_flags(flags)?)?));
        Ok(())
    })
}

#[inline]
pub(super) fn parse_flags(flags: u32) -> Result<EventFlags> {
    const KNOWN: u32 = SCONCE_EVENT_TIMING | SCONCE_EVENT_BLOCKING_SYNC | SCONCE_EVENT_INTERPROCESS;
    if flags & !KNOWN != 0 {
        return Err(unknown(flags));
    }
    Ok(EventFlags {
        timing: flags & SCONCE_EVENT_TIMING != 0,
        blocking_sync: flags & SCONCE_EVENT_BLOCKING_SYNC != 0,
        interprocess: flags & SCONCE_EVENT_INTERPROCESS != 0,
    })
}

#[cold]
#[inline(never)]
fn unknown(flags: u32) -> Error {
    Error::invalid_argument(format!(
        "flags is {flags:#x}; only SCONCE_EVENT_TIMING (1), _BLOCKING_SYNC (2) and \
         _INTERPROCESS (4) are known"
    ))
}

/// Destroys an event, which may be pending. Work that waits for it still waits.
///
/// - `event`: NULL is a no-op.
/// - torch: the destructor of `at::cuda::CUDAEvent`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_event_destroy(event: *mut sconce_event) -> sconce_status {
    guard(|| {
        if event.is_null() {
            return Ok(());
        }
        event::destroy(sconce_event::key(event, "event")?)
    })
}

/// Records an event on a stream: the event is complete when the work queued on the stream so far
/// has finished. The record replaces an earlier one, but does not affect waits for the earlier one.
///
/// - `stream`: a stream of the event's device, which the first record determines.
/// - Errors: CROSS_DEVICE: the event was first recorded on another device.
/// - torch: `torch.cuda.Event.record()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_event_record(
    event: *mut sconce_event,
    stream: sconce_stream,
) -> sconce_status {
    guard_runtime(|| {
        let runtime = runtime()?;
        event::record(runtime, sconce_event::key(event, "event")?, stream.resolve(runtime)?)
    })
}

/// Makes work that is queued on a stream from now on wait for an event's most recent record. Later
/// records do not change the wait. An event that was never recorded causes no wait.
///
/// - `event`: of any device.
/// - torch: `torch.cuda.Stream.wait_event()`, `CUDAEvent::block`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_stream_wait_event(
    stream: sconce_stream,
    event: *mut sconce_event,
) -> sconce_status {
    guard(|| {
        let runtime = runtime()?;
        event::wait(runtime, stream.resolve(runtime)?, sconce_event::key(event, "event")?)
    })
}

/// Reports whether an event's most recent record is complete. True if the event was never recorded.
///
/// - `out_complete`: receives the answer.
/// - torch: `torch.cuda.Event.query()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_query(
    event: *mut sconce_event,
    out_complete: *mut bool,
) -> sconce_status {
    guard_runtime(|| {
        let out_complete = out!(out_complete);
        out_complete.write(event::query(sconce_event::key(event, "event")?)?);
        Ok(())
    })
}

/// Waits until an event's most recent record is complete. Returns at once if the event was never
/// recorded.
///
/// - Ordering: blocks the calling thread, which spins, or sleeps if the event has
///   `SCONCE_EVENT_BLOCKING_SYNC`.
/// - torch: `torch.cuda.Event.synchronize()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_event_synchronize(event: *mut sconce_event) -> sconce_status {
    guard(|| event::synchronize(sconce_event::key(event, "event")?))
}

/// Reports the time between the records of two events of one device, both made with
/// `SCONCE_EVENT_TIMING`.
///
/// - `out_elapsed_ms`: receives milliseconds; negative if `end` was recorded first.
/// - Errors: INVALID_ARGUMENT: an event has no timing. INVALID_STATE: an event was never recorded.
///   NOT_READY: a record is pending. CROSS_DEVICE: the events are of two devices.
/// - torch: `torch.cuda.Event.elapsed_time()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_elapsed_ms(
    start: *mut sconce_event,
    end: *mut sconce_event,
    out_elapsed_ms: *mut f32,
) -> sconce_status {
    guard(|| {
        let out_elapsed_ms = out!(out_elapsed_ms);
        let start = sconce_event::key(start, "start")?;
        let end = sconce_event::key(end, "end")?;
        out_elapsed_ms.write(event::elapsed_ms(start, end)?);
        Ok(())
    })
}

/// Reports the device on which an event was first recorded. Makes no driver call.
///
/// - `out_device`: receives the index; -1 while the event has not been recorded.
/// - torch: `at::cuda::CUDAEvent::device_index()`, `isCreated()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_get_device(
    event: *mut sconce_event,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        let out_device = out!(out_device);
        let device = event::device(sconce_event::key(event, "event")?)?;
        out_device.write(device.map_or(-1, |device| device.as_i32()));
        Ok(())
    })
}

/// Returns the `cudaEvent_t` (`CUevent`) of an event, for other libraries. Makes no driver call.
///
/// - `out_native`: receives the handle; NULL while the event has not been recorded, exported or
///   opened.
/// - Ownership: borrowed; valid until the event is destroyed. Never destroy it.
/// - torch: `at::cuda::CUDAEvent::event()`, `torch.cuda.Event.cuda_event`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_get_native(
    event: *mut sconce_event,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_native = out!(out_native);
        let native = event::native(sconce_event::key(event, "event")?)?;
        out_native.write(std::ptr::with_exposed_provenance_mut(native));
        Ok(())
    })
}

/// Returns the bytes with which another process can open an event.
///
/// - `event`: made with `SCONCE_EVENT_INTERPROCESS`, else INVALID_ARGUMENT. If it was never
///   recorded, the current device becomes its device.
/// - `out_handle`: receives `SCONCE_IPC_HANDLE_BYTES` (64) bytes.
/// - Ownership: the event must outlive its use by other processes.
/// - torch: `torch.cuda.Event.ipc_handle()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_get_ipc_handle(
    event: *mut sconce_event,
    out_handle: *mut u8,
) -> sconce_status {
    guard(|| {
        let out_handle = out_handle.cast::<[u8; SCONCE_IPC_HANDLE_BYTES]>();
        let out_handle = out!(out_handle);
        out_handle.write(event::ipc_handle(sconce_event::key(event, "event")?)?.0);
        Ok(())
    })
}

/// Opens an event of another process.
///
/// - `handle`: the 64 bytes that `sconce_event_get_ipc_handle` returned in the other process.
/// - `out_event`: receives the event.
/// - Errors: INVALID_ARGUMENT: the event is of this process. INVALID_HANDLE or DRIVER: the bytes
///   are no handle, or the event no longer exists.
/// - Ownership: the caller destroys the event with `sconce_event_destroy`.
/// - torch: `torch.cuda.Event.from_ipc_handle()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_from_ipc_handle(
    device: i32,
    handle: *const u8,
    out_event: *mut *mut sconce_event,
) -> sconce_status {
    guard(|| {
        let out_event = out!(out_event);
        if handle.is_null() {
            return Err(null("handle"));
        }
        // SAFETY: not NULL, and a handle has 64 bytes, which have no alignment.
        let bytes = unsafe { handle.cast::<[u8; SCONCE_IPC_HANDLE_BYTES]>().read() };
        out_event.write(sconce_event::from_key(event::from_ipc_handle(device, &IpcHandle(bytes))?));
        Ok(())
    })
}
