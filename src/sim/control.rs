//! The simulator's controls, for tests. See `docs/design/simulator.md`.

use std::ffi::c_char;

use sconce_base::error::{Error, Result};
use sconce_runtime::context::runtime;

use crate::sim::controls as sim;
use crate::{CBool, guard, sconce_status, sconce_stream, text};

/// The name of a driver call.
///
/// # Safety
/// If `call` is not NULL, it is NUL-terminated and stays as it is while the result is used.
unsafe fn call_name(call: &*const c_char) -> Result<&str> {
    // SAFETY: NULL, or NUL-terminated for as long, as this function demands.
    let name = unsafe { text(call, "call") }?;
    name.to_str().map_err(|_| Error::invalid_argument("call is not UTF-8"))
}

/// Turns manual mode on or off. In manual mode, queued work completes only in `sconce_sim_step` and
/// `sconce_sim_run_until_idle`, and time advances only with what completes.
///
/// - `manual`: false lets all work proceed by itself.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_set_manual(manual: CBool) -> sconce_status {
    guard(|| sim::set_manual(manual.is_true()))
}

/// Completes the first pending operation of a stream, if everything for which it waits has
/// happened. The operation, even a host function, runs on the calling thread.
///
/// - `out_stepped`: receives whether an operation was completed.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_step(
    stream: sconce_stream,
    out_stepped: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_stepped = out!(out_stepped);
        let runtime = runtime()?;
        out_stepped.write(sim::step(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Completes all operations that can complete: in manual mode on the calling thread, otherwise by
/// waiting. The remaining ones wait for a stuck event or for another process.
///
/// - `out_steps`: receives the number of operations completed on the calling thread.
/// - Ordering: blocks until it is done.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_run_until_idle(out_steps: *mut usize) -> sconce_status {
    guard(|| {
        let out_steps = out!(out_steps);
        out_steps.write(sim::run_until_idle()?);
        Ok(())
    })
}

/// Reports how many operations of a stream have not completed.
///
/// - `out_count`: receives the number.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_get_pending(
    stream: sconce_stream,
    out_count: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_count = out!(out_count);
        let runtime = runtime()?;
        out_count.write(sim::pending(runtime, stream.resolve(runtime)?)?);
        Ok(())
    })
}

/// Sets the duration of kernels, copies, fills and host functions that are queued from now on. The
/// default is `SCONCE_SIM_LATENCY_NS`, which is 5000 by default.
///
/// - `latency_ns`: nanoseconds.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_set_latency_ns(latency_ns: u64) -> sconce_status {
    guard(|| sim::set_latency_ns(latency_ns))
}

/// Reports how many times a driver call has been made since the last reset.
///
/// - `call`: name of a driver call, such as `stream_create`, `copy_async`, `fill_async` or
///   `kernel_launch`. Another name is INVALID_ARGUMENT, and the message lists all names.
/// - `out_count`: receives the number.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_get_call_count(
    call: *const c_char,
    out_count: *mut u64,
) -> sconce_status {
    guard(|| {
        let call = checked!(call_name(&call));
        let out_count = out!(out_count);
        out_count.write(sim::call_count(call)?);
        Ok(())
    })
}

/// Sets the count of every driver call to 0.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_reset_call_counts() -> sconce_status {
    guard(sim::reset_call_counts)
}

/// Makes the `nth` driver call of a kind, counted from now on, fail at once.
///
/// - `call`: name of a driver call, as in `sconce_sim_get_call_count`.
/// - `nth`: 1 is the next call; 0 is INVALID_ARGUMENT.
/// - `code`: a CUDA error number, e.g. 2 for out of memory; 0 is INVALID_ARGUMENT.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_inject_fault(
    call: *const c_char,
    nth: u64,
    code: i32,
) -> sconce_status {
    guard(|| {
        let call = checked!(call_name(&call));
        sim::fail_call(call, nth, code)
    })
}

/// Makes the `nth` operation queued by driver calls of a kind fail when it runs. Its device then
/// fails as well: every later call that queues work there or waits for work fails with the same
/// code.
///
/// - `call`: name of a driver call, as in `sconce_sim_get_call_count`.
/// - `nth`: 1 is the next operation; 0 is INVALID_ARGUMENT.
/// - `code`: a CUDA error number, e.g. 700 for an illegal address; 0 is INVALID_ARGUMENT.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_inject_async_fault(
    call: *const c_char,
    nth: u64,
    code: i32,
) -> sconce_status {
    guard(|| {
        let call = checked!(call_name(&call));
        sim::fail_operation(call, nth, code)
    })
}

/// Makes the `nth` event record, counted from now on, never complete. Later work of its stream does
/// not complete either.
///
/// - `nth`: 1 is the next record; 0 is INVALID_ARGUMENT.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_stick_event(nth: u64) -> sconce_status {
    guard(|| sim::stick_record(nth))
}

/// Removes all injected faults that have not taken effect, and lets stuck records complete.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_clear_faults() -> sconce_status {
    guard(sim::clear_faults)
}

/// Clears the asynchronous error of a device, which no real driver can do. Work that was queued at
/// the time of the error is not executed.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_clear_device_error(device: i32) -> sconce_status {
    guard(|| sim::clear_device_error(device))
}

/// Sets whether the simulated hardware lets kernels of `device` use the memory of `peer`. True by
/// default.
///
/// - `device`, `peer`: indices, -1 for the current device.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_sim_set_peer_access(
    device: i32,
    peer: i32,
    allowed: CBool,
) -> sconce_status {
    guard(|| sim::set_peer_allowed(device, peer, allowed.is_true()))
}
