//! Being built.

use super::CudaDriver;
use crate::driver::{FftPlan, FftShape};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

impl CudaDriver {
    pub(super) fn fft_plan(
        &self,
        _device: DeviceIndex,
        _shape: &FftShape,
    ) -> Result<Box<dyn FftPlan>> {
        Err(Error::not_supported("being built"))
    }
    pub(super) fn fft_most_plans(&self) -> usize {
        4096
    }
}
