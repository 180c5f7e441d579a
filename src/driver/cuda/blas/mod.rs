//! Being built.

use super::CudaDriver;
use crate::driver::BlasHandle;
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

impl CudaDriver {
    pub(super) fn blas_create(&self, _device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        Err(Error::not_supported("being built"))
    }
}
