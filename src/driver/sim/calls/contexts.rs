//! Contexts. The simulator only knows whether a device's primary context exists.
#![forbid(unsafe_code)]

use crate::driver::Contexts;
use crate::driver::sim::call::Call;
use crate::driver::sim::state::Simulator;
use crate::error::Result;
use crate::types::DeviceIndex;

impl Contexts for Simulator {
    fn context_is_active(&self, device: DeviceIndex) -> Result<bool> {
        self.inner.enter_device(Call::ContextIsActive, device)?;
        Ok(self.inner.has_context(device))
    }

    fn bind_device(&self, device: DeviceIndex) -> Result<()> {
        self.inner.enter_context(Call::BindDevice, device) // Every call names its device.
    }

    fn unbind_device(&self) -> Result<()> {
        self.inner.enter(Call::UnbindDevice)
    }
}
