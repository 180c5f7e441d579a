//! Being built.

use super::CudaDriver;
use crate::driver::DnnHandle;
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

impl CudaDriver {
    pub(super) fn dnn_create(&self, _device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        Err(Error::not_supported("being built"))
    }
    pub(super) fn dnn_version(&self) -> Result<i64> {
        Err(Error::not_supported("being built"))
    }
}
