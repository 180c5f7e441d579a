//! The simulator's controls, for tests. See `docs/design/simulator.md`.

use std::ffi::c_char;

use crate::context::runtime;
use crate::error::{Error, Result};
use crate::ffi::{CBool, Out, guard, sconce_status, sconce_stream, text};
use crate::sim;

/// The name of a driver call.
///
/// # Safety
/// If `call` is not NULL, it is NUL-terminated and stays as it is during the call.
unsafe fn call_name<'a>(call: *const c_char) -> Result<&'a str> {
    // SAFETY: the caller's promise is the one asked for.
    let name = unsafe { text(call, "call") }?;
    name.to_str().map_err(|_| Error::invalid_argument("call is not UTF-8"))
}

/// Turns manual mode on or off. In manual mode nothing queued completes until `sconce_sim_step` or
/// `sconce_sim_run_until_idle` lets it, and time moves only with what completes.
///
/// # Parameters
/// `manual`: on or off; off lets everything go on by itself.
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
pub extern "C" fn sconce_sim_set_manual(manual: CBool) -> sconce_status {
    guard(|| sim::set_manual(manual.is_true()))
}

/// Completes the first pending operation of a stream, if what it waits for has happened.
///
/// # Parameters
/// `stream`: any stream the library gave out. `out_stepped` [out]: whether there was one that
/// could.
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
/// `out_stepped` is NULL. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Runs the operation, also a host function, on the calling thread.
/// # Threads
/// Any.
/// # Safety
/// `out_stepped` is NULL or valid for writing one value.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_step(
    stream: sconce_stream,
    out_stepped: *mut bool,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_stepped = unsafe { Out::new(out_stepped, "out_stepped") }?;
        let runtime = runtime()?;
        out_stepped.write(sim::step(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Lets everything happen that can: in manual mode steps on the calling thread, otherwise waits.
/// What remains waits for a stuck event or another process.
///
/// # Parameters
/// `out_steps` [out]: how many operations were stepped.
/// # Errors
/// INVALID_ARGUMENT: `out_steps` is NULL. NOT_SUPPORTED: the backend is not the simulator.
/// NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Blocks until it is done.
/// # Threads
/// Any.
/// # Safety
/// `out_steps` is NULL or valid for writing one value.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_run_until_idle(out_steps: *mut usize) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_steps = unsafe { Out::new(out_steps, "out_steps") }?;
        out_steps.write(sim::run_until_idle()?);
        Ok(())
    })
}

/// Tells how many operations of a stream have not completed.
///
/// # Parameters
/// `stream`: any stream the library gave out. `out_count` [out].
/// # Errors
/// INVALID_HANDLE or INVALID_DEVICE: `stream` was not given out by the library. INVALID_ARGUMENT:
/// `out_count` is NULL. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `out_count` is NULL or valid for writing one value.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_get_pending(
    stream: sconce_stream,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a writable place.
        let out_count = unsafe { Out::new(out_count, "out_count") }?;
        let runtime = runtime()?;
        out_count.write(sim::pending(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Sets how long kernels, copies, fills and host functions take that are queued from now on.
///
/// # Parameters
/// `latency_ns`: nanoseconds.
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
pub extern "C" fn sconce_sim_set_latency_ns(latency_ns: u64) -> sconce_status {
    guard(|| sim::set_latency_ns(latency_ns))
}

/// Tells how often a driver call has been made since the last reset.
///
/// # Parameters
/// `call`: a driver call, such as `stream_create`, `copy_async`, `fill_async`, `kernel_launch`; the
/// message for any other name lists all.
/// `out_count` [out].
/// # Errors
/// INVALID_ARGUMENT: `call` is no driver call, or a parameter is NULL. NOT_SUPPORTED: the backend
/// is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `call` is NULL or NUL-terminated. `out_count` is NULL or valid for writing one value.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_get_call_count(
    call: *const c_char,
    out_count: *mut u64,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a NUL-terminated text.
        let call = unsafe { call_name(call) }?;
        // SAFETY: the caller promises a writable place.
        let out_count = unsafe { Out::new(out_count, "out_count") }?;
        out_count.write(sim::call_count(call)?);
        Ok(())
    })
}

