//! Being built.
#![forbid(unsafe_code)]

use super::Simulator;
use super::calls::Call;
use crate::driver::{FftPlan, FftShape, fft_failure};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

/// How many plans there may be.
pub(super) const MOST_PLANS: usize = 4096;

impl Simulator {
    /// A new plan.
    pub(super) fn make_fft_plan(
        &self,
        device: DeviceIndex,
        _shape: &FftShape,
    ) -> Result<Box<dyn FftPlan>> {
        self.inner.enter_library_on(Call::FftPlan, device, "cuFFT", fft_failure)?;
        Err(Error::not_supported("being built"))
    }
}
