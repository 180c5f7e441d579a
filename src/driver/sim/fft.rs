//! Being built.
#![forbid(unsafe_code)]

use super::Simulator;
use crate::driver::{FftPlan, FftShape};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

/// How many plans there may be.
pub(super) const MOST_PLANS: usize = 4096;

impl Simulator {
    /// A new plan.
    pub(super) fn make_fft_plan(
        &self,
        _device: DeviceIndex,
        _shape: &FftShape,
    ) -> Result<Box<dyn FftPlan>> {
        Err(Error::not_supported("being built"))
    }
}
