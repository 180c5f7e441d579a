//! Events. See `docs/design/event.md`.

use super::handle::Handle;
use super::{Out, guard, guard_runtime, null, sconce_status, sconce_stream};
use crate::context::runtime;
use crate::driver::{EventFlags, IpcHandle};
use crate::error::{Error, Result};
use crate::event;

/// Flags of an event; any number of them may be combined by `|`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_event_flags {
    /// Its records take a time stamp.
    SCONCE_EVENT_TIMING = 1,
    /// A thread that waits for it sleeps rather than spins.
    SCONCE_EVENT_BLOCKING_SYNC = 2,
    /// Other processes can open it; not together with timing.
    SCONCE_EVENT_INTERPROCESS = 4,
}

numbers_of!(sconce_event_flags as u32: SCONCE_EVENT_TIMING, SCONCE_EVENT_BLOCKING_SYNC, SCONCE_EVENT_INTERPROCESS);

/// Bytes of an inter-process handle.
pub const SCONCE_IPC_HANDLE_BYTES: usize = 64;

/// A point in a stream's work. Opaque; made by `sconce_event_create`.
pub struct sconce_event {
    _private: [u8; 0],
}

impl Handle for sconce_event {
    const SOURCE: &'static str = "make events with sconce_event_create";
}

/// Makes an event. The driver's own event is made at the first record, on the recording stream's
/// device.
///
/// # Parameters
/// `flags`: `SCONCE_EVENT_…` or-ed together; 0 for plain ordering. `out_event` [out].
/// # Errors
/// INVALID_ARGUMENT: unknown flags, timing together with interprocess, or `out_event` is NULL.
/// OUT_OF_MEMORY: too many events. FORKED. Works without a device.
/// # Ownership
/// The caller destroys it with `sconce_event_destroy`.
/// # Ordering
/// Does not block; calls no driver.
/// # Threads
/// Any.
/// # Safety
/// `out_event` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.Event(enable_timing, blocking, interprocess)`, `at::cuda::CUDAEvent`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_create(
    flags: u32,
    out_event: *mut *mut sconce_event,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_event = unsafe { Out::new(out_event, "out_event") }?;
        out_event.write(sconce_event::from_key(event::create(parse_flags(flags)?)?));
        Ok(())
    })
}

pub(super) fn parse_flags(flags: u32) -> Result<EventFlags> {
    const KNOWN: u32 = SCONCE_EVENT_TIMING | SCONCE_EVENT_BLOCKING_SYNC | SCONCE_EVENT_INTERPROCESS;
    if flags & !KNOWN != 0 {
        return Err(Error::invalid_argument(format!(
            "flags is {flags:#x}; only SCONCE_EVENT_TIMING (1), _BLOCKING_SYNC (2) and \
             _INTERPROCESS (4) are known"
        )));
    }
    Ok(EventFlags {
        timing: flags & SCONCE_EVENT_TIMING != 0,
        blocking_sync: flags & SCONCE_EVENT_BLOCKING_SYNC != 0,
        interprocess: flags & SCONCE_EVENT_INTERPROCESS != 0,
    })
}

/// Destroys an event. Work that waits for it still waits.
///
/// # Parameters
/// `event`: a live event; NULL is a no-op.
/// # Errors
/// INVALID_HANDLE: `event` is destroyed or foreign.
/// FORKED as `sconce_init`.
/// # Ownership
/// Takes the event back; the handle is dead afterwards and is recognised as such.
/// # Ordering
/// Does not block, also when the event is pending.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// The destructor of `at::cuda::CUDAEvent`.
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

/// Captures the work queued on a stream so far: the event is complete when that work has finished.
/// An earlier record is replaced; waits bound to it stay with it.
///
/// # Parameters
/// `event`: a live event. `stream`: any stream the library gave out, of the event's device once
/// that is settled.
/// # Errors
/// INVALID_HANDLE: `event` is NULL, destroyed or foreign. INVALID_HANDLE or INVALID_DEVICE:
/// `stream` was not given out by the library. CROSS_DEVICE: the event was first recorded on another
/// device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.Event.record()`.
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