/// Sets the count of every driver call to 0.
///
/// # Parameters
/// None.
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
pub extern "C" fn sconce_sim_reset_call_counts() -> sconce_status {
    guard(sim::reset_call_counts)
}

/// Makes the `nth` driver call of a kind from now on fail at once.
///
/// # Parameters
/// `call`: a driver call, such as `stream_create`, `copy_async`, `fill_async`, `kernel_launch`; the
/// message for any other name lists all.
/// `nth`: 1 is the next call. `code`: a CUDA error number, e.g. 2 for out of memory.
/// # Errors
/// INVALID_ARGUMENT: `call` is no driver call or NULL, `nth` or `code` is 0. NOT_SUPPORTED: the
/// backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `call` is NULL or NUL-terminated.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_inject_fault(
    call: *const c_char,
    nth: u64,
    code: i32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a NUL-terminated text.
        let call = unsafe { call_name(call) }?;
        sim::fail_call(call, nth, code)
    })
}

/// Makes the `nth` operation queued by driver calls of a kind fail when it runs, and with it its
/// device: every later call that queues or awaits work there fails with the same code.
///
/// # Parameters
/// `call`: a driver call, such as `stream_create`, `copy_async`, `fill_async`, `kernel_launch`; the
/// message for any other name lists all.
/// `nth`: 1 is the next. `code`: a CUDA error number, e.g. 700 for an illegal address.
/// # Errors
/// INVALID_ARGUMENT: `call` is no driver call or NULL, `nth` or `code` is 0. NOT_SUPPORTED: the
/// backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
/// # Ownership
/// None.
/// # Ordering
/// Does not block.
/// # Threads
/// Any.
/// # Safety
/// `call` is NULL or NUL-terminated.
/// # Upstream
/// None: torch has no such backend.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_inject_async_fault(
    call: *const c_char,
    nth: u64,
    code: i32,
) -> sconce_status {
    guard(|| {
        // SAFETY: the caller promises a NUL-terminated text.
        let call = unsafe { call_name(call) }?;
        sim::fail_operation(call, nth, code)
    })
}

/// Makes the `nth` event record from now on never complete, and nothing behind it on its stream.
///
/// # Parameters
/// `nth`: 1 is the next.
/// # Errors
/// INVALID_ARGUMENT: `nth` is 0. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE,
/// LIBRARY_NOT_FOUND, FORKED as `sconce_init`.
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
pub extern "C" fn sconce_sim_stick_event(nth: u64) -> sconce_status {
    guard(|| sim::stick_record(nth))
}

/// Forgets all faults that have not struck and lets stuck records complete.
///
/// # Parameters
/// None.
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
pub extern "C" fn sconce_sim_clear_faults() -> sconce_status {
    guard(sim::clear_faults)
}

/// Takes an asynchronous error off a device, which no real driver can do. What was queued when it
/// struck stays undone.
///
/// # Parameters
/// `device`: index, -1 for the current device.
/// # Errors
/// INVALID_DEVICE. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND,
/// FORKED as `sconce_init`.
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
pub extern "C" fn sconce_sim_clear_device_error(device: i32) -> sconce_status {
    guard(|| sim::clear_device_error(device))
}

/// Sets whether the simulated hardware lets kernels of `device` use the memory of `peer`; allowed
/// at first.
///
/// # Parameters
/// `device`, `peer`: indices, -1 for the current device. `allowed`.
/// # Errors
/// INVALID_DEVICE. NOT_SUPPORTED: the backend is not the simulator. NO_DEVICE, LIBRARY_NOT_FOUND,
/// FORKED as `sconce_init`.
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
pub extern "C" fn sconce_sim_set_peer_access(
    device: i32,
    peer: i32,
    allowed: CBool,
) -> sconce_status {
    guard(|| sim::set_peer_allowed(device, peer, allowed.is_true()))
}
