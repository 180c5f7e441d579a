//! Being built.
#![forbid(unsafe_code)]

use super::Simulator;
use super::calls::Call;
use crate::driver::{BlasHandle, blas_failure};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

impl Simulator {
    /// A new handle.
    pub(super) fn make_blas_handle(&self, device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        self.inner.enter_library_on(Call::BlasCreate, device, "cuBLAS", blas_failure)?;
        Err(Error::not_supported("being built"))
    }
}
