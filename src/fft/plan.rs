//! A device's plan of the library, and when it may be destroyed.
//!
//! A plan's tables are memory that the library got from the driver. A graph that contains an execution uses
//! them whenever it is launched, so a plan that was executed into a capture is never destroyed. Nor can
//! memory go back while a stream of the device is captured: the destruction of plans that are dropped then
//! is deferred until the next plan is made, a limit is set, the cache is cleared or memory is short.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::collections::per_device::{PerDevice, per_device};
use crate::context::Runtime;
use crate::driver::{FftCall, FftPlan, RelaxedCapture};
use crate::error::Result;
use crate::leak_if_captured::LeakIfCaptured;
use crate::lock::{Mutex, rank};
use crate::types::DeviceIndex;
use crate::{log, stream};

/// A plan of a device.
pub(super) struct DevicePlan {
    library: LeakIfCaptured<Box<dyn FftPlan>>,
    runtime: &'static Runtime,
    device: DeviceIndex,
}

impl DevicePlan {
    pub(super) fn new(
        library: Box<dyn FftPlan>,
        runtime: &'static Runtime,
        device: DeviceIndex,
    ) -> DevicePlan {
        DevicePlan { library: LeakIfCaptured::new(library, false), runtime, device }
    }

    /// Queues an execution. `is_captured`: the stream is captured, so that the execution becomes part of a
    /// graph.
    pub(super) fn execute(&mut self, call: &FftCall, is_captured: bool) -> Result<()> {
        self.library.get(is_captured)?.execute(call)
    }

    /// Whether a graph contains an execution.
    pub(super) fn is_captured(&self) -> bool {
        self.library.is_captured()
    }
}

impl Drop for DevicePlan {
    fn drop(&mut self) {
        match self.library.take() {
            Some(library) => {
                DEFERRED[self.device].lock().push(library);
                destroy_deferred(self.runtime, self.device);
            }
            None => warn_of_leak(),
        }
    }
}

/// Unused plans that are yet to be destroyed.
static DEFERRED: PerDevice<Mutex<rank::FftDeferred, Vec<Box<dyn FftPlan>>>> =
    per_device!(Mutex::new(Vec::new()));

/// Destroys the unused plans of a device, unless a stream of the device is captured. Returns how many.
pub(super) fn destroy_deferred(runtime: &Runtime, device: DeviceIndex) -> usize {
    let deferred = &DEFERRED[device];
    let is_empty = deferred.lock().is_empty();
    if is_empty {
        return 0;
    }
    let Some(_no_capture_begins) = stream::give_back(runtime, device, None) else { return 0 };
    // Relaxed, because CUDA refuses this to a thread while a stream of another device is captured in
    // global mode, although that capture cannot be affected.
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return 0 };
    let plans = mem::take(&mut *deferred.lock());
    plans.len()
}

fn warn_of_leak() {
    static ONCE: AtomicBool = AtomicBool::new(false);
    if !ONCE.swap(true, Ordering::Relaxed) {
        log::warn(format_args!(
            "a plan of a Fourier transform left the cache, but was used in a captured graph: its \
             memory is never freed, like that of all such plans; a larger limit of the cache avoids making such plans again"
        ));
    }
}
