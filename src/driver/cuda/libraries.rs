//! Being built.

use super::CudaDriver;
use crate::driver::{BlasHandle, DnnHandle, FftPlan, FftShape};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

impl CudaDriver {
    pub(super) fn blas_create(&self, _device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        Err(Error::not_supported("being built"))
    }
    pub(super) fn dnn_create(&self, _device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        Err(Error::not_supported("being built"))
    }
    pub(super) fn dnn_version(&self) -> Result<i64> {
        Err(Error::not_supported("being built"))
    }
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