/// Tells whether an event's newest record is complete; true when there is none.
///
/// # Parameters
/// `event`: a live event. `out_complete` [out].
/// # Errors
/// INVALID_HANDLE: `event` is NULL, destroyed or foreign. DRIVER: also for a failure of earlier
/// work on the device. INVALID_ARGUMENT: `out_complete` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND,
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_complete` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.Event.query()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_query(
    event: *mut sconce_event,
    out_complete: *mut bool,
) -> sconce_status {
    guard_runtime(|| {
        // SAFETY: the caller promises a writable place.
        let out_complete = unsafe { Out::new(out_complete, "out_complete") }?;
        out_complete.write(event::query(sconce_event::key(event, "event")?)?);
        Ok(())
    })
}

/// Waits for an event's newest record; returns at once when there is none.
///
/// # Parameters
/// `event`: a live event.
/// # Errors
/// INVALID_HANDLE: `event` is NULL, destroyed or foreign. DRIVER: also for a failure of earlier
/// work on the device. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Blocks the calling thread: spinning, or sleeping with `SCONCE_EVENT_BLOCKING_SYNC`.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// `torch.cuda.Event.synchronize()`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_event_synchronize(event: *mut sconce_event) -> sconce_status {
    guard(|| event::synchronize(sconce_event::key(event, "event")?))
}

/// Gives the time between two records.
///
/// # Parameters
/// `start`, `end`: live events of one device, made with `SCONCE_EVENT_TIMING`, recorded and
/// complete. `out_elapsed_ms` [out]: milliseconds, negative when `end` came first.
/// # Errors
/// INVALID_HANDLE: one of them is NULL, destroyed or foreign. INVALID_ARGUMENT: one has no timing,
/// or `out_elapsed_ms` is NULL. INVALID_STATE: one was never recorded. NOT_READY: one is pending.
/// CROSS_DEVICE. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_elapsed_ms` is NULL or valid for writing one value.
/// # Upstream
/// `torch.cuda.Event.elapsed_time()`, in its words.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_elapsed_ms(
    start: *mut sconce_event,
    end: *mut sconce_event,
    out_elapsed_ms: *mut f32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_elapsed_ms = unsafe { Out::new(out_elapsed_ms, "out_elapsed_ms") }?;
        let start = sconce_event::key(start, "start")?;
        let end = sconce_event::key(end, "end")?;
        out_elapsed_ms.write(event::elapsed_ms(start, end)?);
        Ok(())
    })
}

/// Gives the device an event was first recorded on.
///
/// # Parameters
/// `event`: a live event. `out_device` [out]: index, -1 while the event has not been recorded.
/// # Errors
/// INVALID_HANDLE: `event` is NULL, destroyed or foreign. INVALID_ARGUMENT: `out_device` is NULL.
/// FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; calls no driver.
/// # Threads
/// Any.
/// # Safety
/// `out_device` is NULL or valid for writing one value.
/// # Upstream
/// `at::cuda::CUDAEvent::device_index()`, `isCreated()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_get_device(
    event: *mut sconce_event,
    out_device: *mut i32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_device = unsafe { Out::new(out_device, "out_device") }?;
        let device = event::device(sconce_event::key(event, "event")?)?;
        out_device.write(device.map_or(-1, |device| device.as_i32()));
        Ok(())
    })
}

/// Gives the bytes by which another process can open an event.
///
/// # Parameters
/// `event`: a live event made with `SCONCE_EVENT_INTERPROCESS`; if it was never recorded it settles
/// on the current device. `out_handle` [out]: 64 bytes.
/// # Errors
/// INVALID_HANDLE: `event` is NULL, destroyed or foreign. INVALID_ARGUMENT: made without that flag,
/// or `out_handle` is NULL. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The event must outlive its use by other processes.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_handle` is NULL or valid for writing 64 bytes.
/// # Upstream
/// `torch.cuda.Event.ipc_handle()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_get_ipc_handle(
    event: *mut sconce_event,
    out_handle: *mut u8,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_handle =
            unsafe { Out::new(out_handle.cast::<[u8; SCONCE_IPC_HANDLE_BYTES]>(), "out_handle") }?;
        out_handle.write(event::ipc_handle(sconce_event::key(event, "event")?)?.0);
        Ok(())
    })
}

/// Opens another process's event.
///
/// # Parameters
/// `device`: index, -1 for the current device. `handle`: the 64 bytes that process gave.
/// `out_event` [out].
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: `handle` or `out_event` is NULL, or it is of an event of this
/// process. INVALID_HANDLE or DRIVER: the bytes are no handle, or the event is gone. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller destroys it with `sconce_event_destroy`.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `handle` is NULL or valid for reading 64 bytes. `out_event` is NULL or valid for writing one
/// value.
/// # Upstream
/// `torch.cuda.Event.from_ipc_handle()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_event_from_ipc_handle(
    device: i32,
    handle: *const u8,
    out_event: *mut *mut sconce_event,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_event = unsafe { Out::new(out_event, "out_event") }?;
        if handle.is_null() {
            return Err(null("handle"));
        }
        // SAFETY: not NULL, and the caller promises 64 readable bytes.
        let bytes = unsafe { handle.cast::<[u8; SCONCE_IPC_HANDLE_BYTES]>().read() };
        out_event.write(sconce_event::from_key(event::from_ipc_handle(device, &IpcHandle(bytes))?));
        Ok(())
    })
}
