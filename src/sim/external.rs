//! Streams, events and current contexts of simulated devices that the library did not make, for tests of its treatment
//! of other code's. See `docs/design/simulator.md`.

use std::ffi::c_void;

use sconce_base::error::{Error, Result};
use sconce_driver::StreamFlags;

use crate::event::parse_flags;
use crate::sim::controls as sim;
use crate::{CBool, guard, sconce_status};

/// Flag of a stream of a simulated device: the default stream does not order its work implicitly.
/// The value is CUDA's (`CU_STREAM_NON_BLOCKING`).
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

/// Creates a stream on a simulated device outside the library, as other code of a process does with
/// `cuStreamCreateWithPriority`. `sconce_stream_get_from_external` accepts it. The call is not
/// counted as a driver call of the library.
///
/// - `flags`: 0 or `SCONCE_SIM_STREAM_NON_BLOCKING`, else INVALID_ARGUMENT.
/// - `priority`: 0 (lowest) to -5, clamped.
/// - `out_native`: receives the handle.
/// - Ownership: the caller destroys the stream with `sconce_sim_stream_destroy`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_stream_create(
    device: i32,
    flags: u32,
    priority: i32,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_native = out!(out_native);
        let flags = stream_flags(flags)?;
        out_native.write(pointer(sim::external_stream_create(device, flags, priority)?));
        Ok(())
    })
}

/// Destroys a stream that `sconce_sim_stream_create` created. Work that is queued already still
/// runs.
///
/// Any later simulated driver call that receives the handle ends the process with a message that
/// names the call and the handle, because CUDA would read freed memory. With address reuse, a new
/// stream or event may have the same handle.
///
/// - `native`: the handle; INVALID_HANDLE if it was never a handle, or is a default stream.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_stream_destroy(native: *mut c_void) -> sconce_status {
    guard(|| sim::external_stream_destroy(native.addr()))
}

/// Makes the context of a simulated device current on the calling thread outside the library, as
/// other code of a process does with `cudaSetDevice`. The call is not counted as a driver call of
/// the library. With `SCONCE_CHECK_DEVICE=1` the library's current device follows.
///
/// - `device`: index; -1 leaves no context current, as `cuCtxSetCurrent(NULL)` does.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_set_current_device(device: i32) -> sconce_status {
    guard(|| sim::external_set_current_device(device))
}

/// Reports the simulated device whose context is current on the calling thread, as other code of
/// the process sees it with `cuCtxGetDevice`.
///
/// - `out_device`: receives the index; -1 if no context is current.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_get_current_device(out_device: *mut i32) -> sconce_status {
    guard(|| {
        let out_device = out!(out_device);
        out_device.write(sim::external_current_device()?);
        Ok(())
    })
}

/// Creates an event on a simulated device outside the library, as other code of a process does with
/// `cuEventCreate`. The call is not counted as a driver call of the library.
///
/// - `flags`: `SCONCE_EVENT_…` combined by `|`.
/// - `out_native`: receives the handle.
/// - Errors: INVALID_ARGUMENT: unknown flags, or timing together with interprocess.
/// - Ownership: the caller destroys the event with `sconce_sim_event_destroy`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_event_create(
    device: i32,
    flags: u32,
    out_native: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_native = out!(out_native);
        let flags = parse_flags(flags)?;
        out_native.write(pointer(sim::external_event_create(device, flags)?));
        Ok(())
    })
}

/// Destroys an event that `sconce_sim_event_create` created. Work that waits for it still waits.
///
/// Any later simulated driver call that receives the handle ends the process with a message that
/// names the call and the handle.
///
/// - `native`: the handle; INVALID_HANDLE if it was never a handle.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_event_destroy(native: *mut c_void) -> sconce_status {
    guard(|| sim::external_event_destroy(native.addr()))
}

/// Records an event that other code made on a stream of its device, as `cuEventRecord` does.
///
/// - `event`: the event's handle.
/// - `stream`: the stream's handle; NULL is the default stream of the event's device.
/// - Errors: INVALID_HANDLE: an argument is not a handle, or the stream and the event are of
///   different devices. INVALID_STATE: a capture forbids it.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_event_record(
    event: *mut c_void,
    stream: *mut c_void,
) -> sconce_status {
    guard(|| sim::external_event_record(event.addr(), stream.addr()))
}

/// Reports whether the most recent record of an event that other code made has completed, as
/// `cuEventQuery` does. True if there is no record.
///
/// - `event`: the event's handle, else INVALID_HANDLE.
/// - `out_done`: receives the answer.
/// - Errors: INVALID_STATE: a capture forbids it.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_event_query(
    event: *mut c_void,
    out_done: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_done = out!(out_done);
        out_done.write(sim::external_event_query(event.addr())?);
        Ok(())
    })
}

/// Waits for the most recent record of an event that other code made, as `cuEventSynchronize` does.
///
/// - `event`: the event's handle, else INVALID_HANDLE.
/// - Errors: INVALID_STATE: a capture forbids it.
/// - Ordering: blocks until the record has completed.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_event_synchronize(event: *mut c_void) -> sconce_status {
    guard(|| sim::external_event_synchronize(event.addr()))
}

/// Turns the reuse of freed addresses and handles on or off. The default is
/// `SCONCE_SIM_REUSE_ADDRESSES` (0 or 1), which is 0 by default.
///
/// *On*: for device memory, reserved ranges and pinned host memory, the next allocation that fits
/// returns the address that was freed last, and new streams and events have the handles of
/// destroyed ones, as with CUDA drivers. *Off*: freed addresses stay unused as long as possible, so
/// that a use after free is found.
///
/// - `reuse`: whether addresses and handles that are freed from now on are reused at once.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_set_address_reuse(reuse: CBool) -> sconce_status {
    guard(|| sim::set_address_reuse(reuse.is_true()))
}
