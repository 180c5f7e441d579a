//! Making a plan, also when memory is short.

use std::mem;

use sconce_base::element::Dtype;
use sconce_base::error::{Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{FftShape, RelaxedCapture};
use sconce_runtime::context::Runtime;
use sconce_runtime::memory;

use super::device_caches;
use super::plan::{self, DevicePlan};
use super::plan_cost::{CostMeasurement, PlanCost};

/// Makes a plan. Returns it with its workspace and its cost. If the library finds no memory, the
/// allocator's cache is emptied first, and then other plans are evicted, the least recently used first.
pub(super) fn make_plan(
    runtime: &'static Runtime,
    device: DeviceIndex,
    shape: &FftShape,
) -> Result<(DevicePlan, usize, PlanCost)> {
    plan::destroy_deferred(runtime, device);
    let driver = runtime.driver();
    // The library allocates memory, which would fail and invalidate a capture of this thread's mode.
    let _relaxed = RelaxedCapture::enter(driver)?;
    let mut emptied = false;
    loop {
        let measurement = CostMeasurement::begin(runtime, device);
        let error = match driver.fft_plan(device, shape) {
            Ok(library) => {
                let workspace = library.workspace_bytes();
                let cost = PlanCost { plan: measurement.end(), workspace: workspace as u64 };
                return Ok((DevicePlan::new(library, runtime, device, cost), workspace, cost));
            }
            Err(error) => error,
        };
        drop(measurement);
        if error.status() == Status::NotSupported {
            return Err(error.context(unsupported(shape)));
        }
        if error.status() != Status::OutOfMemory {
            return Err(error);
        }
        if !mem::replace(&mut emptied, true) && memory::empty_cache_of(runtime, device).is_ok() {
            continue;
        }
        if device_caches::give_back(device, 1) == 0 {
            return Err(error);
        }
    }
}

/// Why the library does not support a shape.
#[cold]
fn unsupported(shape: &FftShape) -> String {
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
