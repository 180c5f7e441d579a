//! Functions of the program that run in stream order.
//!
//! The driver calls one of this file's functions, which says that such code runs on the thread and calls the
//! program's. Its argument is a box with the program's function:
//!
//! - a function without an alternative is `cuLaunchHostFunc`, whose box is freed when it has run. If the work before it
//!   fails the driver does not call it, and the box is lost with the device;
//! - one that is captured runs at each launch of the graph, and nothing reports the end of a graph that other code
//!   copied. Its box stays, one for each pair of a function and a pointer;
//! - one with an alternative is `cuStreamAddCallback`, which the driver also calls after a failure, with its code.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::from_ref;

use cudarc::driver::sys::CUstream;
use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_driver::{HostFunction, StreamRef, Streams};

use crate::CudaDriver;
use crate::result::SUCCESS;

/// The boxes of captured functions.
static CAPTURED: Mutex<
    rank::CudaHostFunctions,
    Option<HashMap<HostFunctionKey, &'static HostFunction>>,
> = Mutex::new(None);

/// The addresses of a function and its pointer.
type HostFunctionKey = (usize, usize);

impl CudaDriver {
    pub(super) fn queue_host_function(
        &self,
        stream: StreamRef,
        function: HostFunction,
    ) -> Result<()> {
        if self.stream_is_capturing(stream)? {
            let user = from_ref(kept(function)).cast_mut().cast();
            return self.launch_host_func(stream, run_each_time, user);
        }
        let user: *mut c_void = Box::into_raw(Box::new(function)).cast();
        let queued = if function.has_alternative() {
            self.add_callback(stream, user)
        } else {
            self.launch_host_func(stream, run_once, user)
        };
        if queued.is_err() {
            // SAFETY: made above, and the driver has refused it.
            drop(unsafe { Box::from_raw(user.cast::<HostFunction>()) });
        }
        queued
    }

    fn launch_host_func(
        &self,
        stream: StreamRef,
        function: unsafe extern "C" fn(*mut c_void),
        user: *mut c_void,
    ) -> Result<()> {
        let launch = self.api.cuLaunchHostFunc()?;
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call; the function
        // takes this argument on any thread.
        let code =
            self.on_stream(stream, |handle| unsafe { launch(handle, Some(function), user) })?;
        self.api.check("cuLaunchHostFunc", code)
    }

    fn add_callback(&self, stream: StreamRef, user: *mut c_void) -> Result<()> {
        let add = self.api.cuStreamAddCallback()?;
        // SAFETY: a stream that the driver made or a program has named, kept alive during the call; `run_or_abandon`
        // may run on any thread and takes `user` as its argument; the flags must be 0.
        let code =
            self.on_stream(stream, |handle| unsafe { add(handle, run_or_abandon, user, 0) })?;
        self.api.check("cuStreamAddCallback", code)
    }
}

/// The box of a captured function, which is never freed.
fn kept(function: HostFunction) -> &'static HostFunction {
    let mut captured = CAPTURED.lock();
    captured
        .get_or_insert_default()
        .entry(function.key())
        .or_insert_with(|| Box::leak(Box::new(function)))
}

/// Takes the function out of its box.
///
/// # Safety
/// `user` is a box of `queue_host_function`, and this is its only use.
unsafe fn unboxed(user: *mut c_void) -> HostFunction {
    // SAFETY: `queue_host_function` made the pointer of a box, and this is its only use.
    *unsafe { Box::from_raw(user.cast::<HostFunction>()) }
}

unsafe extern "C" fn run_once(user: *mut c_void) {
    // SAFETY: the driver calls this once with the box.
    let function = unsafe { unboxed(user) };
    // SAFETY: it was queued once.
    unsafe { function.call() };
}

unsafe extern "C" fn run_each_time(user: *mut c_void) {
    // SAFETY: a box that is never freed.
    let function = unsafe { *user.cast::<HostFunction>() };
    // SAFETY: the driver calls this once for each launch of the graph.
    unsafe { function.call() };
}

unsafe extern "C" fn run_or_abandon(_: CUstream, code: i32, user: *mut c_void) {
    // SAFETY: the driver calls this once with the box.
    let function = unsafe { unboxed(user) };
    if code == SUCCESS {
        // SAFETY: it was queued once, and the alternative is not called.
        unsafe { function.call() };
    } else {
        // SAFETY: it was queued once, and is not called itself.
        unsafe { function.call_alternative() };
    }
}
