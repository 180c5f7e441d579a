//! Being built.
#![forbid(unsafe_code)]

use super::Simulator;
use crate::driver::BlasHandle;
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

impl Simulator {
    /// A new handle.
    pub(super) fn blas_handle(&self, _device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        Err(Error::not_supported("being built"))
    }
}
