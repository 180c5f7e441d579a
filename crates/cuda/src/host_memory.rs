//! Page-locked host memory.
//!
//! The driver's header says that freeing *may* wait for work in flight; the contract says that it
//! does. The waiting is done here, before the call, for every device in use, since page-locked
//! memory is visible to all of them.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys::{CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE};
use sconce_base::error::{Error, Result};
use sconce_base::lock::{about_to_wait, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Contexts, HostMemory, RawAddress};

use super::CudaDriver;
use super::primary::Entered;
use super::result::released;

impl HostMemory for CudaDriver {
    fn host_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<usize> {
        // For device memory the driver's header names this an error; here it says nothing.
        refuse_nothing(bytes)?;
        let mut address = null_mut();
        let alloc = self.api.cuMemHostAlloc()?;
        let _entered = self.enter(device)?;
        // SAFETY: `address` outlives the call.
        let code = unsafe { alloc(&mut address, bytes, CU_MEMHOSTALLOC_PORTABLE) };
        self.api.check("cuMemHostAlloc", code)?;
        Ok(address as usize)
    }

    fn host_free(&self, address: usize) -> Result<()> {
        about_to_wait::<rank::Device>();
        released(|| {
            let free = self.api.cuMemFreeHost()?;
            self.synchronize_held()?;
            let _entered = self.enter_owner(address)?;
            // SAFETY: an address; the driver refuses what it did not allocate.
            let code = self.without_context(None, || unsafe { free(address as *mut c_void) });
            self.api.check("cuMemFreeHost", code)
        })
    }

    fn host_register(&self, device: DeviceIndex, address: RawAddress, bytes: usize) -> Result<()> {
        refuse_nothing(bytes)?;
        let start = address.host(bytes)?.get() as *mut c_void;
        let register = self.api.cuMemHostRegister()?;
        let _entered = self.enter(device)?;
        // SAFETY: a `HostRange` is made only of memory that is valid until the work that it was passed for has
        // finished.
        let code = unsafe { register(start, bytes, CU_MEMHOSTREGISTER_PORTABLE) };
        self.api.check("cuMemHostRegister_v2", code)
    }

    fn host_unregister(&self, address: usize) -> Result<()> {
        about_to_wait::<rank::Device>();
        released(|| {
            let unregister = self.api.cuMemHostUnregister()?;
            self.synchronize_held()?;
            let _entered = self.enter_owner(address)?;
            // SAFETY: an address; the driver refuses what is not registered.
            let code = self.without_context(None, || unsafe { unregister(address as *mut c_void) });
            self.api.check("cuMemHostUnregister", code)
        })
    }
}

impl CudaDriver {
    /// Makes the context current in which host memory was page-locked, if the driver reports it.
    fn enter_owner(&self, address: usize) -> Result<Option<Entered>> {
        let attributes = self.pointer_attributes(address).ok().flatten();
        attributes
            .and_then(|found| DeviceIndex::new(found.device as i32))
            .filter(|device| self.context_is_active(*device).unwrap_or(false))
            .map(|device| self.enter(device))
            .transpose()
    }
}

fn refuse_nothing(bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Err(Error::invalid_argument("bytes: nothing to page-lock; ask for at least one"));
    }
    Ok(())
}
