//! The device memory that a plan costs.
//!
//! cuFFT does not report what a plan takes for itself, so it is measured as the fall of the device's free
//! memory while the plan is made. What this library's allocator got from the driver meanwhile is left out,
//! and of plans that are made at once every byte counts for one. What other libraries took meanwhile is
//! included.

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::Runtime;
use sconce_runtime::memory;

/// The bytes of a device that a plan costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlanCost {
    /// What the library took for itself.
    pub(super) plan: u64,
    /// What an execution takes.
    pub(super) workspace: u64,
}

static DEVICES: PerDevice<Mutex<rank::FftCost, PlansInProgress>> =
    per_device!(Mutex::new(PlansInProgress::NONE));

/// The plans of a device that are being made.
struct PlansInProgress {
    count: usize,
    /// The device's free memory with the allocator's reserve at the last sample; `None` if the driver did
    /// not report it.
    free_bytes: Option<u64>,
}

impl PlansInProgress {
    const NONE: PlansInProgress = PlansInProgress { count: 0, free_bytes: None };

    fn begin(&mut self, sample: impl FnOnce() -> Option<u64>) {
        // While others are being made, what was taken so far is attributed to the one that ends first.
        if self.count == 0 || self.free_bytes.is_none() {
            self.free_bytes = sample();
        }
        self.count += 1;
    }

    /// The bytes taken since the last sample, which no plan was charged for yet.
    fn charge(&mut self, now: Option<u64>) -> u64 {
        let before = std::mem::replace(&mut self.free_bytes, now);
        before.zip(now).map_or(0, |(before, now)| before.saturating_sub(now))
    }
}

/// The measurement of a plan that is being made.
pub(super) struct CostMeasurement<'a> {
    runtime: &'a Runtime,
    device: DeviceIndex,
}

impl<'a> CostMeasurement<'a> {
    pub(super) fn begin(runtime: &'a Runtime, device: DeviceIndex) -> Self {
        DEVICES[device].lock().begin(|| free_bytes(runtime, device));
        CostMeasurement { runtime, device }
    }

    /// The bytes that the plan took.
    pub(super) fn end(self) -> u64 {
        let mut plans = DEVICES[self.device].lock();
        // Sampled under the lock, so that samples follow each other in the order of their values.
        plans.charge(free_bytes(self.runtime, self.device))
    }
}

impl Drop for CostMeasurement<'_> {
    fn drop(&mut self) {
        DEVICES[self.device].lock().count -= 1;
    }
}

/// The device's free memory with the allocator's reserve; `None` if the driver does not report it.
fn free_bytes(runtime: &Runtime, device: DeviceIndex) -> Option<u64> {
    let sample = || runtime.driver().memory_info(device);
    let (reserved, info) = memory::reserved_as_seen(device, sample);
    info.ok().map(|info| reserved + info.free_bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_charged_once() {
        let mut plans = PlansInProgress::NONE;
        plans.begin(|| Some(100));
        assert_eq!(plans.charge(Some(70)), 30);
        plans.count -= 1;
        // Sampled anew: it is not known what happened in between.
        plans.begin(|| Some(60));
        plans.begin(|| panic!("the first one has sampled"));
        assert_eq!(plans.charge(Some(35)), 25);
        plans.count -= 1;
        assert_eq!(plans.charge(Some(30)), 5);
        plans.count -= 1;
        assert_eq!(plans.count, 0);
    }

    #[test]
    fn nothing_is_charged_where_memory_came_back_or_the_driver_reports_nothing() {
        let mut plans = PlansInProgress::NONE;
        plans.begin(|| Some(100));
        assert_eq!(plans.charge(Some(120)), 0);
        assert_eq!(plans.charge(None), 0);
        assert_eq!(plans.charge(Some(50)), 0);
        assert_eq!(plans.charge(Some(40)), 10);
        let mut plans = PlansInProgress::NONE;
        plans.begin(|| None);
        plans.begin(|| Some(100));
        assert_eq!(plans.charge(Some(90)), 10);
    }
}
