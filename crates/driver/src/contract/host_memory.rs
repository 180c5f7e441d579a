//! Page-locked ("pinned") host memory.
//!
//! | method | precondition | postcondition | blocks? |
//! |---|---|---|---|
//! | `host_alloc`, `host_register` | size above 0; a caller vouches for the memory to register | the memory is pinned for every device | no |
//! | `host_free`, `host_unregister` | address from `host_alloc`, from `host_register` | all work that used the memory has finished; it is pinned no more. A call that fails leaves the memory as it was | until work using it is done |
//!
//! By default every method is `NotSupported`.

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;

use super::{RawAddress, lacks};

/// The page-locked host memory of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait HostMemory: Send + Sync {
    /// Allocates page-locked host memory that every device can use. The call is made in the context
    /// of `device`.
    fn host_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<usize> {
        lacks("host_alloc", "page-locked host memory")
    }
    /// Frees memory that `host_alloc` returned.
    fn host_free(&self, address: usize) -> Result<()> {
        lacks("host_free", "page-locked host memory")
    }
    /// Page-locks existing host memory. The call is made in the context of `device`.
    fn host_register(&self, device: DeviceIndex, address: RawAddress, bytes: usize) -> Result<()> {
        lacks("host_register", "page-locked host memory")
    }
    /// Undoes `host_register`.
    fn host_unregister(&self, address: usize) -> Result<()> {
        lacks("host_unregister", "page-locked host memory")
    }
}
