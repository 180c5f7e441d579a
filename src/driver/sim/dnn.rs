//! Being built.
#![forbid(unsafe_code)]

use super::Simulator;
use super::calls::Call;
use crate::driver::{DnnHandle, dnn_failure};
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

/// As which version the simulator behaves.
pub(super) const VERSION: i64 = 90_000;

impl Simulator {
    /// A new handle.
    pub(super) fn make_dnn_handle(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        self.inner.enter_library_on(Call::DnnCreate, device, "cuDNN", dnn_failure)?;
        Err(Error::not_supported("being built"))
    }
}
