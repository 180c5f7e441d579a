//! A plan: how one is made when memory is short, and when it may be destroyed.
//!
//! A plan's tables are memory that the library got from the driver. A graph that holds an execution
//! uses them whenever it is launched, so a plan that was executed into a capture is never destroyed.
//! Nor can memory go back while a stream of the device is being captured: plans that are dropped then
//! are put aside until the next one is made, a limit is set or memory is short.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::element::Dtype;
use crate::lock::Mutex;

use super::cache::Cost;
use super::limits;
use super::measure::Measure;
use crate::context::Runtime;
use crate::driver::{FftCall, FftPlan, FftShape, RelaxedCapture};
use crate::error::{Error, Result, Status};
use crate::types::{DeviceIndex, MAX_DEVICES};
use crate::{log, memory, stream};

/// A plan of a device.
pub(super) struct Plan {
    /// `None` once it is dropped.
    library: Option<Box<dyn FftPlan>>,
    runtime: &'static Runtime,
    device: DeviceIndex,
    /// A graph uses it.
    in_graph: bool,
}

impl Plan {
    /// Queues an execution; into a graph, if the stream is being captured.
    pub(super) fn execute(&mut self, call: &FftCall, captured: bool) -> Result<()> {
        self.in_graph |= captured;
        match &mut self.library {
            Some(library) => library.execute(call),
            None => Err(Error::new(Status::Internal, "a plan was used after its end")),
        }
    }

    /// Whether it will never be destroyed.
    pub(super) fn is_in_graph(&self) -> bool {
        self.in_graph
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        let Some(library) = self.library.take() else { return };
        if self.in_graph {
            mem::forget(library);
            warn_of_graph();
        } else {
            ASIDE[self.device.as_usize()].lock().push(library);
            destroy_what_is_aside(self.runtime, self.device);
        }
    }
}

/// Plans that nobody uses any more, to be destroyed.
static ASIDE: [Mutex<Vec<Box<dyn FftPlan>>>; MAX_DEVICES] =
    [const { Mutex::new(Vec::new()) }; MAX_DEVICES];

/// Destroys plans that nobody uses, unless a stream of the device is being captured. Says how many.
pub(super) fn destroy_what_is_aside(runtime: &Runtime, device: DeviceIndex) -> usize {
    let aside = &ASIDE[device.as_usize()];
    let is_empty = aside.lock().is_empty();
    if is_empty || stream::is_under_capture(runtime, device) {
        return 0;
    }
    // A capture of another device does not mind, though it holds this thread back.
    let Ok(_relaxed) = RelaxedCapture::enter(runtime.driver()) else { return 0 };
    let plans = mem::take(&mut *aside.lock());
    plans.len()
}

fn warn_of_graph() {
    static ONCE: AtomicBool = AtomicBool::new(false);
    if !ONCE.swap(true, Ordering::Relaxed) {
        log::warn(format_args!(
            "a plan of a Fourier transform left the cache, but was used in a captured graph: its \
             memory is kept for ever, as that of all such plans; a larger limit of the cache avoids \
             making them again"
        ));
    }
}

/// Makes a plan, for which cached memory and the longest unused other plans go if need be.
pub(super) fn make(
    runtime: &'static Runtime,
    device: DeviceIndex,
    shape: &FftShape,
) -> Result<(Plan, usize, Cost)> {
    destroy_what_is_aside(runtime, device);
    let driver = runtime.driver();
    // A library allocates, which a capture under way would refuse and be spoilt by.
    let _relaxed = RelaxedCapture::enter(driver)?;
    let mut emptied = false;
    loop {
        let measure = Measure::begin(runtime, device);
        let error = match driver.fft_plan(device, shape) {
            Ok(library) => {
                let workspace = library.workspace_bytes();
                let cost = Cost { plan: measure.end(), workspace: workspace as u64 };
                let plan = Plan { library: Some(library), runtime, device, in_graph: false };
                return Ok((plan, workspace, cost));
            }
            Err(error) => error,
        };
        drop(measure);
        if error.status() == Status::NotSupported {
            return Err(error.context(refusal(shape)));
        }
        if error.status() != Status::OutOfMemory {
            return Err(error);
        }
        if !mem::replace(&mut emptied, true) && memory::empty_cache_of(runtime, device).is_ok() {
            continue;
        }
        if limits::give_back(device, 1) == 0 {
            return Err(error);
        }
    }
}

/// What a plan that the library does not make lacks.
#[cold]
fn refusal(shape: &FftShape) -> String {
    let sizes = &shape.sizes[..shape.rank];
    let half = shape.element == Dtype::F16;
    if half && let Some(axis) = sizes.iter().position(|size| !is_power_of_two(*size)) {
        let size = sizes[axis];
        return format!(
            "desc.sizes[{axis}] is {size}; F16 takes powers of two only: pad, or transform in F32"
        );
    }
    format!("cuFFT does not take desc.sizes {sizes:?} with desc.batch {}", shape.batch)
}

fn is_power_of_two(size: i64) -> bool {
    u64::try_from(size).is_ok_and(u64::is_power_of_two)
}
