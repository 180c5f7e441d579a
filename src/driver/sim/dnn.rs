//! Being built.
#![forbid(unsafe_code)]

use super::Simulator;
use crate::driver::DnnHandle;
use crate::error::{Error, Result};
use crate::types::DeviceIndex;

/// As which version the simulator behaves.
pub(super) const VERSION: i64 = 90_000;

impl Simulator {
    /// A new handle.
    pub(super) fn dnn_handle(&self, _device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        Err(Error::not_supported("being built"))
    }
}
