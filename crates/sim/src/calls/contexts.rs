//! Contexts: whether a device's primary context exists, and whose is current on a thread. No other call of the
//! simulator depends on the current one, because every call names its device.
#![forbid(unsafe_code)]

use std::cell::Cell;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::Contexts;

use crate::call::Call;
use crate::state::Simulator;

thread_local! {
    /// The device whose context is current on the calling thread, on every simulator of the process.
    static CURRENT: Cell<Option<DeviceIndex>> = const { Cell::new(None) };
}

/// The number of the context that is current on the calling thread; 0 if none is.
pub fn context_of_thread() -> usize {
    CURRENT.get().map_or(0, |device| device.as_usize() + 1)
}

/// The device whose context is current on the calling thread.
pub(crate) fn device_of_thread() -> Option<DeviceIndex> {
    CURRENT.get()
}

/// Makes a device's context current on the calling thread, or none.
pub(crate) fn set_device_of_thread(device: Option<DeviceIndex>) {
    CURRENT.set(device);
}

impl Contexts for Simulator {
    fn context_is_active(&self, device: DeviceIndex) -> Result<bool> {
        self.inner.enter_device(Call::ContextIsActive, device)?;
        Ok(self.inner.has_context(device))
    }

    fn bind_device(&self, device: DeviceIndex) -> Result<()> {
        self.inner.enter_context(Call::BindDevice, device)?;
        CURRENT.set(Some(device));
        Ok(())
    }

    fn unbind_device(&self) -> Result<()> {
        self.inner.enter(Call::UnbindDevice)?;
        CURRENT.set(None);
        Ok(())
    }

    fn current_context(&self) -> Result<usize> {
        self.inner.enter(Call::CurrentContext)?;
        Ok(context_of_thread())
    }

    fn current_device(&self) -> Result<Option<DeviceIndex>> {
        self.inner.enter(Call::CurrentDevice)?;
        Ok(self.external_current_device())
    }
}
