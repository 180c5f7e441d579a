//! A device's plan of the library, and when it may be destroyed.
//!
//! A plan's tables are memory that the library got from the driver. A graph that contains an execution uses them
//! whenever it is launched. So the graph keeps a share of the plan, and a plan that has left the cache is destroyed
//! with the last of them; until then its bytes count with those of the cache. Nobody says when graphs of other code are
//! gone: what they use is never destroyed. Nor can memory go back while a stream of the device is captured: the
//! destruction of plans that are dropped then is deferred until the next plan is made, a limit is set, the cache is
//! cleared, memory is short, or the program waits for a device.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_base::log;
use sconce_base::types::DeviceIndex;
use sconce_driver::{FftCall, FftPlan, RelaxedCapture};
use sconce_runtime::context::Runtime;
use sconce_runtime::graph_shared::{GraphShared, Share};
use sconce_runtime::stream;

use super::plan_cost::PlanCost;

/// A plan of a device.
pub(super) struct DevicePlan {
    library: GraphShared<LibraryPlan>,
    /// A graph of other code uses it.
    is_of_others: bool,
}

/// The library's plan.
struct LibraryPlan {
    /// `None` only while this is dropped.
    plan: Option<Box<dyn FftPlan>>,
    runtime: &'static Runtime,
    device: DeviceIndex,
    cost: PlanCost,
    /// It has left the cache, and its cost is counted in [`OUTSIDE`].
    is_outside: bool,
}

/// The bytes of plans that have left the cache and that graphs keep.
struct OutsideBytes {
    plan: AtomicU64,
    workspace: AtomicU64,
}

static OUTSIDE: PerDevice<OutsideBytes> =
    per_device!(OutsideBytes { plan: AtomicU64::new(0), workspace: AtomicU64::new(0) });

/// The bytes of a device's plans that have left the cache and that graphs keep.
pub(super) fn cost_outside(device: DeviceIndex) -> PlanCost {
    let outside = &OUTSIDE[device];
    PlanCost {
        plan: outside.plan.load(Ordering::Relaxed),
        workspace: outside.workspace.load(Ordering::Relaxed),
    }
}

impl DevicePlan {
    pub(super) fn new(
        library: Box<dyn FftPlan>,
        runtime: &'static Runtime,
        device: DeviceIndex,
        cost: PlanCost,
    ) -> DevicePlan {
        let plan = Some(library);
        let library = LibraryPlan { plan, runtime, device, cost, is_outside: false };
        DevicePlan { library: GraphShared::new(library), is_of_others: false }
    }

    /// Queues an execution.
    #[inline]
    pub(super) fn execute(&mut self, call: &FftCall) -> Result<()> {
        match &mut self.library.get()?.plan {
            Some(plan) => plan.execute(call),
            None => Err(Error::new(Status::Internal, "a plan was used after its end")),
        }
    }

    /// A share for the graph that an execution becomes part of.
    pub(super) fn share(&mut self) -> Share {
        self.library.share()
    }

    /// The graph is one of other code.
    pub(super) fn note_others(&mut self) {
        self.is_of_others = true;
    }
}

impl Drop for DevicePlan {
    fn drop(&mut self) {
        if !self.library.is_shared() {
            return;
        }
        if let Ok(library) = self.library.get() {
            library.leave_cache();
        }
        if self.is_of_others {
            warn_of_leak();
        }
    }
}

impl LibraryPlan {
    /// Graphs keep it, but the cache does not.
    fn leave_cache(&mut self) {
        self.is_outside = true;
        let outside = &OUTSIDE[self.device];
        outside.plan.fetch_add(self.cost.plan, Ordering::Relaxed);
        outside.workspace.fetch_add(self.cost.workspace, Ordering::Relaxed);
    }
}

impl Drop for LibraryPlan {
    fn drop(&mut self) {
        if self.is_outside {
            let outside = &OUTSIDE[self.device];
            outside.plan.fetch_sub(self.cost.plan, Ordering::Relaxed);
            outside.workspace.fetch_sub(self.cost.workspace, Ordering::Relaxed);
        }
        DEFERRED[self.device].lock().extend(self.plan.take());
        destroy_deferred(self.runtime, self.device);
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

/// [`destroy_deferred`] for all devices.
pub(super) fn destroy_all_deferred(runtime: &Runtime) {
    for device in runtime.devices() {
        destroy_deferred(runtime, device);
    }
}

fn warn_of_leak() {
    static ONCE: AtomicBool = AtomicBool::new(false);
    if !ONCE.swap(true, Ordering::Relaxed) {
        log::warn(format_args!(
            "a plan of a Fourier transform left the cache, but was used in a capture that other code began: nobody \
             says when that graph is gone, so the plan's memory is never freed, like that of all such plans; a larger \
             limit of the cache avoids making such plans again, and graphs of this library let go of theirs"
        ));
    }
}
