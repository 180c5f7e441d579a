//! The simulator's controls.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use sconce::*;
use testkit::statuses::ok;

use super::{Call, call};
use crate::world::*;

/// An event that the program has recorded.
fn recorded_native() -> *mut c_void {
    let event = native_event();
    ok(sconce_sim_event_record(event, native_stream()));
    ok(sconce_sim_event_synchronize(event));
    event
}

/// A stream that the program captures.
fn captured() -> sconce_stream {
    let stream = stream_of(0);
    ok(sconce_sim_begin_capture(stream, SCONCE_CAPTURE_THREAD_LOCAL));
    stream
}

/// Memory of the driver.
fn driver_block() -> *mut c_void {
    // SAFETY: a writable place.
    made(|out| unsafe { sconce_sim_memory_alloc(0, BYTES, out) })
}

fn registered() {
    let (name, function) = (c"registered".as_ptr(), NO_KERNEL);
    // SAFETY: texts, and a function that does nothing.
    ok(unsafe { sconce_sim_register_kernel(name, null(), 0, 16, 0, function, null_mut(), None) });
}

#[rustfmt::skip]
pub(super) const ALL: &[Call] = &[
    call!(sconce_sim_set_manual, w, [CBool::FALSE]),
    call!(sconce_sim_step, w, [w.stream, out()]),
    call!(sconce_sim_run_until_idle, w, [out()]),
    call!(sconce_sim_get_pending, w, [w.stream, out()]),
    call!(sconce_sim_set_latency_ns, w, [5000]),
    call!(sconce_sim_get_call_count, w, [c"memory_alloc".as_ptr(), out()]),
    call!(sconce_sim_reset_call_counts, w, []),
    call!(sconce_sim_inject_fault, w, [c"comm_abort".as_ptr(), 1000, 999]),
    call!(sconce_sim_inject_async_fault, w, [c"fill_2d_async".as_ptr(), 1000, 999]),
    call!(sconce_sim_stick_event, w, [1_000_000]),
    call!(sconce_sim_clear_faults, w, []),
    call!(sconce_sim_clear_device_error, w, [0]),
    call!(sconce_sim_set_peer_access, w, [0, 1, CBool::TRUE]),
    call!(sconce_sim_begin_capture, w, [w.other, SCONCE_CAPTURE_THREAD_LOCAL]),
    call!(sconce_sim_end_capture, w, [captured()]),
    call!(sconce_sim_stream_create, w, [0, 0, 0, out()]),
    call!(sconce_sim_stream_destroy, w, [native_stream()]),
    call!(sconce_sim_set_current_device, w, [1]),
    call!(sconce_sim_get_current_device, w, [out()]),
    call!(sconce_sim_event_create, w, [0, 0, out()]),
    call!(sconce_sim_event_destroy, w, [native_event()]),
    call!(sconce_sim_event_record, w, [native_event(), native_stream()]),
    call!(sconce_sim_event_query, w, [recorded_native(), out()]),
    call!(sconce_sim_event_synchronize, w, [recorded_native()]),
    call!(sconce_sim_set_address_reuse, w, [CBool::FALSE]),
    call!(sconce_sim_memory_alloc, w, [0, BYTES, out()]),
    call!(sconce_sim_memory_free, w, [driver_block()]),
    call!(sconce_sim_memory_read, w, [block().cast_const(), BYTES, host(BYTES)]),
    call!(sconce_sim_memory_write, w, [block(), BYTES, host(BYTES).cast_const()]),
    call!(sconce_sim_comm_kill, w, [comm()]),
    call!(sconce_sim_comm_delay, w, [comm(), 1]),
    call!(sconce_sim_comm_fail, w, [comm(), 1]),
    call!(sconce_sim_set_comm_patience_ms, w, [20_000]),
    call!(sconce_sim_register_kernel, w, [c"another".as_ptr(), null(), 0, 16, 0, NO_KERNEL, null_mut(), None]),
    call!(sconce_sim_unregister_kernel, w, { registered(); } [c"registered".as_ptr()]),
    call!(sconce_sim_kernel_read, w, [0, 8, host(8)]),
    call!(sconce_sim_kernel_write, w, [0, 8, host(8).cast_const()]),
    call!(sconce_sim_kernel_fail, w, [1, c"text".as_ptr()]),
];
