//! Streams and events of simulated devices that the library did not make, for tests of how it treats
//! those of other code. See `docs/design/simulator.md`.

use std::ffi::c_void;

use crate::driver::StreamFlags;
use crate::error::{Error, Result};
use crate::ffi::event::parse_flags;
use crate::ffi::{CBool, Out, guard, sconce_status};
use crate::sim;

/// Flag of a stream of a simulated device: no implicit order with the default stream. The value is
/// CUDA's (`CU_STREAM_NON_BLOCKING`).
pub const SCONCE_SIM_STREAM_NON_BLOCKING: u32 = 1;

fn stream_flags(flags: u32) -> Result<StreamFlags> {
    match flags {
        0 => Ok(StreamFlags { non_blocking: false }),
        SCONCE_SIM_STREAM_NON_BLOCKING => Ok(StreamFlags { non_blocking: true }),
        _ => Err(Error::invalid_argument(format!(
            "flags is {flags:#x}; it must be 0 or SCONCE_SIM_STREAM_NON_BLOCKING (1)"
        ))),
    }
}

fn pointer(handle: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(handle)
}

/// Makes a stream on a simulated device outside the library, as other code of a process does with
/// `cuStreamCreateWithPriority`. `sconce_stream_get_from_external` takes it.
///
/// The call is not counted as a driver call of the library.
///
/// # Parameters
/// `device`: index, -1 for the current device. `flags`: 0 or `SCONCE_SIM_STREAM_NON_BLOCKING`.
/// `priority`: 0 (lowest) to -5, clamped. `out_native` [out]: the handle.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: unknown flags, or `out_native` is NULL. NOT_SUPPORTED: the
/// backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// The caller destroys the stream with `sconce_sim_stream_destroy`.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_native` is NULL or valid for writing one value.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_stream_create(
    device: i32,
    flags: u32,
    priority: i32,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_native = unsafe { Out::new(out_native, "out_native") }?;
        let flags = stream_flags(flags)?;
        out_native.write(pointer(sim::external_stream_create(device, flags, priority)?));
        Ok(())
    })
}

/// Destroys a stream that `sconce_sim_stream_create` made. Work already queued still runs.
///
/// Any later simulated driver call that receives the handle ends the process with a message that names
/// the call and the handle: CUDA reads freed memory there. With address reuse a new stream or event may
/// get the same handle.
///
/// # Parameters
/// `native`: the handle.
/// # Errors
/// INVALID_HANDLE: `native` was never a handle, or is a default stream. NOT_SUPPORTED: the backend is
/// not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// Takes the stream back.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_stream_destroy(native: *mut c_void) -> sconce_status {
    guard(|| sim::external_stream_destroy(native.addr()))
}

/// Makes an event on a simulated device outside the library, as other code of a process does with
/// `cuEventCreate`.
///
/// The call is not counted as a driver call of the library.
///
/// # Parameters
/// `device`: index, -1 for the current device. `flags`: `SCONCE_EVENT_…` or-ed together.
/// `out_native` [out]: the handle.
/// # Errors
/// INVALID_DEVICE. INVALID_ARGUMENT: unknown flags, timing together with interprocess, or `out_native`
/// is NULL. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// The caller destroys the event with `sconce_sim_event_destroy`.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_native` is NULL or valid for writing one value.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_event_create(
    device: i32,
    flags: u32,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_native = unsafe { Out::new(out_native, "out_native") }?;
        let flags = parse_flags(flags)?;
        out_native.write(pointer(sim::external_event_create(device, flags)?));
        Ok(())
    })
}

/// Destroys an event that `sconce_sim_event_create` made. Work that waits for it still waits.
///
/// Any later simulated driver call that receives the handle ends the process with a message that names
/// the call and the handle.
///
/// # Parameters
/// `native`: the handle.
/// # Errors
/// INVALID_HANDLE: `native` was never a handle. NOT_SUPPORTED: the backend is not the simulator.
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// Takes the event back.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_event_destroy(native: *mut c_void) -> sconce_status {
    guard(|| sim::external_event_destroy(native.addr()))
}

/// Records an event that the library did not make on a stream of its device, as `cuEventRecord` does.
///
/// # Parameters
/// `event`: the event's handle. `stream`: the stream's handle; NULL is the default stream of the
/// event's device.
/// # Errors
/// INVALID_HANDLE: a handle is none, or the stream is of another device than the event. DRIVER: earlier
/// work of the device failed. INVALID_STATE: a capture forbids it. NOT_SUPPORTED: the backend is not
/// the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block; completes after the work queued on the stream so far.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_event_record(
    event: *mut c_void,
    stream: *mut c_void,
) -> sconce_status {
    guard(|| sim::external_event_record(event.addr(), stream.addr()))
}

/// Tells whether the newest record of an event that the library did not make has completed, as
/// `cuEventQuery` does. True when there is no record.
///
/// # Parameters
/// `event`: the event's handle. `out_done` [out].
/// # Errors
/// INVALID_HANDLE: `event` is no handle. INVALID_ARGUMENT: `out_done` is NULL. DRIVER: earlier work of
/// the device failed. INVALID_STATE: a capture forbids it. NOT_SUPPORTED: the backend is not the
/// simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_done` is NULL or valid for writing one value.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_event_query(
    event: *mut c_void,
    out_done: *mut bool,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_done = unsafe { Out::new(out_done, "out_done") }?;
        out_done.write(sim::external_event_query(event.addr())?);
        Ok(())
    })
}

/// Waits for the newest record of an event that the library did not make, as `cuEventSynchronize` does.
///
/// # Parameters
/// `event`: the event's handle.
/// # Errors
/// INVALID_HANDLE: `event` is no handle. DRIVER: work of the device failed. INVALID_STATE: a capture
/// forbids it. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Blocks until the record has completed.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_event_synchronize(event: *mut c_void) -> sconce_status {
    guard(|| sim::external_event_synchronize(event.addr()))
}

/// Turns the reuse of freed addresses and of handles on or off. On: the simulated driver returns an
/// address freed last from the next allocation that fits there, for device memory, reserved ranges and
/// pinned host memory, and gives handles of destroyed streams and events to new ones, as CUDA drivers do.
/// Off: freed addresses rest as long as possible, so that a use after free is found. At first as
/// `SCONCE_SIM_REUSE_ADDRESSES` says (0 or 1, default 0).
///
/// # Parameters
/// `reuse`: on or off. Only what is freed from now on is reused at once.
/// # Errors
/// NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as
/// `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// No requirements.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_set_address_reuse(reuse: CBool) -> sconce_status {
    guard(|| sim::set_address_reuse(reuse.is_true()))
}
