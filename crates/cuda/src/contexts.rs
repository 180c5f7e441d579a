//! Which context is current on a thread, and which devices have one.

use std::ptr::null_mut;

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::Contexts;

use super::CudaDriver;

/// How deep a thread's stack of contexts may be when all of it is to go.
const DEEPEST_STACK: usize = 1024;

impl Contexts for CudaDriver {
    fn context_is_active(&self, device: DeviceIndex) -> Result<bool> {
        let device = self.device(device)?;
        if device.primary.get().is_some() {
            return Ok(true);
        }
        let (mut flags, mut active) = (0, 0);
        let get_state = self.api.cuDevicePrimaryCtxGetState()?;
        // SAFETY: a device that the driver counted; both places outlive the call.
        let code = unsafe { get_state(device.raw, &mut flags, &mut active) };
        self.api.check("cuDevicePrimaryCtxGetState", code)?;
        Ok(active != 0)
    }

    fn bind_device(&self, device: DeviceIndex) -> Result<()> {
        let wanted = self.primary(device)?;
        if self.current()? == wanted {
            return Ok(());
        }
        self.set_current(wanted)
    }

    fn unbind_device(&self) -> Result<()> {
        // Setting none pops one entry of the thread's stack; what another library pushed lies below.
        for _ in 0..DEEPEST_STACK {
            if self.current()?.is_null() {
                return Ok(());
            }
            self.set_current(null_mut())?;
        }
        Err(Error::invalid_state(
            "a context stays current on this thread, however often it is popped",
        ))
    }

    #[inline]
    fn current_context(&self) -> Result<usize> {
        Ok(self.current()?.addr())
    }

    fn current_device(&self) -> Result<Option<DeviceIndex>> {
        if self.current()?.is_null() {
            return Ok(None);
        }
        let mut raw = 0;
        let get_device = self.api.cuCtxGetDevice()?;
        // SAFETY: a context is current; `raw` outlives the call.
        let code = unsafe { get_device(&mut raw) };
        self.api.check("cuCtxGetDevice", code)?;
        let index = self.devices.iter().position(|device| device.raw == raw);
        Ok(index.and_then(|index| DeviceIndex::new(index as i32)))
    }
}
